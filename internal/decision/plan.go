package decision

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
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

	// claim to the group's name in AWS.
	claim   claim
	image   image.Resolution
	members membership.Members
	// waits is what the launch template cannot be made without; empty where it is there.
	waits string
}

func plan(o *pool.Observation, in inputs) planned {
	p := planned{claim: claimOf(o, in.exports.value), members: membership.Of(o.AWS, lastMembers(o.Composite.Status))}
	p.Plan = rollout.Of(rollout.Inputs{
		RollKey:   rollout.Key(&o.Composite.Spec),
		Templates: templatesOf(o),
		Group:     groupOf(o),
		GroupHeld: o.Managed.Group != nil && !p.hasGroupInputs(in),
		GroupLost: o.Managed.Group == nil && o.Composite.Status.AutoscalingGroupName != "",
		Wanted:    o.Input.AWS.Identity != v1beta1.IdentityNone,
		Reading:   readingOf(o, p.members),
		Memory:    memoryOf(o.Composite.Status),
	})
	p.waits = missingInput(o, in)
	p.image = resolveImage(o, lastImage(o, p.Current))
	return p
}

// missingInput is the first input that a launch template is made of and that is missing. Its own condition says why.
func missingInput(o *pool.Observation, in inputs) string {
	switch {
	case len(o.InputErrors) > 0:
		return inputUnusable
	case in.exports.value == nil:
		return "the cluster's exports: " + in.exports.condition.Message
	case in.bootstrap.userData == "":
		return "the bootstrap data, which says in which format it is: " + in.bootstrap.condition.Message
	}
	return ""
}

func resolveImage(o *pool.Observation, last image.Last) image.Resolution {
	r := image.Resolve(&o.Composite.Spec, o.AWS.Image, last)
	switch {
	case r.Reason != v1alpha1.ReasonImageNotRead || o.Input.AWS.Identity == v1beta1.IdentityNone:
		return r
	case len(o.InputErrors) > 0:
		return image.WaitsForInput(last)
	}
	return image.WaitsForExports(last)
}

// hasGroupInputs reports whether all is known that a group is made of, but for its template.
func (p planned) hasGroupInputs(in inputs) bool {
	return in.exports.value != nil && len(in.zones.Subnets) > 0 && !p.claim.isHeld()
}

// lastImage is the one that the roll key's latest template was made with. Another key's template boots another version. Only
// templates that exist are looked at: the number of an attempt may be one that someone wrote into the status.
func lastImage(o *pool.Observation, current naming.Attempt) image.Last {
	number, last := -1, image.Last{Told: o.Conditions[v1alpha1.ConditionImageResolved]}
	for resource, t := range o.Managed.Templates {
		a, ok := naming.AttemptOfTemplate(resource)
		if ok && t.ImageID != "" && a.RollKey == current.RollKey && a.Number <= current.Number && a.Number > number {
			number, last.ID, last.RootDevice = a.Number, t.ImageID, t.RootDevice
		}
	}
	return last
}

// observedGroupName is that of the group that the provider sees in AWS, and until it sees one the name that was sent. A
// provider that creates a group whose annotations were lost gives it a name that was never sent. It takes up the one that
// is sent then only when it restarts. It would create another group, and leave this one behind.
func observedGroupName(o *pool.Observation) string {
	g := o.Managed.Group
	if g == nil {
		return ""
	}
	return cmp.Or(naming.GroupOfARN(g.ARN), g.Name)
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

var stuck = map[pool.CreationProblem]rollout.Reason{ //nolint:gochecknoglobals // A constant table.
	pool.CreationNameTaken:    rollout.ReasonTemplateNameTaken,
	pool.CreationUndetermined: rollout.ReasonTemplateUndetermined,
}

func templatesOf(o *pool.Observation) []rollout.Template {
	ts := make([]rollout.Template, 0, len(o.Managed.Templates))
	for name, t := range o.Managed.Templates {
		ts = append(ts, rollout.Template{
			Resource: name, ID: t.ID, Unpersisted: t.ID != "" && t.ID != t.ExternalName, Created: t.Created,
			Terminating: t.Terminating, Stuck: stuck[t.Creation], Failing: t.Creation == pool.CreationFailing,
		})
	}
	return ts
}

func groupOf(o *pool.Observation) *rollout.Group {
	g := o.Managed.Group
	if g == nil {
		return nil
	}
	return &rollout.Group{Sent: g.SentTemplateID, Observed: g.TemplateID, Generation: g.Generation, Busy: g.Busy}
}

// readingTime is RFC 3339 with all nine digits of the nanoseconds, since two readings can be close.
const readingTime = "2006-01-02T15:04:05.000000000Z07:00"

// textOf a time as the status keeps it. Empty for the zero time.
func textOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(readingTime)
}

