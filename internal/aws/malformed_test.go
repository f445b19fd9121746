package aws

import (
	"context"
	"testing"
	"testing/synctest"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// What AWS does not have is no reading: it must not reach a status, and costs no other pool its reading of the same call.
func TestWhatAWSDoesNotHaveIsNoReading(t *testing.T) {
	type failed struct{ Group, Instances, Refresh, Claim bool }
	whole := failed{}
	members := failed{Group: true, Instances: true}
	member := func(f *fakeAWS) *astypes.Instance { return &f.groups[0].Instances[0] }
	cases := map[string]struct {
		reason string
		args   func(*fakeAWS)
		want   failed
	}{
		"Whole":            {reason: "What AWS has is read.", args: func(*fakeAWS) {}, want: whole},
		"NoCapacity":       {reason: "A group may want none.", args: func(f *fakeAWS) { f.groups[0].DesiredCapacity = awssdk.Int32(0) }, want: whole},
		"NegativeCapacity": {reason: "No group wants fewer than none.", args: func(f *fakeAWS) { f.groups[0].DesiredCapacity = awssdk.Int32(-1) }, want: members},
		"NegativeMaximum":  {reason: "Nor may it have fewer.", args: func(f *fakeAWS) { f.groups[0].MaxSize = awssdk.Int32(-1) }, want: failed{Claim: true}},
		"MemberID":         {reason: "Messages name members.", args: func(f *fakeAWS) { member(f).InstanceId = awssdk.String("i-1\nReady=True") }, want: members},
		"MemberNoID":       {reason: "A member without an id cannot be looked for among the instances.", args: func(f *fakeAWS) { member(f).InstanceId = nil }, want: members},
		"MemberZone":       {reason: "A zone is a part of a provider id.", args: func(f *fakeAWS) { member(f).AvailabilityZone = awssdk.String("us-east-1a/x") }, want: members},
		"InstanceID":       {reason: "An instance's id is a part of a provider id.", args: func(f *fakeAWS) { f.instances[0].InstanceId = awssdk.String("i-1/../i-2") }, want: failed{Instances: true}},
		"InstanceOther":    {reason: "What is no instance is none of the group's.", args: func(f *fakeAWS) { f.instances[0].InstanceId = awssdk.String("mi-0123456789abcdef0") }, want: failed{Instances: true}},
		"InstanceZone":     {reason: "Its zone is one, too.", args: func(f *fakeAWS) { f.instances[0].Placement.AvailabilityZone = awssdk.String("us-east-1a,b") }, want: failed{Instances: true}},
		"GoneWithoutZone": {
			reason: "Of an instance that is gone EC2 need not say where it was.",
			args: func(f *fakeAWS) {
				f.instances[0].Placement, f.instances[0].State.Name = nil, ec2types.InstanceStateNameTerminated
			},
			want: whole,
		},
		"LocalZone":     {reason: "Local and Wavelength Zones have longer names.", args: func(f *fakeAWS) { f.instances[0].Placement.AvailabilityZone = awssdk.String("us-east-1-wl1-bos-wlz-1") }, want: whole},
		"MoreThanDone":  {reason: "No refresh is more than done.", args: func(f *fakeAWS) { f.refreshes["one"][0].PercentageComplete = awssdk.Int32(101) }, want: failed{Refresh: true}},
		"LessThanBegun": {reason: "Nor less than begun.", args: func(f *fakeAWS) { f.refreshes["one"][0].PercentageComplete = awssdk.Int32(-1) }, want: failed{Refresh: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeAWS{
					groups:    []astypes.AutoScalingGroup{fakeGroup("one", "i-0123456789abcdef0"), fakeGroup("two", "i-1")},
					instances: []ec2types.Instance{fakeInstance("one", "i-0123456789abcdef0", "running"), fakeInstance("two", "i-1", "running")},
					refreshes: map[string][]astypes.InstanceRefresh{"one": {{PercentageComplete: awssdk.Int32(100)}}, "two": nil},
				}
				tc.args(f)
				r := newFakeReader(t, f)
				neighbour := make(chan pool.Reading, 1)
				go func() { neighbour <- r.Read(context.Background(), query("two")) }()
				q := query("one")
				q.Refresh, q.Claims = true, []string{"one", "two"}
				r1 := r.Read(context.Background(), q)
				if got := (failed{Group: r1.Group.Failed(), Instances: r1.Instances.Failed(), Refresh: r1.Refresh.Failed(), Claim: r1.Claims["one"].Failed()}); got != tc.want {
					t.Errorf("\n%s\nRead(...): want failed %+v, got %+v", tc.reason, tc.want, got)
				}
				if r2 := <-neighbour; !r2.Group.Known() || len(r2.Instances.Value) != 1 || r1.Claims["two"].Failed() {
					t.Errorf("\n%s\nwant the neighbour read, got %+v", tc.reason, r2)
				}
				if r1.Group.Failed() && r1.Group.Err.Reason != pool.ReadPartial {
					t.Errorf("\n%s\nwant %s, got %+v", tc.reason, pool.ReadPartial, r1.Group.Err)
				}
			})
		})
	}
}
