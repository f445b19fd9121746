package decision

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// inState puts an instance into a state, as EC2 has it.
func inState(n int, state string) change {
	return func(o *pool.Observation) { o.AWS.Instances.Value[n].State = state }
}

// lifecycle puts a member into a state, as its group has it.
func lifecycle(n int, state string) change {
	return func(o *pool.Observation) { o.AWS.Group.Value.Members[n].LifecycleState = state }
}

// lacking is an answer of EC2's without its last instance.
func lacking(o *pool.Observation) { o.AWS.Instances.Value = o.AWS.Instances.Value[:2] }

// launched adds a fourth member that the group wants.
func launched(o *pool.Observation) {
	o.AWS.Group.Value.DesiredCapacity = 4
	o.AWS.Group.Value.Members = append(o.AWS.Group.Value.Members, pool.GroupMember{InstanceID: "i-4", Zone: "us-east-1a", LifecycleState: "InService", LaunchTemplateID: "lt-current"})
	o.AWS.Instances.Value = append(o.AWS.Instances.Value, pool.Instance{ID: "i-4", Zone: "us-east-1a", State: "running"})
}

// TestGoneIsNotMissing holds what becomes of a pool whose members were listed before, all three of them.
func TestGoneIsNotMissing(t *testing.T) {
	type want struct {
		IDs           string
		Ready         int32
		State, Reason string
		Warnings      int
	}
	cases := map[string]struct {
		reason string
		after  []change
		want   want
	}{
		"StandbyTerminated": {
			reason: "A member that is terminated while it is set aside, which its group goes on listing, leaves; a new one enters.",
			after:  []change{lifecycle(0, "Standby"), inState(0, "terminated"), launched},
			want:   want{IDs: "i-2 i-3 i-4", Ready: 3, State: "running", Reason: "ScalingInProgress"},
		},
		"Reclaimed": {
			reason: "A Spot instance that is reclaimed is no failed read, and no warning.",
			after:  []change{inState(2, "shutting-down")},
			want:   want{IDs: "i-1 i-2", Ready: 2, State: "running", Reason: "ScalingInProgress"},
		},
		"Lacking": {
			reason: "An answer that lacks a member drops no one, and says so.",
			after:  []change{lacking},
			want:   want{IDs: "i-1 i-2 i-3", Ready: 3, State: "unknown", Reason: "PartialRead", Warnings: 1},
		},
		"LackingGrows": {
			reason: "But a new member enters.",
			after:  []change{lacking, launched},
			want:   want{IDs: "i-1 i-2 i-3 i-4", Ready: 4, State: "unknown", Reason: "PartialRead", Warnings: 1},
		},
		"LackingStopped": {
			reason: "And how many are ready is not as it was, where that is known.",
			after:  []change{lacking, inState(0, "stopped")},
			want:   want{IDs: "i-1 i-2 i-3", Ready: 2, State: "unknown", Reason: "PartialRead", Warnings: 1},
		},
		"LackingAndGone": {
			reason: "Nor does what is gone stay for what is lacking.",
			after:  []change{lacking, inState(0, "terminated")},
			want:   want{IDs: "i-2 i-3", Ready: 2, State: "unknown", Reason: "PartialRead", Warnings: 1},
		},
		"Draining": {
			reason: "A member that waits to be drained stays, although one answer lacks it.",
			after:  []change{lacking, lifecycle(2, "Terminating:Wait")},
			want:   want{IDs: "i-1 i-2 i-3", Ready: 3, State: "unknown", Reason: "PartialRead", Warnings: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := reported(readPool()), readPool(tc.after...)
			after.Conditions, after.Composite.Status = before.Conditions, before.Composite.Status
			d := Of(after)
			got := want{State: d.Status.Health.State, Reason: d.Status.Health.Reasons[0], Ready: *d.Status.ReadyReplicas}
			for _, id := range d.Status.ProviderIDList {
				got.IDs = strings.TrimSpace(got.IDs + " " + strings.TrimPrefix(id, "aws:///us-east-1a/"))
			}
			for _, e := range d.Events {
				if e.Warning {
					got.Warnings++
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPartialReadNamesWhoIsMissing holds that a person can look at the very instance.
func TestPartialReadNamesWhoIsMissing(t *testing.T) {
	if got := Of(readPool(lacking)).Status.Health.Message; !strings.HasSuffix(got, "that the group lists as its own: i-3") {
		t.Errorf("Of(...): health says %q", got)
	}
}

// TestRollNeedsTheGroupAlone holds that an answer of EC2's that lacks members, or fails, does not stop a roll: the group itself
// says which templates its members have.
func TestRollNeedsTheGroupAlone(t *testing.T) {
	denied := func(o *pool.Observation) {
		o.AWS.Instances = pool.Read[[]pool.Instance]{Asked: true, Err: &pool.ReadError{Reason: pool.ReadAccessDenied, Message: "denied"}}
	}
	type want struct {
		Phase, Reason string
		Old           bool
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"Lost":         {reason: "A lost roll is found.", args: rolled(lacking), want: want{"Lost", "RefreshNotStarted", true}},
		"Refreshing":   {reason: "One that goes on does.", args: rolled(lacking, lastRefresh("InProgress", "")), want: want{"Refreshing", "RefreshActive", true}},
		"Finished":     {reason: "One that is over ends, and its old template goes.", args: rolled(lacking, protect(), lastRefresh("Successful", "")), want: want{"Idle", "UpToDate", false}},
		"DeniedEC2":    {reason: "Whatever is wrong with EC2.", args: rolled(denied, protect(), lastRefresh("Successful", "")), want: want{"Idle", "UpToDate", false}},
		"StandbyEnded": {reason: "A member that is terminated is not one to replace.", args: rolled(protect("i-1"), lifecycle(0, "Standby"), inState(0, "terminated"), lastRefresh("Successful", "")), want: want{"Idle", "UpToDate", false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			got := want{Phase: d.Status.Rollout.Phase, Reason: conditionOf(t, d, v1alpha1.ConditionRollingOut).Reason, Old: hasTemplate(d, currentTemplate)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNoMemberTwice holds that a group which has lost all its members says so, and makes InfrastructureHealthy False, which the
// documented alert is on; one empty answer alone does not.
func TestNoMemberTwice(t *testing.T) {
	at := func(when time.Time) change {
		return func(o *pool.Observation) {
			o.AWS.Group.Value.Members, o.AWS.Instances.Value = nil, nil
			o.AWS.Group.At, o.AWS.Instances.At = when, when
		}
	}
	type want struct {
		Health, Reason string
		Condition      condition.Status
		Listed         int
		Ready          int32
		Phase          string
	}
	runs := []struct {
		reason string
		read   change
		want   want
	}{
		{"a whole reading", func(*pool.Observation) {}, want{"running", "", condition.True, 3, 3, "Idle"}},
		{"the first empty one", at(readAt), want{"unknown", "PartialRead", condition.Unknown, 3, 3, "Idle"}},
		{"the same one again", at(readAt), want{"unknown", "PartialRead", condition.Unknown, 3, 3, "Idle"}},
		{"a later one", at(readAt.Add(8 * time.Second)), want{"pending", "NoMembers", condition.False, 0, 0, "Idle"}},
		{"one after it", at(readAt.Add(16 * time.Second)), want{"pending", "NoMembers", condition.False, 0, 0, "Idle"}},
	}
	last := readPool()
	for _, run := range runs {
		o := readPool(run.read)
		o.Composite.Status, o.Conditions = last.Composite.Status, last.Conditions
		d := Of(o)
		c := conditionOf(t, d, v1alpha1.ConditionInfrastructureHealthy)
		got := want{Health: d.Status.Health.State, Condition: c.Status, Listed: len(d.Status.ProviderIDList), Ready: *d.Status.ReadyReplicas, Phase: d.Status.Rollout.Phase}
		if len(d.Status.Health.Reasons) > 0 {
			got.Reason = d.Status.Health.Reasons[0]
		}
		if diff := cmp.Diff(run.want, got); diff != "" {
			t.Errorf("Of(%s): -want, +got:\n%s", run.reason, diff)
		}
		last = reported(o)
	}
	if got := last.Composite.Status.DoubtedReading; got != "" {
		t.Errorf("a pool that is known to have no member remembers %s", got)
	}
}

// TestStandbyIsNoScaling holds that a member which is set aside makes the pool neither grow nor shrink.
func TestStandbyIsNoScaling(t *testing.T) {
	desired := func(n int32) change { return func(o *pool.Observation) { o.AWS.Group.Value.DesiredCapacity = n } }
	cases := map[string]struct {
		reason   string
		args     *pool.Observation
		up, down condition.Status
		says     string
	}{
		"Decremented": {
			reason: "A member that was set aside with one desired less.",
			args:   readPool(lifecycle(0, "Standby"), desired(2)), up: condition.False, down: condition.False, says: "2 members and 1 in Standby, 2 desired",
		},
		"Replaced": {
			reason: "One that Auto Scaling launches another for.",
			args:   readPool(lifecycle(0, "Standby")), up: condition.True, down: condition.False, says: "2 members and 1 in Standby, 3 desired",
		},
		"Shrinking": {
			reason: "A member too many.",
			args:   readPool(desired(2)), up: condition.False, down: condition.True, says: "3 members, 2 desired",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			up, down := conditionOf(t, d, v1alpha1.ConditionScalingUp), conditionOf(t, d, v1alpha1.ConditionScalingDown)
			if up.Status != tc.up || down.Status != tc.down || down.Message != tc.says {
				t.Errorf("\n%s\nOf(...): ScalingUp %s, ScalingDown %s: %s", tc.reason, up.Status, down.Status, down.Message)
			}
		})
	}
}
