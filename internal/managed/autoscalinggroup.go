package managed

import (
	"fmt"
	"maps"
	"slices"

	autoscaling "github.com/upbound/provider-aws/v2/apis/namespaced/autoscaling/v1beta1"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/zones"
)

// Percentages of the desired capacity that a refresh keeps in service: it launches each replacement before it
// terminates what that replaces.
const (
	minHealthyPercentage = 100
	maxHealthyPercentage = 200
)

// autoscalingGroup renders the group.
func (r *renderer) autoscalingGroup(g *decision.Group) fresh {
	s := r.Composite.Spec
	p := autoscaling.AutoscalingGroupParameters{
		Region:            &r.common.Region,
		MinSize:           new(float64(g.Capacity.Min)),
		MaxSize:           new(float64(g.Capacity.Max)),
		HealthCheckType:   new("EC2"),
		CapacityRebalance: &s.Spot,
		// Rebalancing would terminate nodes, undrained, whenever a zone comes or goes.
		SuspendedProcesses: pointers([]string{"AZRebalance"}),
		VPCZoneIdentifier:  pointers(g.Subnets),
		// Waiting would keep every update busy until all instances are healthy.
		WaitForCapacityTimeout: new("0"),
		// The literal id: a reference is resolved once and never again, and a name would be resolved to whatever bears
		// it then.
		LaunchTemplate: &autoscaling.LaunchTemplateParameters{ID: &g.TemplateID, Version: new("$Latest")},
		InstanceRefresh: &autoscaling.InstanceRefreshParameters{
			Strategy: new("Rolling"),
			Preferences: &autoscaling.PreferencesParameters{
				InstanceWarmup:       new(fmt.Sprint(*s.Rollout.InstanceWarmupSeconds)),
				MinHealthyPercentage: new(float64(minHealthyPercentage)),
				MaxHealthyPercentage: new(float64(maxHealthyPercentage)),
			},
		},
		Tag: r.groupTags(),
	}
	return fresh{
		kind:        kindAutoscalingGroup,
		annotations: map[string]string{zones.RecordAnnotation: zones.FormatRecord(g.InheritedZones)},
		spec: &autoscaling.AutoscalingGroupSpec{
			ManagedResourceSpec: r.spec(),
			ForProvider:         p,
			// Sent on creation only, and left alone afterwards: whoever sets it in AWS keeps what they set.
			InitProvider: autoscaling.AutoscalingGroupInitParameters{DesiredCapacity: new(float64(g.Capacity.Initial))},
		},
	}
}

// groupTags are sorted by key. Instances are tagged by their launch template, so none is propagated.
func (r *renderer) groupTags() []autoscaling.TagParameters {
	tags := make([]autoscaling.TagParameters, 0, len(r.common.Tags))
	for _, k := range slices.Sorted(maps.Keys(r.common.Tags)) {
		tags = append(tags, autoscaling.TagParameters{Key: &k, Value: new(r.common.Tags[k]), PropagateAtLaunch: new(false)})
	}
	return tags
}
