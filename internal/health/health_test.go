package health

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// instances in the given states, with ids i-0, i-1 and so on.
func instances(states ...string) []pool.Instance {
	out := make([]pool.Instance, 0, len(states))
	for i, s := range states {
		out = append(out, pool.Instance{ID: fmt.Sprintf("i-%d", i), Zone: "us-east-1a", State: s})
	}
	return out
}

var throttled = &pool.ReadError{Reason: pool.ReadThrottled, Message: "autoscaling:DescribeAutoScalingGroups: throttled"}

// TestTable is what health says of a pool, case by case and in its exact words.
func TestTable(t *testing.T) {
	type want struct {
		state   string
		healthy bool
		reasons []string
	}
	cases := map[string]struct {
		reason string
		args   Inputs
		want   want
	}{
		"GroupNotFound": {
			reason: "The group was deleted out of band.",
			args:   Inputs{Asked: true, GroupGone: true},
			want:   want{state: "terminated", reasons: []string{"GroupNotFound"}},
		},
		"NotReadThisTime": {
			reason: "Members that are known from before are not gone because no one looked.",
			args:   Inputs{Asked: true, Unread: true, Desired: new(int32(3))},
			want:   want{state: "unknown", reasons: []string{"MembershipNotRead"}},
		},
		"DesiredZero": {
			reason: "Desired capacity 0.",
			args:   Inputs{Asked: true, Desired: new(int32(0))},
			want:   want{state: "running", healthy: true},
		},
		"NoMembers": {
			reason: "No member yet.",
			args:   Inputs{Asked: true, Desired: new(int32(3))},
			want:   want{state: "pending", reasons: []string{"NoMembers"}},
		},
		"Stopping": {
			reason: "A member stopping.",
			args:   Inputs{Asked: true, Desired: new(int32(3)), Instances: instances("running", "stopping", "running")},
			want:   want{state: "stopped", reasons: []string{"InstanceStopped:i-1"}},
		},
		"Stopped": {
			reason: "A member stopped.",
			args:   Inputs{Asked: true, Desired: new(int32(1)), Instances: instances("stopped")},
			want:   want{state: "stopped", reasons: []string{"InstanceStopped:i-0"}},
		},
		"StoppedEach": {
			reason: "One reason per member that stops or stopped, and none for the others.",
			args:   Inputs{Asked: true, Desired: new(int32(4)), Instances: instances("stopped", "pending", "stopping", "running")},
			want:   want{state: "stopped", reasons: []string{"InstanceStopped:i-0", "InstanceStopped:i-2"}},
		},
		"Running": {
			reason: "Every member running, as many as desired.",
			args:   Inputs{Asked: true, Desired: new(int32(3)), Instances: instances("running", "running", "running")},
			want:   want{state: "running", healthy: true},
		},
		"Pending": {
			reason: "Members still pending, though as many as desired.",
			args:   Inputs{Asked: true, Desired: new(int32(3)), Instances: instances("pending", "running", "pending")},
			want:   want{state: "running", reasons: []string{"InstancePending:i-0", "InstancePending:i-2"}},
		},
		"AllPending": {
			reason: "A pool whose members are all pending has members, and is not pending itself.",
			args:   Inputs{Asked: true, Desired: new(int32(1)), Instances: instances("pending")},
			want:   want{state: "running", reasons: []string{"InstancePending:i-0"}},
		},
		"Fewer": {
			reason: "Fewer than desired.",
			args:   Inputs{Asked: true, Desired: new(int32(3)), Instances: instances("running", "running")},
			want:   want{state: "running", reasons: []string{"ScalingInProgress"}},
		},
		"More": {
			reason: "More than desired.",
			args:   Inputs{Asked: true, Desired: new(int32(1)), Instances: instances("running", "running")},
			want:   want{state: "running", reasons: []string{"ScalingInProgress"}},
		},
		"FewerAndPending": {
			reason: "Fewer than desired, and one of them pending.",
			args:   Inputs{Asked: true, Desired: new(int32(3)), Instances: instances("pending", "running")},
			want:   want{state: "running", reasons: []string{"InstancePending:i-0", "ScalingInProgress"}},
		},
		"NewState": {
			reason: "A state that no one has heard of does not run, and what it means is not known.",
			args:   Inputs{Asked: true, Desired: new(int32(2)), Instances: instances("hibernating", "pending")},
			want:   want{state: "unknown", reasons: []string{"UnknownState:i-0"}},
		},
		"StoppedBeforeNewState": {
			reason: "A member that stopped is known to be trouble.",
			args:   Inputs{Asked: true, Desired: new(int32(2)), Instances: instances("hibernating", "stopped")},
			want:   want{state: "stopped", reasons: []string{"InstanceStopped:i-1"}},
		},
		"DesiredUnknown": {
			reason: "A desired capacity that is not known is taken to be what is there.",
			args:   Inputs{Asked: true, Instances: instances("running")},
			want:   want{state: "running", healthy: true},
		},
		"NotRead": {
			reason: "Without AWS reads members are not known.",
			args:   Inputs{Desired: new(int32(3))},
			want:   want{state: "unknown", reasons: []string{"MembershipNotRead"}},
		},
		"NotReadAndNothingKnown": {
			reason: "Without AWS reads and before the group is observed.",
			args:   Inputs{},
			want:   want{state: "unknown", reasons: []string{"MembershipNotRead"}},
		},
		"NotReadDesiredZero": {
			reason: "Without AWS reads a pool of 0 is still known to be as it should.",
			args:   Inputs{Desired: new(int32(0))},
			want:   want{state: "running", healthy: true},
		},
		"ReadFailed": {
			reason: "A read that failed says nothing but why.",
			args:   Inputs{Asked: true, Problem: throttled, Desired: new(int32(3))},
			want:   want{state: "unknown", reasons: []string{"Throttled"}},
		},
		"GoneBeforeReadFailed": {
			reason: "A group that is known to be gone needs no more reading.",
			args:   Inputs{Asked: true, GroupGone: true, Problem: throttled},
			want:   want{state: "terminated", reasons: []string{"GroupNotFound"}},
		},
		"GoneBeforeDesiredZero": {
			reason: "A group that is gone has no desired capacity, whatever was last known.",
			args:   Inputs{Asked: true, GroupGone: true, Desired: new(int32(0)), Instances: instances("running")},
			want:   want{state: "terminated", reasons: []string{"GroupNotFound"}},
		},
		"ReadFailedBeforeDesiredZero": {
			reason: "A desired capacity of 0 that was not read may be an old one.",
			args:   Inputs{Asked: true, Problem: throttled, Desired: new(int32(0))},
			want:   want{state: "unknown", reasons: []string{"Throttled"}},
		},
		"DesiredZeroBeforeMembers": {
			reason: "Members on their way out of a pool of 0 do not count.",
			args:   Inputs{Asked: true, Desired: new(int32(0)), Instances: instances("stopped", "running")},
			want:   want{state: "running", healthy: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := Of(tc.args)
			got := want{state: h.State, healthy: h.Healthy, reasons: h.Reasons}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if h.Message == "" {
				t.Errorf("\n%s\nOf(...): no message for a person", tc.reason)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   Inputs
		want   string
	}{
		"Gone":    {reason: "It names the group.", args: Inputs{Asked: true, GroupGone: true, GroupName: "mp-a"}, want: "Auto Scaling group mp-a not found"},
		"Zero":    {reason: "It says that nothing is to run.", args: Inputs{Asked: true, Desired: new(int32(0))}, want: "the group is scaled to zero"},
		"Waiting": {reason: "It says how many are to come.", args: Inputs{Asked: true, Desired: new(int32(3))}, want: "waiting for the first of 3 instances"},
		"WaitingUnknown": {
			reason: "It makes up no number.",
			args:   Inputs{Asked: true},
			want:   "waiting for the first instance",
		},
		"Running": {reason: "It says how many run of those desired.", args: Inputs{Asked: true, Desired: new(int32(2)), Instances: instances("running", "running")}, want: "2 of 2 instances running"},
		"Pending": {
			reason: "One that is pending does not run.",
			args:   Inputs{Asked: true, Desired: new(int32(3)), Instances: instances("running", "pending")},
			want:   "1 of 3 instances running",
		},
		"DesiredUnknown": {reason: "It makes up no desired capacity.", args: Inputs{Asked: true, Instances: instances("running", "pending")}, want: "1 of 2 instances running"},
		"Stopped": {
			reason: "It says which stop or stopped.",
			args:   Inputs{Asked: true, Desired: new(int32(4)), Instances: instances("running", "stopping", "stopped")},
			want:   "3 of 4 instances, not all running: InstanceStopped:i-1, InstanceStopped:i-2",
		},
		"NewState": {
			reason: "It says which are in a state that no one has heard of.",
			args:   Inputs{Asked: true, Desired: new(int32(1)), Instances: instances("hibernating")},
			want:   "1 of 1 instances, not all running: UnknownState:i-0",
		},
		"ReadFailed": {reason: "It is the read's own.", args: Inputs{Asked: true, Problem: throttled}, want: "autoscaling:DescribeAutoScalingGroups: throttled"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Of(tc.args).Message); diff != "" {
				t.Errorf("\n%s\nOf(...).Message: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestManyMembers holds a status of thousands of members to a size that etcd takes.
func TestManyMembers(t *testing.T) {
	states := slices.Repeat([]string{"pending"}, 3000)
	h := Of(Inputs{Asked: true, Desired: new(int32(3001)), Instances: instances(states...)})
	if want := "0 of 3001 instances running"; h.Message != want {
		t.Errorf("Of(...).Message: want %q, got %q", want, h.Message)
	}
	if want := 101; len(h.Reasons) != want {
		t.Fatalf("Of(...): want %d reasons, got %d", want, len(h.Reasons))
	}
	if got := h.Reasons[100]; got != "ScalingInProgress" {
		t.Errorf("Of(...): the last reason is %q, not ScalingInProgress", got)
	}
	if !slices.IsSorted(h.Reasons) {
		t.Errorf("Of(...): reasons are not sorted: %v", h.Reasons)
	}
}

func TestRunning(t *testing.T) {
	if got := Running(instances("running", "pending", "stopped", "stopping", "running", "hibernating")); got != 2 {
		t.Errorf("Running(...): want 2, got %d", got)
	}
	if got := Running(nil); got != 0 {
		t.Errorf("Running(...) of no one: want 0, got %d", got)
	}
}

// TestAlways holds what every health must be, whatever AWS says and in whatever order.
func TestAlways(t *testing.T) {
	states := []string{v1alpha1.HealthUnknown, v1alpha1.HealthPending, v1alpha1.HealthRunning, v1alpha1.HealthStopped, v1alpha1.HealthTerminated}
	rapid.Check(t, func(t *rapid.T) {
		in := Inputs{
			Asked:     rapid.Bool().Draw(t, "asked"),
			GroupGone: rapid.Bool().Draw(t, "gone"),
			Instances: instances(rapid.SliceOfN(rapid.SampledFrom([]string{"pending", "running", "stopping", "stopped", "other"}), 0, 5).Draw(t, "states")...),
		}
		if rapid.Bool().Draw(t, "desired known") {
			in.Desired = new(rapid.Int32Range(0, 5).Draw(t, "desired"))
		}
		if rapid.Bool().Draw(t, "failed") {
			in.Problem = throttled
		}
		before := slices.Clone(in.Instances)
		h := Of(in)
		if !slices.Contains(states, h.State) {
			t.Errorf("Of(...): state %q is none", h.State)
		}
		if h.Healthy == (len(h.Reasons) > 0) {
			t.Errorf("Of(...): healthy is %t with reasons %v", h.Healthy, h.Reasons)
		}
		if h.Healthy && h.State != v1alpha1.HealthRunning {
			t.Errorf("Of(...): healthy in state %s", h.State)
		}
		if !slices.IsSorted(h.Reasons) {
			t.Errorf("Of(...): reasons are not sorted: %v", h.Reasons)
		}
		for _, r := range h.Reasons {
			if prefix, id, found := strings.Cut(r, ":"); found && (!slices.Contains([]string{"InstanceStopped", "InstancePending", "UnknownState"}, prefix) || id == "") {
				t.Errorf("Of(...): reason %q is of no known form", r)
			}
		}
		slices.Reverse(in.Instances)
		if diff := cmp.Diff(h, Of(in)); diff != "" {
			t.Errorf("Of(...): the order of instances matters: -forwards, +backwards:\n%s", diff)
		}
		slices.Reverse(in.Instances)
		if diff := cmp.Diff(before, in.Instances); diff != "" {
			t.Errorf("Of(...): the instances changed: -before, +after:\n%s", diff)
		}
	})
}
