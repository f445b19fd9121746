package aws

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/tagging"
)

// readGroups reads groups by name, as many a call as AWS lets, and of each what is wanted. A group that AWS does not have is
// a nil one, and one of which AWS says what cannot be has failed.
func readGroups[T any](ctx context.Context, v *view, c *caller, names []string, of func(*types.AutoScalingGroup) outcome[*T]) map[string]outcome[*T] {
	out := make(map[string]outcome[*T], len(names))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for part := range slices.Chunk(names, groupsPerCall) {
		wg.Go(func() {
			found := flat(isolate(part, func(names []string) (map[string]outcome[*T], *failure) { return describeGroups(ctx, v, c, names, of) }))
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(out, found)
		})
	}
	wg.Wait()
	return out
}

func describeGroups[T any](ctx context.Context, v *view, c *caller, names []string, of func(*types.AutoScalingGroup) outcome[*T]) (map[string]outcome[*T], *failure) {
	found := make(map[string]outcome[*T], len(names))
	f := pages(ctx, c, opGroups, len(names),
		func(ctx context.Context, token *string) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
			return v.clients.AutoScaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{
				AutoScalingGroupNames: names,
				MaxRecords:            awssdk.Int32(groupsPerCall),
				NextToken:             token,
			})
		},
		func(out *autoscaling.DescribeAutoScalingGroupsOutput) *string {
			for i := range out.AutoScalingGroups {
				g := &out.AutoScalingGroups[i]
				found[awssdk.ToString(g.AutoScalingGroupName)] = of(g)
			}
			return out.NextToken
		})
	if f != nil {
		return nil, f
	}
	return found, nil
}

func group(g *types.AutoScalingGroup) outcome[*pool.Group] {
	if awssdk.ToInt32(g.DesiredCapacity) < 0 || slices.ContainsFunc(g.Instances, isMalformed) {
		return outcome[*pool.Group]{failure: malformed(opGroups)}
	}
	out := &pool.Group{
		ARN:              awssdk.ToString(g.AutoScalingGroupARN),
		Name:             awssdk.ToString(g.AutoScalingGroupName),
		DesiredCapacity:  awssdk.ToInt32(g.DesiredCapacity),
		LaunchTemplateID: launchTemplateID(g),
	}
	for i := range g.Instances {
		out.Members = append(out.Members, member(&g.Instances[i]))
	}
	// AWS promises no order, and what is reported must not change while AWS says the same.
	slices.SortFunc(out.Members, func(a, b pool.GroupMember) int { return cmp.Compare(a.InstanceID, b.InstanceID) })
	return outcome[*pool.Group]{value: out}
}

// isMalformed reports whether a member has an id or a zone that AWS does not have. Both are shown to people.
func isMalformed(i types.Instance) bool {
	zone := awssdk.ToString(i.AvailabilityZone)
	return !syntax.InstanceID.Matches(awssdk.ToString(i.InstanceId)) || zone != "" && !syntax.Zone.Matches(zone)
}

// claim is what of a group tells whose it is.
func claim(g *types.AutoScalingGroup) outcome[*pool.Claim] {
	if awssdk.ToInt32(g.MaxSize) < 0 {
		return outcome[*pool.Claim]{failure: malformed(opGroups)}
	}
	out := &pool.Claim{
		// AWS gives a group a status only while it is deleted.
		// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_AutoScalingGroup.html
		Deleting: awssdk.ToString(g.Status) != "",
		MaxSize:  awssdk.ToInt32(g.MaxSize),
		Members:  len(g.Instances),
	}
	for _, t := range g.Tags {
		value := awssdk.ToString(t.Value)
		switch awssdk.ToString(t.Key) {
		case tagging.KeyCluster:
			out.Owner.ClusterID = value
		case tagging.KeyNamespace:
			out.Owner.Namespace = value
		case tagging.KeyPool:
			out.Owner.Name = value
		}
	}
	return outcome[*pool.Claim]{value: out}
}

func launchTemplateID(g *types.AutoScalingGroup) string {
	switch {
	case g.LaunchTemplate != nil:
		return awssdk.ToString(g.LaunchTemplate.LaunchTemplateId)
	case g.MixedInstancesPolicy != nil && g.MixedInstancesPolicy.LaunchTemplate != nil && g.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification != nil:
		return awssdk.ToString(g.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification.LaunchTemplateId)
	default:
		return ""
	}
}

func member(i *types.Instance) pool.GroupMember {
	out := pool.GroupMember{
		InstanceID:           awssdk.ToString(i.InstanceId),
		Zone:                 awssdk.ToString(i.AvailabilityZone),
		LifecycleState:       string(i.LifecycleState),
		ProtectedFromScaleIn: awssdk.ToBool(i.ProtectedFromScaleIn),
	}
	if i.LaunchTemplate != nil {
		out.LaunchTemplateID = awssdk.ToString(i.LaunchTemplate.LaunchTemplateId)
	}
	return out
}
