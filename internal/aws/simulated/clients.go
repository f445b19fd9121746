// Package simulated lets the real Reader of package aws read a simulated account, as in production: with its batches, prefetched keys,
// kept answers and refusals. Only the SDK's clients are made up.
package simulated

import (
	"context"
	"path"
	"slices"
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/aws"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/tagging"
)

// groupTag is what Auto Scaling puts on every instance of a group.
const groupTag = "aws:autoscaling:groupName"

// NewReader returns a Reader with a cache of its own, as each replica of the function has, over an account.
func NewReader(account *simulator.Reader) *aws.Reader {
	c := &clients{account: account}
	return aws.NewReader(aws.WithNewClients(func(context.Context, pool.Identity, string) (aws.Clients, error) {
		return aws.Clients{AutoScaling: c, EC2: c}, nil
	}))
}

// clients answer as AWS does, for one account in one region.
type clients struct {
	// mu since the parts of a reading are read side by side.
	mu      sync.Mutex
	account *simulator.Reader
}

// answer a call, or fail as the account does. A part that is read in part only has a page that does not come.
func answer[T any](c *clients, p simulator.Part, out *T, token **string) (*T, error) {
	c.account.Queries++
	switch why := c.account.Failing(p); why {
	case "":
		return out, nil
	case pool.ReadThrottled:
		return nil, &smithy.GenericAPIError{Code: "Throttling", Message: "rate exceeded"}
	case pool.ReadAccessDenied:
		return nil, &smithy.GenericAPIError{Code: "UnauthorizedOperation", Message: "you are not authorized"}
	case pool.ReadPartial:
		*token = awssdk.String("the same page again")
		return out, nil
	case pool.ReadCredentialsInvalid:
		return nil, &smithy.GenericAPIError{Code: "ExpiredToken", Message: "the token is expired"}
	case pool.ReadClockSkewed:
		return nil, &smithy.GenericAPIError{Code: "RequestExpired", Message: "the request is expired"}
	case pool.ReadTimedOut:
		return nil, context.DeadlineExceeded
	case pool.ReadFailed:
		return nil, &smithy.GenericAPIError{Code: "InternalError", Message: "an internal error occurred"}
	default:
		panic("no such reason: " + why)
	}
}

func (c *clients) DescribeAutoScalingGroups(_ context.Context, in *autoscaling.DescribeAutoScalingGroupsInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &autoscaling.DescribeAutoScalingGroupsOutput{}
	for _, name := range in.AutoScalingGroupNames {
		if g := c.account.Group(name); g != nil {
			out.AutoScalingGroups = append(out.AutoScalingGroups, group(g, c.account.Claim(name)))
		}
	}
	return answer(c, simulator.PartGroup, out, &out.NextToken)
}

func group(g *pool.Group, claim *pool.Claim) astypes.AutoScalingGroup {
	out := astypes.AutoScalingGroup{
		AutoScalingGroupARN:  awssdk.String(g.ARN),
		AutoScalingGroupName: awssdk.String(g.Name),
		DesiredCapacity:      awssdk.Int32(g.DesiredCapacity),
		MaxSize:              awssdk.Int32(claim.MaxSize),
		Tags: []astypes.TagDescription{
			{Key: awssdk.String(tagging.KeyCluster), Value: awssdk.String(claim.Owner.ClusterID)},
			{Key: awssdk.String(tagging.KeyNamespace), Value: awssdk.String(claim.Owner.Namespace)},
			{Key: awssdk.String(tagging.KeyPool), Value: awssdk.String(claim.Owner.Name)},
		},
		LaunchTemplate: &astypes.LaunchTemplateSpecification{LaunchTemplateId: awssdk.String(g.LaunchTemplateID)},
	}
	for _, m := range g.Members {
		out.Instances = append(out.Instances, astypes.Instance{
			InstanceId: awssdk.String(m.InstanceID), AvailabilityZone: awssdk.String(m.Zone),
			LifecycleState:       astypes.LifecycleState(m.LifecycleState),
			ProtectedFromScaleIn: awssdk.Bool(m.ProtectedFromScaleIn),
			LaunchTemplate:       &astypes.LaunchTemplateSpecification{LaunchTemplateId: awssdk.String(m.LaunchTemplateID)},
		})
	}
	return out
}

