package decision

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

func TestConditions(t *testing.T) {
	external := func(o *pool.Observation) {
		autoscale(o)
		o.Composite.Spec.Autoscaling.Scaler = v1alpha1.ScalerExternal
	}
	policy := func(r pool.Resource) change { return func(o *pool.Observation) { o.Managed.Policy = &r } }
	notSynced := resource("Policy")
	notSynced.Synced = false
	desired := func(n int32) change {
		return func(o *pool.Observation) { o.AWS.Group.Value.DesiredCapacity = n }
	}
	lookUp := func(o *pool.Observation) {
		o.Composite.Spec.MachineImage.ID = nil
		o.Input.AWS.Identity = v1beta1.IdentityPod
		o.AWS.Image.Asked = true
	}
	switched := func(o *pool.Observation) {
		o.Managed.Group.SentTemplateID, o.Managed.Group.TemplateID = "lt-newer", "lt-newer"
	}
	refreshing := func(o *pool.Observation) {
		o.AWS.Refresh = pool.Read[*pool.Refresh]{Asked: true, Value: &pool.Refresh{ID: "r-1", Status: "InProgress", PercentageComplete: 40}}
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		typ    condition.Type
		want   verdict
		says   []string // What a person must be able to read in the message.
	}{
		"Valid": {
			reason: "A good spec is said to be good.",
			args:   steadyPool(), typ: v1alpha1.ConditionInputsValid, want: verdict{"True", "Valid"},
		},
		"ImagePinned": {
			reason: "A pinned image is resolved.",
			args:   steadyPool(), typ: v1alpha1.ConditionImageResolved, want: verdict{"True", "Pinned"}, says: []string{pinnedImage},
		},
		"ImageNotFound": {
			reason: "What was looked for is told in full.",
			args:   steadyPool(lookUp), typ: v1alpha1.ConditionImageResolved, want: verdict{"False", "NotFound"},
			says: []string{`"capa-ami-ubuntu-24.04-?1.34.1-*"`, "819546954734", "x86_64"},
		},
		"ImageNotRead": {
			reason: "An image that is not pinned and not read cannot be known.",
			args:   newPool(func(o *pool.Observation) { o.Composite.Spec.MachineImage.ID = nil }), typ: v1alpha1.ConditionImageResolved, want: verdict{"False", "ImageNotRead"},
			says: []string{"spec.machineImage.id", "aws.identity"},
		},
		"Provisioning": {
			reason: "A new pool says what the group waits for.",
			args:   newPool(), typ: v1alpha1.ConditionInfrastructureReady, want: verdict{"False", "Provisioning"}, says: []string{"launch template", "bootstrap data"},
		},
		"ProvisioningLacks": {
			reason: "And which inputs it cannot even begin with.",
			args:   newPool(noSecret), typ: v1alpha1.ConditionInfrastructureReady, want: verdict{"False", "Provisioning"}, says: []string{"inputs are missing for: launch template, bootstrap object"},
		},
		"NotSynced": {
			reason: "Managed resources that are not well are named.",
			args:   steadyPool(func(o *pool.Observation) { o.Managed.Group.Synced, o.Managed.Object.Ready = false, false }),
			typ:    v1alpha1.ConditionInfrastructureReady, want: verdict{"False", "Provisioning"}, says: []string{"autoscaling-group, bootstrap-object"},
		},
		"TemplateNotReady": {
			reason: "The template that the group uses counts.",
			args: steadyPool(func(o *pool.Observation) {
				tpl := o.Managed.Templates[currentTemplate]
				tpl.Synced = false
				o.Managed.Templates[currentTemplate] = tpl
			}),
			typ: v1alpha1.ConditionInfrastructureReady, want: verdict{"False", "Provisioning"}, says: []string{currentTemplate},
		},
		"OtherTemplateNotReady": {
			reason: "One that it does not use yet does not.",
			args:   steadyPool(newVersion), typ: v1alpha1.ConditionInfrastructureReady, want: verdict{"True", "Provisioned"},
		},
		"HookNotReady": {
			reason: "A hook counts.",
			args: steadyPool(func(o *pool.Observation) {
				o.Composite.Spec.LifecycleHooks = []v1alpha1.LifecycleHook{{Name: "drain", Transition: "Terminating"}}
				o.Composite.Default()
			}),
			typ: v1alpha1.ConditionInfrastructureReady, want: verdict{"False", "Provisioning"}, says: []string{"lifecycle-hook-drain"},
		},
		"PolicyNotReady": {
			reason: "A policy counts.",
			args:   steadyPool(autoscale), typ: v1alpha1.ConditionInfrastructureReady, want: verdict{"False", "Provisioning"}, says: []string{"scaling-policy"},
		},
		"Provisioned": {
			reason: "A pool whose resources are all well is provisioned.",
			args:   steadyPool(), typ: v1alpha1.ConditionInfrastructureReady, want: verdict{"True", "Provisioned"},
		},
		"HealthNotRead": {
			reason: "Without reads health is not known, and how to have it is told.",
			args:   steadyPool(), typ: v1alpha1.ConditionInfrastructureHealthy, want: verdict{"Unknown", "MembershipNotRead"}, says: []string{"aws.identity"},
		},
		"HealthNotReadZero": {
			reason: "A pool of 0 is healthy without.",
			args:   steadyPool(func(o *pool.Observation) { o.Managed.Group.DesiredCapacity = new(int32(0)) }),
			typ:    v1alpha1.ConditionInfrastructureHealthy, want: verdict{"True", "Healthy"},
		},
		"Healthy": {
			reason: "A pool whose members all run is healthy.",
			args:   readPool(), typ: v1alpha1.ConditionInfrastructureHealthy, want: verdict{"True", "Healthy"},
		},
		"HealthStopped": {
			reason: "A reason is in PascalCase, without an instance's id.",
			args:   readPool(func(o *pool.Observation) { o.AWS.Instances.Value[0].State = "stopped" }),
			typ:    v1alpha1.ConditionInfrastructureHealthy, want: verdict{"False", "InstanceStopped"},
		},
		"HealthGone": {
			reason: "A group that is gone is no health.",
			args:   readPool(groupGoneInAWS), typ: v1alpha1.ConditionInfrastructureHealthy, want: verdict{"False", "GroupNotFound"},
		},
		"GroupNotMadeYet": {
			reason: "A group that the provider never saw is not gone.",
			args:   readPool(groupGoneInAWS, func(o *pool.Observation) { o.Managed.Group.ARN = "" }),
			typ:    v1alpha1.ConditionInfrastructureHealthy, want: verdict{"False", "NoMembers"},
		},
		"HealthReadFailed": {
			reason: "A read that fails makes health unknown, not bad.",
			args:   readPool(readFails), typ: v1alpha1.ConditionInfrastructureHealthy, want: verdict{"Unknown", "Throttled"}, says: []string{"autoscaling:DescribeAutoScalingGroups"},
		},
		"AutoscalingOff": {
			reason: "Without autoscaling replicas decide.",
			args:   steadyPool(), typ: v1alpha1.ConditionAutoscalingActive, want: verdict{"False", "Disabled"}, says: []string{"spec.autoscaling"},
		},
		"AutoscalingExternal": {
			reason: "Something else scales, within bounds.",
			args:   steadyPool(external), typ: v1alpha1.ConditionAutoscalingActive, want: verdict{"True", "ExternalScaler"}, says: []string{"between 2 and 5"},
		},
		"AutoscalingPending": {
			reason: "A policy that does not exist yet scales nothing.",
			args:   steadyPool(autoscale), typ: v1alpha1.ConditionAutoscalingActive, want: verdict{"False", "PolicyPending"},
		},
		"AutoscalingNotSynced": {
			reason: "Nor does one that is not well.",
			args:   steadyPool(autoscale, policy(notSynced)), typ: v1alpha1.ConditionAutoscalingActive, want: verdict{"False", "PolicyPending"},
		},
		"Autoscaling": {
			reason: "One that is well does.",
			args:   steadyPool(autoscale, policy(resource("Policy"))), typ: v1alpha1.ConditionAutoscalingActive, want: verdict{"True", "PolicyActive"},
			says: []string{"60%", "between 2 and 5"},
		},
		"UpToDateNotRead": {
			reason: "Without reads no one knows what members were launched from.",
			args:   steadyPool(), typ: v1alpha1.ConditionMachinesUpToDate, want: verdict{"Unknown", "MembershipNotRead"},
		},
		"UpToDateNew": {
			reason: "A pool that is being created has no member that waits for a template.",
			args:   newPool(), typ: v1alpha1.ConditionMachinesUpToDate, want: verdict{"Unknown", "MembershipNotRead"},
		},
		"UpToDateReadFailed": {
			reason: "Nor when the read fails.",
			args:   readPool(readFails), typ: v1alpha1.ConditionMachinesUpToDate, want: verdict{"Unknown", "Throttled"},
		},
		"UpToDate": {
			reason: "Members of the current template are up to date.",
			args:   readPool(), typ: v1alpha1.ConditionMachinesUpToDate, want: verdict{"True", "UpToDate"},
		},
		"Outdated": {
			reason: "Those of another are not.",
			args:   readPool(newerTemplateExists, switched, refreshing), typ: v1alpha1.ConditionMachinesUpToDate, want: verdict{"False", "Outdated"}, says: []string{"3 members"},
		},
		"OutdatedBeforeTemplate": {
			reason: "A version that has no template yet leaves all of them behind.",
			args:   readPool(newVersion), typ: v1alpha1.ConditionMachinesUpToDate, want: verdict{"False", "Outdated"}, says: []string{newerKey},
		},
		"NotRollingNew": {
			reason: "A pool that is being created does not roll.",
			args:   newPool(), typ: v1alpha1.ConditionRollingOut, want: verdict{"False", "Creating"},
		},
		"NotRolling": {
			reason: "A pool at rest does not roll.",
			args:   readPool(), typ: v1alpha1.ConditionRollingOut, want: verdict{"False", "UpToDate"}, says: []string{"lt-current"},
		},
		"RollingTemplate": {
			reason: "A roll begins with its template.",
			args:   readPool(newVersion), typ: v1alpha1.ConditionRollingOut, want: verdict{"True", "TemplateCreating"}, says: []string{newerKey},
		},
		"RollingSwitch": {
			reason: "Then the group moves.",
			args:   readPool(newerTemplateExists), typ: v1alpha1.ConditionRollingOut, want: verdict{"True", "GroupUpdating"}, says: []string{"lt-newer"},
		},
		"RollingRefresh": {
			reason: "Then members are replaced.",
			args:   readPool(newerTemplateExists, switched, refreshing), typ: v1alpha1.ConditionRollingOut, want: verdict{"True", "RefreshActive"}, says: []string{"3 members", "40%"},
		},
		"RollingWithoutImage": {
			reason: "A roll whose image cannot be found says so.",
			args:   steadyPool(newVersion, lookUp), typ: v1alpha1.ConditionRollingOut, want: verdict{"True", "TemplateCreating"}, says: []string{"waits for an image", "1.34.2"},
		},
		"ScalingNotRead": {
			reason: "Without reads no one knows how many members there are.",
			args:   steadyPool(), typ: v1alpha1.ConditionScalingUp, want: verdict{"Unknown", "MembershipNotRead"},
		},
		"ScalingReadFailed": {
			reason: "Nor when the read fails.",
			args:   readPool(readFails), typ: v1alpha1.ConditionScalingDown, want: verdict{"Unknown", "Throttled"},
		},
		"ScalingUp": {
			reason: "Fewer than desired is scaling up.",
			args:   readPool(desired(5)), typ: v1alpha1.ConditionScalingUp, want: verdict{"True", "Scaling"}, says: []string{"3 members, 5 desired"},
		},
		"ScalingUpNotDown": {
			reason: "And not scaling down.",
			args:   readPool(desired(5)), typ: v1alpha1.ConditionScalingDown, want: verdict{"False", "AtDesiredCapacity"},
		},
		"ScalingDown": {
			reason: "More than desired is scaling down.",
			args:   readPool(desired(1)), typ: v1alpha1.ConditionScalingDown, want: verdict{"True", "Scaling"}, says: []string{"3 members, 1 desired"},
		},
		"ScalingDownNotUp": {
			reason: "And not scaling up.",
			args:   readPool(desired(1)), typ: v1alpha1.ConditionScalingUp, want: verdict{"False", "AtDesiredCapacity"},
		},
		"NotScalingDown": {
			reason: "As many as desired is not too many.",
			args:   readPool(), typ: v1alpha1.ConditionScalingDown, want: verdict{"False", "AtDesiredCapacity"},
		},
		"NotScaling": {
			reason: "As many as desired is neither.",
			args:   readPool(), typ: v1alpha1.ConditionScalingUp, want: verdict{"False", "AtDesiredCapacity"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			if got := verdictOf(t, d, tc.typ); got != tc.want {
				t.Errorf("\n%s\nOf(...): %s: want %+v, got %+v", tc.reason, tc.typ, tc.want, got)
			}
			message := conditionOf(t, d, tc.typ).Message
			for _, w := range tc.says {
				if !strings.Contains(message, w) {
					t.Errorf("\n%s\nOf(...): %s says %q, not %q", tc.reason, tc.typ, message, w)
				}
			}
		})
	}
}
