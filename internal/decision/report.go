package decision

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/health"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/image"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/membership"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/rollout"
)

// refuse composes nothing and keeps every condition that was known: Crossplane turns one that a fatal response leaves
// out into Unknown.
func refuse(o *pool.Observation, in inputs, refused field.ErrorList) Decision {
	known := map[condition.Type]condition.Condition{}
	maps.Copy(known, o.Conditions)
	for _, c := range []condition.Condition{in.exports.condition, in.bootstrap.condition} {
		known[c.Type] = c
	}
	return Decision{Refused: refused, Conditions: Refused(condition.Errors(refused), known), Changing: true}
}

// Refused returns the conditions of a pool that is refused: that its inputs are not valid, and all others as they were
// last reported, if they were.
func Refused(message string, last map[condition.Type]condition.Condition) []condition.Condition {
	conditions := []condition.Condition{condition.New(v1alpha1.ConditionInputsValid, condition.False, v1alpha1.ReasonRefused, message)}
	for _, t := range condition.Types()[1:] {
		if c, known := last[t]; known {
			conditions = append(conditions, condition.New(c.Type, c.Status, c.Reason, c.Message))
		}
	}
	return conditions
}

// report fills in the status, the conditions and the readiness of a decision whose resources are decided.
func report(o *pool.Observation, in inputs, p planned, d Decision) Decision {
	h := health.Of(health.Inputs{
		Asked:     o.Input.AWS.Identity != v1beta1.IdentityNone,
		Problem:   p.members.Problem,
		GroupName: p.claim.name,
		GroupGone: groupGone(o),
		// A group that someone deletes in AWS is the row above; this one is deleted by way of Kubernetes.
		GroupDeleting: o.Managed.Group != nil && o.Managed.Group.Terminating,
		Unread:        !p.members.Known && len(o.Composite.Status.ProviderIDList) > 0,
		Desired:       desired(o),
		Instances:     p.members.Instances,
	})
	infrastructure := infrastructureCondition(p, d)
	d.Ready = isReady(o, infrastructure, h)
	d.Status = status(o, in, p, d, h)
	d.Conditions = []condition.Condition{
		in.validCondition(o),
		zonesCondition(in),
		withLeftOutTags(in.bootstrap.condition, d),
		imageCondition(p),
		infrastructure,
		healthCondition(o, h),
		autoscalingCondition(o, d),
		upToDateCondition(o, p),
		rollingOutCondition(o, p),
		scalingUpCondition(o, p),
		scalingDownCondition(o, p),
	}
	d.Events = eventsOf(o, d.Conditions, p)
	d.Changing = isChanging(o, p, d, h)
	return d
}

// isChanging reports whether the next run may find something new: a roll, members that come and go, a read to try again, an
// input that is missing.
func isChanging(o *pool.Observation, p planned, d Decision, h v1alpha1.Health) bool {
	if !d.Ready || p.Phase != rollout.PhaseIdle {
		return true
	}
	if isRefusedByAWS(o) {
		return false
	}
	if p.members.Problem != nil {
		return true
	}
	if !h.Healthy && h.State != v1alpha1.HealthUnknown {
		return true
	}
	return slices.ContainsFunc(d.Conditions, func(c condition.Condition) bool {
		return slices.Contains(inputConditions, c.Type) && c.Status != condition.True
	})
}

// isRefusedByAWS reports whether AWS was asked for what the pool goes by and said no. To ask more often does not change its mind,
// and feeds what it throttles. A pinned image is taken without being looked at.
func isRefusedByAWS(o *pool.Observation) bool {
	errs := []*pool.ReadError{o.AWS.Group.Err, o.AWS.Instances.Err, o.AWS.Refresh.Err}
	if !image.IsPinned(&o.Composite.Spec) {
		errs = append(errs, o.AWS.Image.Err)
	}
	return slices.ContainsFunc(errs, func(err *pool.ReadError) bool {
		return err != nil && slices.Contains([]pool.ReadReason{pool.ReadThrottled, pool.ReadAccessDenied, pool.ReadCredentialsInvalid}, err.Reason)
	})
}

var inputConditions = []condition.Type{ //nolint:gochecknoglobals // A constant table.
	v1alpha1.ConditionInputsValid, v1alpha1.ConditionClusterExportsAvailable, v1alpha1.ConditionBootstrapConfigReady, v1alpha1.ConditionImageResolved,
}

// groupGone reports whether AWS has no group where the provider once saw one. A reading from before the provider saw it, as there is
// one in every pool's beginning, says nothing of that.
func groupGone(o *pool.Observation) bool {
	return o.Managed.Group.InAWS() && o.AWS.Group.Known() && o.AWS.Group.Value == nil &&
		!o.AWS.Group.At.Before(o.Managed.Group.AvailableSince)
}

// desired capacity as AWS has it, else as it was last known, else as the provider last saw it. Nil when none is known.
func desired(o *pool.Observation) *int32 {
	if o.AWS.Group.Known() && o.AWS.Group.Value != nil {
		return &o.AWS.Group.Value.DesiredCapacity
	}
	if o.AWS.Group.Failed() && o.Composite.Status.Replicas != nil {
		// The provider looks every ten minutes only, so what it saw is older than what the last run read.
		return o.Composite.Status.Replicas
	}
	if o.Managed.Group != nil {
		return o.Managed.Group.DesiredCapacity
	}
	return nil
}

