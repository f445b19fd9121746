package decision

import (
	"fmt"
	"strings"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/membership"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/rollout"
)

// zonesCondition is the exports' own, unless they leave the pool without a zone.
func zonesCondition(in inputs) condition.Condition {
	if in.exports.value == nil || len(in.zones.Effective) > 0 {
		return in.exports.condition
	}
	return condition.New(v1alpha1.ConditionClusterExportsAvailable, condition.False, v1alpha1.ReasonNoFailureDomains,
		fmt.Sprintf("the cluster exports none of the pool's zones (%s): change spec.failureDomains, or restore the exports", strings.Join(in.zones.Unknown, ", ")))
}

func imageCondition(p planned) condition.Condition {
	s := condition.False
	if p.image.Resolved {
		s = condition.True
	}
	return condition.New(v1alpha1.ConditionImageResolved, s, p.image.Reason, p.image.Message)
}

// infrastructureCondition counts what the pool runs on. A template that the group does not use does not count.
func infrastructureCondition(p planned, d Decision) condition.Condition {
	state := func(s condition.Status, reason, message string) condition.Condition {
		return condition.New(v1alpha1.ConditionInfrastructureReady, s, reason, message)
	}
	if p.claim.isHeld() {
		return state(condition.False, p.claim.reason, p.claim.message)
	}
	waiting := waitedFor(p, d)
	why := "not Ready and Synced: " + strings.Join(waiting, ", ") + "; their managed resources say why"
	switch {
	case d.Group == nil && len(waiting) == 0:
		return state(condition.False, v1alpha1.ReasonProvisioning, "the Auto Scaling group is composed once its launch template exists and its bootstrap data is staged"+missing(d))
	case d.Group == nil:
		return state(condition.False, v1alpha1.ReasonProvisioning, "the Auto Scaling group waits for its launch template and its bootstrap data; "+why+missing(d))
	case len(waiting) > 0:
		return state(condition.False, v1alpha1.ReasonProvisioning, why)
	}
	return state(condition.True, v1alpha1.ReasonProvisioned, "every managed resource is Ready and Synced")
}

// waitedFor are the composed resources that a pool runs on, or is to run on, and that are not Ready and Synced.
func waitedFor(p planned, d Decision) []string {
	var waiting []string
	wait := func(healthy bool, name string) {
		if !healthy {
			waiting = append(waiting, name)
		}
	}
	if d.Group != nil {
		wait(d.Group.Healthy, naming.ResourceGroup)
		wait(d.Object != nil, naming.ResourceObject)
	}
	if d.Object != nil {
		wait(d.Object.Healthy, naming.ResourceObject)
	}
	for _, t := range d.Templates {
		if d.Group == nil || t.ExternalName == p.GroupID {
			wait(t.Healthy, t.Resource)
		}
	}
	if d.Policy != nil {
		wait(d.Policy.Healthy, naming.ResourcePolicy)
	}
	for _, h := range d.Hooks {
		wait(h.Healthy, h.Resource)
	}
	return waiting
}

// missing says which of a group's preconditions cannot even be composed.
func missing(d Decision) string {
	var missing []string
	if len(d.Templates) == 0 {
		missing = append(missing, "launch template")
	}
	if d.Object == nil {
		missing = append(missing, "bootstrap object")
	}
	if len(missing) == 0 {
		return ""
	}
	return "; inputs are missing for: " + strings.Join(missing, ", ")
}

func healthCondition(o *pool.Observation, h v1alpha1.Health) condition.Condition {
	state := func(s condition.Status, reason string) condition.Condition {
		return condition.New(v1alpha1.ConditionInfrastructureHealthy, s, reason, h.Message+accountNote(o))
	}
	if h.Healthy {
		return state(condition.True, v1alpha1.ReasonHealthy)
	}
	reason, _, _ := strings.Cut(h.Reasons[0], ":")
	if h.State == v1alpha1.HealthUnknown {
		return state(condition.Unknown, reason)
	}
	return state(condition.False, reason)
}

// accountNote says what else can be the matter where AWS has no group that its managed resource shows as Ready.
func accountNote(o *pool.Observation) string {
	if !groupGone(o) || !o.Managed.Group.Ready {
		return ""
	}
	account := naming.AccountOfARN(o.Managed.Group.ARN)
	return "; its managed resource shows the group in account " + account + ": if the group is there, aws.identity of the function's Input reads another account or may not read this one"
}

