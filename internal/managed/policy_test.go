package managed

import "testing"

const policy = `
apiVersion: autoscaling.aws.m.upbound.io/v1beta1
kind: Policy
metadata: {annotations: {crossplane.io/external-name: cpu-target-tracking}}
spec:
  managementPolicies: [Observe, Create, Update, Delete]
  providerConfigRef: {kind: ClusterProviderConfig, name: default}
  forProvider:
    region: us-east-1
    autoscalingGroupName: mp-team-a-demo-pool-0-1a2b3c4d
    policyType: TargetTrackingScaling
    targetTrackingConfiguration:
      predefinedMetricSpecification: {predefinedMetricType: ASGAverageCPUUtilization}
      targetValue: 60
`

func TestPolicy(t *testing.T) {
	target := func(s *situation) { s.d.Policy.TargetCPUPercent = 1 }

	testRender(t, "scaling-policy", policy, map[string]renderCase{
		"Plain": {
			reason: "The group is named plainly: it is observed in AWS before the policy is composed.",
			args:   aPool("team-a"),
		},
		"PlainInClusterScope": {
			reason: "In cluster scope only the version and the reference differ.",
			args:   aPool(""),
			want:   inClusterScope("autoscaling.aws.upbound.io/v1beta2"),
		},
		"Target": {
			reason: "The target is the pool's.",
			args:   aPool("team-a", target),
			want:   []edit{set("spec.forProvider.targetTrackingConfiguration.targetValue", 1)},
		},
		"TargetInClusterScope": {
			reason: "The target is the pool's in cluster scope too.",
			args:   aPool("", target),
			want:   append(inClusterScope("autoscaling.aws.upbound.io/v1beta2"), set("spec.forProvider.targetTrackingConfiguration.targetValue", 1)),
		},
		"ObservedGroup": {
			reason: "The policy scales the group of the name that AWS has.",
			args:   aPool("team-a", func(s *situation) { s.d.Policy.GroupName = "adopted" }),
			want:   []edit{set("spec.forProvider.autoscalingGroupName", "adopted")},
		},
	})
}
