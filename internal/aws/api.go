package aws

import (
	"context"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"
)

// AutoScalingAPI is what is read of Amazon EC2 Auto Scaling.
type AutoScalingAPI interface {
	DescribeAutoScalingGroups(ctx context.Context, in *autoscaling.DescribeAutoScalingGroupsInput, opts ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error)
	DescribeInstanceRefreshes(ctx context.Context, in *autoscaling.DescribeInstanceRefreshesInput, opts ...func(*autoscaling.Options)) (*autoscaling.DescribeInstanceRefreshesOutput, error)
}

// EC2API is what is read of Amazon EC2.
type EC2API interface {
	DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, opts ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
	DescribeImages(ctx context.Context, in *ec2.DescribeImagesInput, opts ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error)
}

// Clients are what one identity reads one region with.
type Clients struct {
	AutoScaling AutoScalingAPI
	EC2         EC2API
}

// The operations, named as IAM names the actions that allow them.
const (
	opGroups    = "autoscaling:DescribeAutoScalingGroups"
	opRefreshes = "autoscaling:DescribeInstanceRefreshes"
	opInstances = "ec2:DescribeInstances"
	opImages    = "ec2:DescribeImages"
)

// operation that the stack carries out, named like the above. Empty for what is no call to AWS: the SDK asks the metadata
// service and Pod Identity's agent with stacks too, in the context of the operation that needs credentials.
func operation(ctx context.Context, stack *middleware.Stack) string {
	name := awsmiddleware.GetOperationName(ctx)
	if name != stack.ID() {
		return ""
	}
	switch awsmiddleware.GetServiceID(ctx) {
	case autoscaling.ServiceID:
		return "autoscaling:" + name
	case ec2.ServiceID:
		return "ec2:" + name
	case sts.ServiceID:
		return "sts:" + name
	default:
		return ""
	}
}
