package awsapi

import (
	"context"
	"encoding/xml"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// read as the simulator's own reader does, so that both tell the same of an account.
func read(a *simulator.AWS, q pool.Query) pool.Reading {
	return simulator.NewReader(a).Read(context.Background(), q)
}

type templateRef struct {
	ID string `xml:"LaunchTemplateId"`
}

type member struct {
	ID        string      `xml:"InstanceId"`
	Zone      string      `xml:"AvailabilityZone"`
	Lifecycle string      `xml:"LifecycleState"`
	Protected bool        `xml:"ProtectedFromScaleIn"`
	Template  templateRef `xml:"LaunchTemplate"`
}

type group struct {
	Name     string      `xml:"AutoScalingGroupName"`
	ARN      string      `xml:"AutoScalingGroupARN"`
	Desired  int32       `xml:"DesiredCapacity"`
	Template templateRef `xml:"LaunchTemplate"`
	Members  []member    `xml:"Instances>member"`
	MaxSize  int32       `xml:"MaxSize"`
	Tags     []groupTag  `xml:"Tags>member"`
}

// A groupTag is spelled as Auto Scaling spells it, in another case than EC2.
type groupTag struct {
	Key   string `xml:"Key"`
	Value string `xml:"Value"`
}

type describeGroups struct {
	XMLName xml.Name `xml:"DescribeAutoScalingGroupsResponse"`
	Groups  []group  `xml:"DescribeAutoScalingGroupsResult>AutoScalingGroups>member"`
}

type refresh struct {
	ID         string `xml:"InstanceRefreshId"`
	Group      string `xml:"AutoScalingGroupName"`
	Status     string `xml:"Status"`
	Reason     string `xml:"StatusReason,omitempty"`
	Start      string `xml:"StartTime"`
	Percentage int32  `xml:"PercentageComplete"`
}

type describeRefreshes struct {
	XMLName   xml.Name  `xml:"DescribeInstanceRefreshesResponse"`
	Refreshes []refresh `xml:"DescribeInstanceRefreshesResult>InstanceRefreshes>member"`
}

type tag struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

type instance struct {
	ID    string `xml:"instanceId"`
	Zone  string `xml:"placement>availabilityZone"`
	State string `xml:"instanceState>name"`
	IP    string `xml:"privateIpAddress"`
	Tags  []tag  `xml:"tagSet>item"`
}

type describeInstances struct {
	XMLName   xml.Name   `xml:"DescribeInstancesResponse"`
	Instances []instance `xml:"reservationSet>item>instancesSet>item"`
}

type image struct {
	ID           string `xml:"imageId"`
	Name         string `xml:"name"`
	Owner        string `xml:"imageOwnerId"`
	Architecture string `xml:"architecture"`
	Device       string `xml:"rootDeviceName"`
	State        string `xml:"imageState"`
	Created      string `xml:"creationDate"`
}

type describeImages struct {
	XMLName xml.Name `xml:"DescribeImagesResponse"`
	Images  []image  `xml:"imagesSet>item"`
}