func (c *clients) DescribeInstanceRefreshes(_ context.Context, in *autoscaling.DescribeInstanceRefreshesInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeInstanceRefreshesOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &autoscaling.DescribeInstanceRefreshesOutput{}
	name := awssdk.ToString(in.AutoScalingGroupName)
	if c.account.Group(name) == nil {
		return nil, &smithy.GenericAPIError{Code: "ValidationError", Message: "AutoScalingGroup name not found"}
	}
	if r := c.account.Refresh(name); r != nil {
		refresh := astypes.InstanceRefresh{
			InstanceRefreshId: awssdk.String(r.ID), Status: astypes.InstanceRefreshStatus(r.Status),
			PercentageComplete: awssdk.Int32(r.PercentageComplete),
		}
		if r.StatusReason != "" {
			refresh.StatusReason = awssdk.String(r.StatusReason)
		}
		if !r.StartTime.IsZero() {
			refresh.StartTime = awssdk.Time(r.StartTime)
		}
		out.InstanceRefreshes = append(out.InstanceRefreshes, refresh)
	}
	if c.account.Failing(simulator.PartRefresh) == pool.ReadPartial {
		out.InstanceRefreshes = nil
	}
	return answer(c, simulator.PartRefresh, out, &out.NextToken)
}

func (c *clients) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &ec2.DescribeInstancesOutput{}
	for _, name := range filter(in.Filters, "tag:"+groupTag) {
		for _, i := range c.account.Instances(name) {
			if states := filter(in.Filters, "instance-state-name"); states != nil && !slices.Contains(states, i.State) {
				// EC2 tells nothing of those that a filter leaves out.
				continue
			}
			out.Reservations = append(out.Reservations, ec2types.Reservation{Instances: []ec2types.Instance{instance(name, i)}})
		}
	}
	return answer(c, simulator.PartInstances, out, &out.NextToken)
}

func instance(group string, i pool.Instance) ec2types.Instance {
	out := ec2types.Instance{
		InstanceId: awssdk.String(i.ID),
		Placement:  &ec2types.Placement{AvailabilityZone: awssdk.String(i.Zone)},
		State:      &ec2types.InstanceState{Name: ec2types.InstanceStateName(i.State)},
		Tags:       []ec2types.Tag{{Key: awssdk.String(groupTag), Value: awssdk.String(group)}},
	}
	if len(i.InternalIPs) > 0 {
		out.PrivateIpAddress = awssdk.String(i.InternalIPs[0])
	}
	return out
}

func (c *clients) DescribeImages(_ context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &ec2.DescribeImagesOutput{}
	for n, i := range c.account.Images() {
		if !matches(in, i) {
			continue
		}
		out.Images = append(out.Images, ec2types.Image{
			ImageId: awssdk.String(i.ID), Name: awssdk.String(i.Name), OwnerId: awssdk.String(i.Owner), Architecture: ec2types.ArchitectureValues(i.Architecture),
			RootDeviceName: awssdk.String(i.Device()), State: ec2types.ImageStateAvailable,
			// The account has them oldest first.
			CreationDate: awssdk.String(simulator.ImageDate(n)),
		})
	}
	return answer(c, simulator.PartImage, out, &out.NextToken)
}

// matches by id, or by name, owner and architecture.
func matches(in *ec2.DescribeImagesInput, i simulator.Image) bool {
	if ids := filter(in.Filters, "image-id"); ids != nil {
		return slices.Contains(ids, i.ID)
	}
	named, err := path.Match(filter(in.Filters, "name")[0], i.Name)
	return err == nil && named && slices.Contains(in.Owners, i.Owner) && slices.Contains(filter(in.Filters, "architecture"), i.Architecture)
}

func filter(filters []ec2types.Filter, name string) []string {
	for _, f := range filters {
		if awssdk.ToString(f.Name) == name {
			return f.Values
		}
	}
	return nil
}