// isReady reports whether the pool as a whole works. A template on its way in or out of use does not count: a roll leaves a
// pool ready. Where AWS is read, a pool must have had a member once, which is latched, and its group must not be gone.
func isReady(o *pool.Observation, infrastructure condition.Condition, h v1alpha1.Health) bool {
	if infrastructure.Status != condition.True {
		return false
	}
	if o.Input.AWS.Identity == v1beta1.IdentityNone {
		return true
	}
	return h.State != v1alpha1.HealthTerminated && (o.Composite.Status.Ready || isProvisioned(h))
}

// isProvisioned reports whether a pool's state is known, and past its beginning.
func isProvisioned(h v1alpha1.Health) bool {
	return h.State == v1alpha1.HealthRunning || h.State == v1alpha1.HealthStopped
}

// status starts from what the last run knew, so that whatever is not known now stays as it is.
func status(o *pool.Observation, in inputs, p planned, d Decision, h v1alpha1.Health) v1alpha1.MachinePoolStatus {
	s := o.Composite.Status
	if d.Group != nil {
		s.AutoscalingGroupName = d.Group.Name
		s.LaunchTemplateID = d.Group.TemplateID
	}
	if o.Managed.Group.InAWS() {
		s.ProviderID = o.Managed.Group.ARN
	}
	if g := o.AWS.Group; g.Known() && g.Value != nil {
		s.ProviderID = g.Value.ARN
	}
	if n := desired(o); n != nil {
		s.Replicas = n
	}
	listMembers(&s, o, p)
	s.DoubtedReading = textOf(p.members.Doubted)
	h.Message = condition.Message(h.Message + membership.CutNote(len(s.ProviderIDList)))
	s.Health = &h
	if id := imageInUse(p, d); id != "" {
		s.ImageID = id
	}
	if o.Input.AWS.Identity == v1beta1.IdentityNone {
		// What was read once is not so any more. The list of provider ids stays: Cluster API deletes the Nodes of members that
		// leave it, and that AWS is not read says nothing of them.
		s.ReadyReplicas, s.Instances = nil, nil
	}
	if in.exports.value != nil {
		s.FailureDomains = in.zones.Effective
		s.InheritedFailureDomains = in.zones.Inherited
	}
	s.DroppedNodeLabels = in.bootstrap.dropped
	s.Rollout = rolloutStatus(o, p)
	if !s.Ready {
		s.Ready = d.Ready
	}
	provisioned := s.Ready
	s.Initialization = &v1alpha1.Initialization{Provisioned: &provisioned}
	s.Bound()
	return s
}

// imageInUse is what the group's template boots; before there is one, what the current template will.
func imageInUse(p planned, d Decision) string {
	current := ""
	for _, t := range d.Templates {
		if p.GroupID != "" && t.ExternalName == p.GroupID {
			return t.ImageID
		}
		if t.Resource == naming.ResourceTemplate(p.Current) {
			current = t.ImageID
		}
	}
	return current
}

func rolloutStatus(o *pool.Observation, p planned) *v1alpha1.RolloutStatus {
	s := &v1alpha1.RolloutStatus{
		RollKey:         p.Memory.RollKey,
		Phase:           string(p.Phase),
		Message:         rollMessage(o, p),
		LostReading:     textOf(p.Memory.LostReading),
		EarlierRefresh:  p.Memory.EarlierRefresh,
		NewestRefresh:   p.Memory.NewestRefresh,
		RetiredAttempts: p.Memory.Retired,
		GroupGeneration: p.Memory.Generation,
	}
	if last := o.Composite.Status.Rollout; last != nil && p.Reason == rollout.ReasonMembersUnknown {
		s.OutdatedInstances = last.OutdatedInstances
	}
	if p.Outdated != nil {
		s.OutdatedInstances = new(int32(*p.Outdated)) //nolint:gosec // A group has some thousand members at most.
	}
	if p.Reason == rollout.ReasonRefreshActive {
		s.PercentageComplete = &o.AWS.Refresh.Value.PercentageComplete
	}
	return s
}

// listMembers says who is a member, and which reading says so where that changes.
func listMembers(s *v1alpha1.MachinePoolStatus, o *pool.Observation, p planned) {
	last, read := s.ProviderIDList, o.AWS.Instances.At
	if p.members.Known {
		s.ReadyReplicas = new(health.Running(p.members.Instances))
		s.ProviderIDList = membership.ProviderIDs(p.members.Instances)
		s.Instances = membership.Statuses(p.members.Instances, o.AWS.Group.Value, p.GroupID)
	} else {
		if len(p.members.Instances)+len(p.members.Gone) > 0 {
			s.ReadyReplicas = new(health.Running(membership.LastKnown(s.Instances, p.members)))
		}
		earlier := o.AWS.Earlier
		if !earlier.At.After(timeOf(s.ListedReading)) {
			// The list is from a later reading, of another replica.
			earlier.Value = nil
		}
		if o.AWS.Instances.Failed() {
			read = earlier.At
		}
		s.ProviderIDList = membership.Updated(s.ProviderIDList, earlier.Value, p.members)
		s.Instances = membership.UpdatedStatuses(s.Instances, earlier.Value, p.members, o.AWS.Group.Value, p.GroupID)
	}
	if !slices.Equal(last, s.ProviderIDList) {
		s.ListedReading = textOf(read)
	}
}
