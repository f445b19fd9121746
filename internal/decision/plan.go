package decision

import (
	"cmp"
	"maps"
	"slices"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/capacity"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/image"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/membership"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/rollout"
)

// A planned pool: what its roll, its image and its members say together.
type planned struct {
	rollout.Plan

	rollKey string
	// groupName in AWS; empty while neither a group nor the exports that name one are known.
	groupName string
	image     image.Resolution
	members   membership.Members
}

func plan(o *pool.Observation, in inputs) planned {
	p := planned{rollKey: rollout.Key(&o.Composite.Spec), groupName: groupName(o, in)}
	current := naming.ResourceTemplate(p.rollKey)
	p.image = image.Resolve(&o.Composite.Spec, region(o, in), o.AWS.Image, o.Managed.Templates[current].ImageID)
	p.members = membership.Of(o.AWS, o.Composite.Status.ProviderIDList)
	p.Plan = rollout.Of(rollout.Inputs{
		Current:       current,
		Templates:     templatesOf(o),
		Group:         groupOf(o),
		Members:       membersOf(o, p.members),
		MembersWanted: o.AWS.Group.Asked,
	})
	return p
}

// groupName is the observed one, as a rename is a lost group, else the one that the cluster's exports give.
func groupName(o *pool.Observation, in inputs) string {
	if g := o.Managed.Group; g != nil && g.Name != "" {
		return g.Name
	}
	if in.exports.value == nil {
		return ""
	}
	return naming.Group(naming.Pool{
		ClusterID: in.exports.value.KubernetesClusterID,
		Namespace: o.Composite.GetNamespace(),
		Name:      o.Composite.GetName(),
	})
}

func region(o *pool.Observation, in inputs) string {
	if in.exports.value != nil {
		return in.exports.value.Region
	}
	if o.Managed.Group != nil {
		return o.Managed.Group.Region
	}
	return ""
}

func templatesOf(o *pool.Observation) []rollout.Template {
	ts := make([]rollout.Template, 0, len(o.Managed.Templates))
	for name, t := range o.Managed.Templates {
		ts = append(ts, rollout.Template{Resource: name, ID: t.ID})
	}
	return ts
}

func groupOf(o *pool.Observation) *rollout.Group {
	g := o.Managed.Group
	if g == nil {
		return nil
	}
	return &rollout.Group{Sent: g.SentTemplateID, Observed: g.TemplateID}
}

// membersOf returns nil unless the reading is whole, so that nothing is concluded from half of one.
func membersOf(o *pool.Observation, m membership.Members) *rollout.Members {
	if !m.Known || o.AWS.Group.Value == nil || o.AWS.Refresh.Failed() {
		return nil
	}
	out := &rollout.Members{ByTemplate: map[string]int{}}
	for _, member := range o.AWS.Group.Value.Members {
		// An instance that someone attached by hand came from no template, and none has to stay for it.
		if member.LaunchTemplateID != "" {
			out.ByTemplate[member.LaunchTemplateID]++
		}
	}
	if o.AWS.Refresh.Known() && o.AWS.Refresh.Value != nil {
		out.Refreshing = rollout.IsActive(o.AWS.Refresh.Value.Status)
	}
	return out
}

// templates that live: the roll key's own, and all that something may still need.
func (p planned) templates(o *pool.Observation, in inputs) []Template {
	var ts []Template
	for _, name := range p.Keep {
		ts = append(ts, heldTemplate(name, o.Managed.Templates[name]))
	}
	if t, ok := p.currentTemplate(o, in); ok {
		ts = append(ts, t)
	}
	slices.SortFunc(ts, func(a, b Template) int { return cmp.Compare(a.Resource, b.Resource) })
	return ts
}

func heldTemplate(name string, t pool.ObservedTemplate) Template {
	return Template{Resource: name, Held: &t.Resource, ExternalName: cmp.Or(t.ID, t.ExternalName), Name: t.Name, ImageID: t.ImageID, Healthy: t.Healthy()}
}