func autoscalingCondition(o *pool.Observation, d Decision) condition.Condition {
	state := func(s condition.Status, reason, message string) condition.Condition {
		return condition.New(v1alpha1.ConditionAutoscalingActive, s, reason, message)
	}
	a := o.Composite.Spec.Autoscaling
	switch {
	case a == nil:
		return state(condition.False, v1alpha1.ReasonDisabled, "spec.autoscaling is not set: the pool has spec.replicas instances")
	case !isNative(a):
		return state(condition.True, v1alpha1.ReasonExternalScaler, fmt.Sprintf("something else sets the desired capacity, between %d and %d", a.MinReplicas, a.MaxReplicas))
	case d.Policy == nil || !d.Policy.Healthy:
		return state(condition.False, v1alpha1.ReasonPolicyPending, "the scaling policy is not Ready and Synced yet")
	}
	return state(condition.True, v1alpha1.ReasonPolicyActive, fmt.Sprintf("the group holds its average CPU at %d%%, between %d and %d instances", a.TargetCPUPercent, a.MinReplicas, a.MaxReplicas))
}

func isNative(a *v1alpha1.Autoscaling) bool { return a != nil && a.Scaler != v1alpha1.ScalerExternal }

func upToDateCondition(o *pool.Observation, p planned) condition.Condition {
	state := func(s condition.Status, reason, message string) condition.Condition {
		return condition.New(v1alpha1.ConditionMachinesUpToDate, s, reason, message)
	}
	switch {
	case p.Phase == rollout.PhaseTemplatePending && o.Managed.Group.InAWS():
		return state(condition.False, v1alpha1.ReasonOutdated, rollMessage(o, p))
	case p.Outdated == nil:
		reason, message := unread(o, p)
		return state(condition.Unknown, reason, message)
	case *p.Outdated > 0:
		return state(condition.False, v1alpha1.ReasonOutdated, fmt.Sprintf("%d members were launched from an older launch template", *p.Outdated))
	}
	return state(condition.True, v1alpha1.ReasonUpToDate, "every member was launched from the current launch template")
}

func rollingOutCondition(o *pool.Observation, p planned) condition.Condition {
	if !o.Managed.Group.InAWS() {
		return condition.New(v1alpha1.ConditionRollingOut, condition.False, v1alpha1.ReasonCreating, "the pool is being created: "+rollMessage(o, p))
	}
	s := condition.True
	if p.Phase == rollout.PhaseIdle {
		s = condition.False
	}
	return condition.New(v1alpha1.ConditionRollingOut, s, string(p.Reason), rollMessage(o, p))
}

func scalingUpCondition(o *pool.Observation, p planned) condition.Condition {
	return scalingCondition(o, p, v1alpha1.ConditionScalingUp, func(members, desired int) bool { return members < desired })
}

func scalingDownCondition(o *pool.Observation, p planned) condition.Condition {
	return scalingCondition(o, p, v1alpha1.ConditionScalingDown, func(members, desired int) bool { return members > desired })
}

func scalingCondition(o *pool.Observation, p planned, t condition.Type, scaling func(members, desired int) bool) condition.Condition {
	n := desired(o)
	if !p.members.Known || n == nil {
		reason, message := unread(o, p)
		return condition.New(t, condition.Unknown, reason, message)
	}
	// Auto Scaling does not count those in Standby to the desired capacity, and neither adds nor removes any for them.
	standby := membership.CountStandby(p.members.Instances, o.AWS.Group.Value)
	members := len(p.members.Instances) - standby
	msg := fmt.Sprintf("%d members, %d desired", members, *n)
	if standby > 0 {
		msg = fmt.Sprintf("%d members and %d in Standby, %d desired", members, standby, *n)
	}
	if scaling(members, int(*n)) {
		return condition.New(t, condition.True, v1alpha1.ReasonScaling, msg)
	}
	return condition.New(t, condition.False, v1alpha1.ReasonAtDesiredCapacity, msg)
}

// unread says why the pool's members are not known.
func unread(o *pool.Observation, p planned) (reason, message string) {
	switch {
	case p.members.Problem != nil:
		return string(p.members.Problem.Reason), p.members.Problem.Message
	case o.AWS.Refresh.Failed():
		return string(o.AWS.Refresh.Err.Reason), o.AWS.Refresh.Err.Message
	case groupGone(o):
		return v1alpha1.ReasonGroupNotFound, "the group does not exist in AWS: the provider creates it again"
	}
	return v1alpha1.ReasonMembershipNotRead, "the pool's members are not read"
}
