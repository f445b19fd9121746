package managed

import (
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/capacity"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

var poolResource = pool.Resource{APIVersion: "v1", Kind: "Kind", Spec: map[string]any{"theirs": "theirs"}}

const autoscalingGroup = `
apiVersion: autoscaling.aws.m.upbound.io/v1beta1
kind: AutoscalingGroup
metadata:
  annotations:
    crossplane.io/external-name: mp-team-a-demo-pool-0-1a2b3c4d
    machinepool.fn.crossplane.io/inherited-failure-domains: us-east-1a,us-east-1b
spec:
  managementPolicies: [Observe, Create, Update, Delete]
  providerConfigRef: {kind: ClusterProviderConfig, name: default}
  initProvider: {desiredCapacity: 3}
  forProvider:
    region: us-east-1
    minSize: 3
    maxSize: 3
    healthCheckType: EC2
    capacityRebalance: false
    suspendedProcesses: [AZRebalance]
    vpcZoneIdentifier: [subnet-0aaa0000000000001, subnet-0bbb0000000000001]
    waitForCapacityTimeout: "0"
    launchTemplate: {id: lt-0aaa0000000000001, version: $Latest}
    instanceRefresh:
      strategy: Rolling
      preferences: {instanceWarmup: "300", minHealthyPercentage: 100, maxHealthyPercentage: 200}
    tag:
    - {key: kubernetes.io/cluster/demo-1960e37c, value: owned, propagateAtLaunch: false}
    - {key: team, value: a, propagateAtLaunch: false}
`

func TestAutoscalingGroup(t *testing.T) {
	cluster := inClusterScope("autoscaling.aws.upbound.io/v1beta3")
	size := func(lowest, highest, initial int32) func(*situation) {
		return func(s *situation) {
			s.d.Group.Capacity = capacity.Capacity{Min: lowest, Max: highest, Initial: initial}
		}
	}
	sized := func(lowest, highest, initial int) []edit {
		return []edit{
			set("spec.forProvider.minSize", lowest), set("spec.forProvider.maxSize", highest),
			set("spec.initProvider.desiredCapacity", initial),
		}
	}
	warmup := func(seconds int32) func(*situation) {
		return spec(func(s *v1alpha1.MachinePoolSpec) { s.Rollout.InstanceWarmupSeconds = &seconds })
	}
	spot := spec(func(s *v1alpha1.MachinePoolSpec) { s.Spot = true })

	cases := map[string]renderCase{
		"Plain": {
			reason: "The desired capacity stands in initProvider alone, so that nothing ever resets it.",
			args:   aPool("team-a"),
		},
		"PlainInClusterScope": {
			reason: "In cluster scope only the version and the reference differ.",
			args:   aPool(""),
			want:   cluster,
		},
		"Zero": {
			reason: "0 is a size: it is written, not left out.",
			args:   aPool("team-a", size(0, 0, 0)),
			want:   sized(0, 0, 0),
		},
		"ZeroInClusterScope": {
			reason: "0 is a size in cluster scope too.",
			args:   aPool("", size(0, 0, 0)),
			want:   append(sized(0, 0, 0), cluster...),
		},
		"Autoscaled": {
			reason: "Bounds and the initial size are three numbers.",
			args:   aPool("team-a", size(2, 5, 3)),
			want:   sized(2, 5, 3),
		},
		"Spot": {
			reason: "A spot pool replaces instances before AWS takes them.",
			args:   aPool("team-a", spot),
			want:   []edit{set("spec.forProvider.capacityRebalance", true)},
		},
		"SpotInClusterScope": {
			reason: "A spot pool rebalances in cluster scope too.",
			args:   aPool("", spot),
			want:   append([]edit{set("spec.forProvider.capacityRebalance", true)}, cluster...),
		},
		"Warmup": {
			reason: "The warmup is a number written as text.",
			args:   aPool("team-a", warmup(45)),
			want:   []edit{set("spec.forProvider.instanceRefresh.preferences.instanceWarmup", "45")},
		},
		"NoWarmup": {
			reason: "A warmup of 0 is written: AWS would otherwise take the health check's grace period.",
			args:   aPool("team-a", warmup(0)),
			want:   []edit{set("spec.forProvider.instanceRefresh.preferences.instanceWarmup", "0")},
		},
		"OtherTemplate": {
			reason: "The group names its template by the literal id: a changed id is what starts a roll.",
			args:   aPool("team-a", func(s *situation) { s.d.Group.TemplateID = "lt-0bbb0000000000002" }),
			want:   []edit{set("spec.forProvider.launchTemplate.id", "lt-0bbb0000000000002")},
		},
		"OneZone": {
			reason: "Subnets and the record of zones are the decision's.",
			args: aPool("team-a", func(s *situation) {
				s.d.Group.Subnets = []string{"subnet-0aaa0000000000001"}
				s.d.Group.InheritedZones = []string{"us-east-1a"}
			}),
			want: []edit{
				set("spec.forProvider.vpcZoneIdentifier", []any{"subnet-0aaa0000000000001"}),
				set("metadata.annotations[machinepool.fn.crossplane.io/inherited-failure-domains]", "us-east-1a"),
			},
		},
		"TagsSorted": {
			reason: "Tags are a list to the provider, so that they have an order of their own: that of their keys. None is propagated, since templates tag instances.",
			args:   aPool("team-a", common(func(c *decision.Common) { c.Tags = map[string]string{"c": "3", "a": "", "B": "2"} })),
			want: []edit{set("spec.forProvider.tag", []any{
				map[string]any{"key": "B", "value": "2", "propagateAtLaunch": false},
				map[string]any{"key": "a", "value": "", "propagateAtLaunch": false},
				map[string]any{"key": "c", "value": "3", "propagateAtLaunch": false},
			})},
		},
		"ObservedName": {
			reason: "The group keeps the name that it has in AWS.",
			args:   aPool("team-a", func(s *situation) { s.d.Group.Name = "adopted" }),
			want:   []edit{set("metadata.annotations[crossplane.io/external-name]", "adopted")},
		},
	}
	testRender(t, "autoscaling-group", autoscalingGroup, cases)
}
