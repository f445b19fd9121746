// Package decision turns what is observed into what is to be: the rules of a pool, brought together. It is pure: equal
// observations give equal decisions.
package decision

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/capacity"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/tagging"
)

// A Decision is what is to be of a pool.
type Decision struct {
	// Refused holds why the pool can never work as it is written, sorted. When it is not empty nothing is composed and
	// nothing that exists is touched.
	Refused field.ErrorList

	// Common to all resources that are rendered anew. Nil while the cluster's exports are missing, when none is.
	Common    *Common
	Templates []Template
	Group     *Group
	Object    *Object
	Policy    *Policy
	Hooks     []Hook

	// Status of the composite.
	Status v1alpha1.MachinePoolStatus
	// Conditions of the composite, in the order of their types in package condition.
	Conditions []condition.Condition
	// Events for what changed since the last run. A run that changes nothing has none.
	Events []Event
	// Ready says that the pool as a whole works.
	Ready bool
	// Changing says that the next run should come soon.
	Changing bool
}

// Common is what a pool's resources share.
type Common struct {
	Region          string
	InstanceProfile string
	// SecurityGroupIDs of the workers, then the pool's additional ones, without repeats.
	SecurityGroupIDs []string
	// Tags of every resource.
	Tags map[string]string
	// ObjectTags are the few that S3 takes.
	ObjectTags map[string]string
	// LeftOutTags are the keys of those for which the object has no room, sorted.
	LeftOutTags []string
}

// A Held resource is sent again exactly as it was observed, because what it would be made of is missing or because
// something still needs it as it is. Nil for a resource that is rendered anew.
type Held = *pool.Resource

// A Template is a launch template to be.
type Template struct {
	// Resource is its composed resource name.
	Resource string
	Held     Held
	// ExternalName is its AWS id; empty until AWS assigns one.
	ExternalName string
	// Name in AWS.
	Name string
	// ImageID its instances boot.
	ImageID string
	// RootDevice is the name of the device that the root volume is put on.
	RootDevice string
	// UserData as plain text.
	UserData string
	// Healthy says that the managed resource is Ready and Synced.
	Healthy bool
}

// A Group is the Auto Scaling group to be.
type Group struct {
	Held Held
	// Name in AWS.
	Name string
	// TemplateID is the AWS id of the launch template that it uses.
	TemplateID string
	Capacity   capacity.Capacity
	// Subnets to launch in, sorted.
	Subnets []string
	// InheritedZones to record on the managed resource.
	InheritedZones []string
	Healthy        bool
}

// An Object is the staged bootstrap data to be.
type Object struct {
	// Held as observed, but for the payload where there is one.
	Held        Held
	Bucket, Key string
	// Payload is a secret.
	Payload []byte
	Healthy bool
}

// A Policy is the scaling policy to be.
type Policy struct {
	Held      Held
	GroupName string
	// TargetCPUPercent to hold the group's average at.
	TargetCPUPercent int32
	Healthy          bool
}

// A Hook is a lifecycle hook to be.
type Hook struct {
	// Resource is its composed resource name.
	Resource  string
	Held      Held
	GroupName string
	Spec      v1alpha1.LifecycleHook
	Healthy   bool
}

// An Event tells of a change.
type Event struct {
	// Warning says that a person should look.
	Warning bool
	// Reason in PascalCase.
	Reason  string
	Message string
}

// Of decides what is to be of an observed pool.
func Of(o *pool.Observation) Decision {
	in := inputsOf(o)
	refused := in.refusals(o)
	switch {
	case len(refused) > 0 && !isFetching(o):
		return refuse(o, in, refused)
	case len(refused) > 0:
		// What is still fetched may add to what is refused, and all is to be said at once. Until then nothing changes.
		in = in.withheld()
	case o.Managed.Group != nil:
		in = in.fitting(o)
	}
	p := plan(o, in)
	d := Decision{
		Common:    commonOf(o, in),
		Templates: p.templates(o, in),
		Group:     p.group(o, in),
		Object:    p.object(o, in),
	}
	d.Policy = p.policy(o, in)
	d.Hooks = p.hooks(o, in)
	return report(o, in, p, d)
}

func commonOf(o *pool.Observation, in inputs) *Common {
	e := in.exports.value
	if e == nil {
		return nil
	}
	objectTags, leftOut := tagging.OnObject(o.Input.Tags, o.Composite.Spec.AdditionalTags, in.ownTags(o))
	return &Common{
		Region:           e.Region,
		InstanceProfile:  e.InstanceProfiles.Worker,
		SecurityGroupIDs: in.securityGroups(o),
		Tags:             in.tags(o),
		ObjectTags:       objectTags,
		LeftOutTags:      leftOut,
	}
}
