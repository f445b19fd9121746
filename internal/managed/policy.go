package managed

import (
	autoscaling "github.com/upbound/provider-aws/v2/apis/namespaced/autoscaling/v1beta1"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
)

// policy renders target tracking on the group's average CPU.
func (r *renderer) policy(p *decision.Policy) fresh {
	return fresh{
		kind: kindPolicy,
		spec: &autoscaling.PolicySpec{
			ManagedResourceSpec: r.spec(),
			ForProvider: autoscaling.PolicyParameters{
				Region:               &r.common.Region,
				AutoscalingGroupName: &p.GroupName,
				PolicyType:           new("TargetTrackingScaling"),
				TargetTrackingConfiguration: &autoscaling.TargetTrackingConfigurationParameters{
					PredefinedMetricSpecification: &autoscaling.PredefinedMetricSpecificationParameters{
						PredefinedMetricType: new("ASGAverageCPUUtilization"),
					},
					TargetValue: new(float64(p.TargetCPUPercent)),
				},
			},
		},
	}
}