// timeOf a text of the status. One that is no time says nothing.
func timeOf(text string) time.Time {
	t, err := time.Parse(readingTime, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// lastMembers are what the last run left in the status.
func lastMembers(s v1alpha1.MachinePoolStatus) membership.Last {
	last := membership.Last{ProviderIDs: s.ProviderIDList, Doubted: timeOf(s.DoubtedReading)}
	if s.Health != nil {
		last.Message = s.Health.Message
	}
	return last
}

// readingOf returns nil unless all is known that a roll needs: the group's own list of members, and the refresh if it was asked
// for. What EC2 says of those members is not needed, but that some are gone.
func readingOf(o *pool.Observation, m membership.Members) *rollout.Reading {
	group, refresh := o.AWS.Group, o.AWS.Refresh
	if !group.Known() || group.Value == nil || refresh.Failed() || m.Empty {
		return nil
	}
	r := &rollout.Reading{Oldest: group.At, Newest: group.At, TemplateID: group.Value.LaunchTemplateID, RefreshRead: refresh.Known()}
	if refresh.Known() {
		if refresh.At.Before(group.At) {
			r.Oldest = refresh.At
		} else {
			r.Newest = refresh.At
		}
	}
	r.Members = slices.Grow(r.Members, len(group.Value.Members))
	ended := membership.Ended(o.AWS.Instances.Value)
	for _, member := range group.Value.Members {
		if ended[member.InstanceID] {
			continue
		}
		r.Members = append(r.Members, rollout.Member{
			ID:         member.InstanceID,
			TemplateID: member.LaunchTemplateID,
			Unseen:     m.Gone[member.InstanceID],
			Leaving:    membership.IsLeaving(member),
			Skipped:    member.ProtectedFromScaleIn || membership.IsStandby(member),
		})
	}
	if refresh.Known() && refresh.Value != nil {
		r.Refresh = &rollout.Refresh{ID: refresh.Value.ID, Status: refresh.Value.Status, Started: refresh.Value.StartTime}
	}
	return r
}

// memoryOf is what the last run left in the status.
func memoryOf(s v1alpha1.MachinePoolStatus) rollout.Memory {
	m := rollout.Memory{SentID: s.LaunchTemplateID}
	if r := s.Rollout; r != nil {
		m.RollKey, m.Phase = r.RollKey, rollout.Phase(r.Phase)
		m.LostReading, m.Retired = timeOf(r.LostReading), rollout.Remembered(r.RetiredAttempts)
		m.EarlierRefresh, m.NewestRefresh = r.EarlierRefresh, r.NewestRefresh
		m.Generation = r.GroupGeneration
	}
	return m
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
	name := naming.ResourceTemplate(p.Current)
	observed, exists := o.Managed.Templates[name]
	if p.Reason == rollout.ReasonTooManyTemplates {
		return Template{}, false
	}
	if in.exports.value == nil || in.bootstrap.userData == "" || p.image.ID == "" || p.claim.isHeld() {
		return heldTemplate(name, observed), exists
	}
	return Template{
		Resource:     name,
		ExternalName: cmp.Or(observed.ID, observed.ExternalName),
		Name:         cmp.Or(observed.Name, naming.Template(p.claim.name, p.Current)),
		ImageID:      p.image.ID,
		RootDevice:   p.image.RootDevice,
		UserData:     in.bootstrap.userData,
		Healthy:      observed.Healthy(),
	}, true
}

// group is first composed when it has a template and bootstrap data to launch from. From then on it never leaves.
func (p planned) group(o *pool.Observation, in inputs) *Group {
	observed := o.Managed.Group
	composable := p.hasGroupInputs(in) && p.GroupID != ""
	staged := o.Managed.Object != nil && o.Managed.Object.Ready
	if observed == nil && (!composable || !staged) {
		return nil
	}
	g := &Group{
		Name:           p.claim.usable(),
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

// object stages the payload. One that rotates while the cluster's exports are missing still reaches the object that
// exists: nodes join with what it holds.
func (p planned) object(o *pool.Observation, in inputs) *Object {
	observed := o.Managed.Object
	obj := &Object{Bucket: in.bootstrap.bucket, Key: in.bootstrap.key, Payload: in.bootstrap.payload}
	if observed != nil {
		obj.Healthy = observed.Healthy()
	}
	composable := obj.Bucket != "" && len(obj.Payload) > 0
	switch {
	case observed == nil && (!composable || p.claim.isHeld()):
		return nil
	case composable:
		return obj
	}
	obj.Held = &observed.Resource
	return obj
}

// policy waits for the group to exist in AWS, as every attempt before that fails.
func (p planned) policy(o *pool.Observation, in inputs) *Policy {
	observed := o.Managed.Policy
	if in.exports.value == nil || p.claim.isHeld() {
		if observed == nil {
			return nil
		}
		return &Policy{Held: observed, Healthy: observed.Healthy()}
	}
	a := o.Composite.Spec.Autoscaling
	if !isNative(a) || observed == nil && !o.Managed.Group.InAWS() {
		return nil
	}
	return &Policy{GroupName: p.claim.name, TargetCPUPercent: a.TargetCPUPercent, Healthy: observed != nil && observed.Healthy()}
}

// hooks wait for the group like the policy.
func (p planned) hooks(o *pool.Observation, in inputs) []Hook {
	var hooks []Hook
	if in.exports.value == nil || p.claim.isHeld() {
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
			hooks = append(hooks, Hook{Resource: name, GroupName: p.claim.name, Spec: h, Healthy: observed.Healthy()})
		}
	}
	slices.SortFunc(hooks, func(a, b Hook) int { return cmp.Compare(a.Resource, b.Resource) })
	return hooks
}