// currentTemplate is rendered when all that it is made of is known. Without an image of its own none is made: what
// another version boots would give nodes of the wrong version.
func (p planned) currentTemplate(o *pool.Observation, in inputs) (Template, bool) {
	name := naming.ResourceTemplate(p.rollKey)
	observed, exists := o.Managed.Templates[name]
	if in.exports.value == nil || in.bootstrap.userData == "" || p.image.ID == "" {
		return heldTemplate(name, observed), exists
	}
	return Template{
		Resource:     name,
		ExternalName: cmp.Or(observed.ID, observed.ExternalName),
		Name:         cmp.Or(observed.Name, naming.Template(p.groupName, p.rollKey)),
		ImageID:      p.image.ID,
		UserData:     in.bootstrap.userData,
		Healthy:      observed.Healthy(),
	}, true
}

// group is first composed when it has a template and bootstrap data to launch from. From then on it never leaves.
func (p planned) group(o *pool.Observation, in inputs) *Group {
	observed := o.Managed.Group
	composable := in.exports.value != nil && len(in.zones.Subnets) > 0 && p.GroupID != ""
	if observed == nil && !(composable && o.Managed.Object != nil && o.Managed.Object.Ready) {
		return nil
	}
	g := &Group{
		Name:           p.groupName,
		TemplateID:     p.GroupID,
		Capacity:       capacity.Of(&o.Composite.Spec),
		Subnets:        in.zones.Subnets,
		InheritedZones: in.zones.Inherited,
	}
	if observed == nil {
		return g
	}
	g.Healthy = observed.Healthy()
	if !composable {
		g.Held = &observed.Resource
	}
	return g
}

// objectOf stages the payload. One that rotates while the cluster's exports are missing still reaches the object that
// exists: nodes join with what it holds.
func objectOf(o *pool.Observation, in inputs) *Object {
	observed := o.Managed.Object
	obj := &Object{Bucket: in.bootstrap.bucket, Key: in.bootstrap.key, Payload: in.bootstrap.payload}
	if observed != nil {
		obj.Healthy = observed.Healthy()
	}
	if obj.Bucket != "" && len(obj.Payload) > 0 {
		return obj
	}
	if observed == nil {
		return nil
	}
	obj.Held = &observed.Resource
	return obj
}

// policyOf waits for the group to exist in AWS, as every attempt before that fails.
func policyOf(o *pool.Observation, in inputs, groupName string) *Policy {
	observed := o.Managed.Policy
	if in.exports.value == nil {
		if observed == nil {
			return nil
		}
		return &Policy{Held: observed, Healthy: observed.Healthy()}
	}
	a := o.Composite.Spec.Autoscaling
	if !isNative(a) || observed == nil && !o.Managed.Group.InAWS() {
		return nil
	}
	return &Policy{GroupName: groupName, TargetCPUPercent: a.TargetCPUPercent, Healthy: observed != nil && observed.Healthy()}
}

// hooksOf waits for the group like policyOf.
func hooksOf(o *pool.Observation, in inputs, groupName string) []Hook {
	var hooks []Hook
	if in.exports.value == nil {
		for _, name := range slices.Sorted(maps.Keys(o.Managed.Hooks)) {
			observed := o.Managed.Hooks[name]
			hooks = append(hooks, Hook{Resource: name, Held: &observed, Healthy: observed.Healthy()})
		}
		return hooks
	}
	for _, h := range o.Composite.Spec.LifecycleHooks {
		name := naming.ResourceHook(h.Name)
		observed, exists := o.Managed.Hooks[name]
		if exists || o.Managed.Group.InAWS() {
			hooks = append(hooks, Hook{Resource: name, GroupName: groupName, Spec: h, Healthy: observed.Healthy()})
		}
	}
	slices.SortFunc(hooks, func(a, b Hook) int { return cmp.Compare(a.Resource, b.Resource) })
	return hooks
}
