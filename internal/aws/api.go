package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
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

	opAssumeRole = "sts:AssumeRole"
)
