package aws

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// readRefresh returns the newest instance refresh of a group, nil when there was none in six weeks. There is no call for
// several groups. AWS returns the newest first.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeInstanceRefreshes.html
func (v *view) readRefresh(ctx context.Context, name, tenant string) outcome[*pool.Refresh] {
	var found *pool.Refresh
	isMalformed := false
	f := pages(ctx, v.caller.of(v.refreshSlots, tenant), opRefreshes, 1,
		func(ctx context.Context, token *string) (*autoscaling.DescribeInstanceRefreshesOutput, error) {
			return v.clients.AutoScaling.DescribeInstanceRefreshes(ctx, &autoscaling.DescribeInstanceRefreshesInput{
				AutoScalingGroupName: awssdk.String(name),
				MaxRecords:           awssdk.Int32(1),
				NextToken:            token,
			})
		},
		func(out *autoscaling.DescribeInstanceRefreshesOutput) *string {
			if len(out.InstanceRefreshes) == 0 {
				return out.NextToken
			}
			r := out.InstanceRefreshes[0]
			done := awssdk.ToInt32(r.PercentageComplete)
			isMalformed = done < 0 || done > 100
			found = &pool.Refresh{
				ID:                 oneLine(awssdk.ToString(r.InstanceRefreshId)),
				Status:             oneLine(string(r.Status)),
				StartTime:          awssdk.ToTime(r.StartTime),
				StatusReason:       oneLine(awssdk.ToString(r.StatusReason)),
				PercentageComplete: done,
			}
			return nil
		})
	if f != nil {
		return outcome[*pool.Refresh]{failure: f}
	}
	if isMalformed {
		return outcome[*pool.Refresh]{failure: malformed(opRefreshes)}
	}
	return outcome[*pool.Refresh]{value: found}
}
