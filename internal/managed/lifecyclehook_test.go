package managed

import (
	"slices"
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
)

const lifecycleHook = `
apiVersion: autoscaling.aws.m.upbound.io/v1beta1
kind: LifecycleHook
metadata: {annotations: {crossplane.io/external-name: drain}}
spec:
  managementPolicies: [Observe, Create, Update, Delete]
  providerConfigRef: {kind: ClusterProviderConfig, name: default}
  forProvider:
    region: us-east-1
    autoscalingGroupName: mp-team-a-demo-pool-0-1a2b3c4d
    lifecycleTransition: autoscaling:EC2_INSTANCE_TERMINATING
    defaultResult: ABANDON
    heartbeatTimeout: 3600
`

func hook(change func(*v1alpha1.LifecycleHook)) func(*situation) {
	return func(s *situation) { change(&s.d.Hooks[0].Spec) }
}

func TestLifecycleHook(t *testing.T) {
	cluster := inClusterScope("autoscaling.aws.upbound.io/v1beta1")
	launching := hook(func(h *v1alpha1.LifecycleHook) {
		h.Transition = v1alpha1.LifecycleTransitionLaunching
		h.DefaultResult = v1alpha1.LifecycleHookResultContinue
	})
	launches := []edit{
		set("spec.forProvider.lifecycleTransition", "autoscaling:EC2_INSTANCE_LAUNCHING"),
		set("spec.forProvider.defaultResult", "CONTINUE"),
	}

	testRender(t, "lifecycle-hook-drain", lifecycleHook, map[string]renderCase{
		"Plain": {
			reason: "A hook that notifies no one has neither a target nor a role.",
			args:   aPool("team-a"),
		},
		"PlainInClusterScope": {
			reason: "In cluster scope only the version and the reference differ.",
			args:   aPool(""),
			want:   cluster,
		},
		"Launching": {
			reason: "Transitions and results are written as Auto Scaling spells them.",
			args:   aPool("team-a", launching),
			want:   launches,
		},
		"LaunchingInClusterScope": {
			reason: "Transitions and results are the same in cluster scope.",
			args:   aPool("", launching),
			want:   slices.Concat(launches, cluster),
		},
		"Notifies": {
			reason: "A target comes with the role that may notify it.",
			args: aPool("team-a", hook(func(h *v1alpha1.LifecycleHook) {
				h.NotificationTargetARN = new("arn:aws:sqs:us-east-1:123456789012:drain")
				h.RoleARN = new("arn:aws:iam::123456789012:role/notify")
			})),
			want: []edit{
				set("spec.forProvider.notificationTargetArn", "arn:aws:sqs:us-east-1:123456789012:drain"),
				set("spec.forProvider.roleArn", "arn:aws:iam::123456789012:role/notify"),
			},
		},
		"NoHeartbeat": {
			reason: "Without a heartbeat timeout none is sent.",
			args:   aPool("team-a", hook(func(h *v1alpha1.LifecycleHook) { h.HeartbeatTimeoutSeconds = nil })),
			want:   []edit{unset("spec.forProvider.heartbeatTimeout")},
		},
		"Heartbeat": {
			reason: "The heartbeat timeout is the hook's.",
			args:   aPool("team-a", hook(func(h *v1alpha1.LifecycleHook) { h.HeartbeatTimeoutSeconds = new(int32(30)) })),
			want:   []edit{set("spec.forProvider.heartbeatTimeout", 30)},
		},
		"OtherGroup": {
			reason: "The hook is on the group of the name that AWS has.",
			args:   aPool("team-a", func(s *situation) { s.d.Hooks[0].GroupName = "adopted" }),
			want:   []edit{set("spec.forProvider.autoscalingGroupName", "adopted")},
		},
	})
}

// Each hook is a resource of its own, known to AWS by its own name.
func TestLifecycleHooks(t *testing.T) {
	s := aPool("team-a", func(s *situation) {
		warm := decision.Hook{Resource: "lifecycle-hook-warm", GroupName: "g", Spec: s.d.Hooks[0].Spec}
		warm.Spec.Name = "warm"
		s.d.Hooks = append(s.d.Hooks, warm)
	})
	for resource, name := range map[string]string{"lifecycle-hook-drain": "drain", "lifecycle-hook-warm": "warm"} {
		meta := rendered(t, s, resource).Object["metadata"].(map[string]any)
		if got := meta["annotations"].(map[string]any)["crossplane.io/external-name"]; got != name {
			t.Errorf("Render(...): %s: want external name %q, got %q", resource, name, got)
		}
	}
}
