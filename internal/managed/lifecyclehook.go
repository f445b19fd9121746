package managed

import (
	"strings"

	autoscaling "github.com/upbound/provider-aws/v2/apis/namespaced/autoscaling/v1beta1"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
)

// lifecycleHook renders a hook that pauses instances on their way in or out.
func (r *renderer) lifecycleHook(h decision.Hook) fresh {
	p := autoscaling.LifecycleHookParameters{
		Region:                &r.common.Region,
		AutoscalingGroupName:  &h.GroupName,
		LifecycleTransition:   new("autoscaling:EC2_INSTANCE_" + strings.ToUpper(string(h.Spec.Transition))),
		DefaultResult:         new(strings.ToUpper(string(h.Spec.DefaultResult))),
		NotificationTargetArn: h.Spec.NotificationTargetARN,
		RoleArn:               h.Spec.RoleARN,
	}
	if s := h.Spec.HeartbeatTimeoutSeconds; s != nil {
		p.HeartbeatTimeout = new(float64(*s))
	}
	return fresh{kind: kindLifecycleHook, spec: &autoscaling.LifecycleHookSpec{ManagedResourceSpec: r.spec(), ForProvider: p}}
}
