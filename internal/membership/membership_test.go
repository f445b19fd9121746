package membership

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

const zone = "us-east-1a"

var (
	throttled = &pool.ReadError{Reason: pool.ReadThrottled, Message: "throttled"}
	denied    = &pool.ReadError{Reason: pool.ReadAccessDenied, Message: "denied"}
)

// readAt is when AWS was read.
var readAt = time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)

func known[T any](v T) pool.Read[T] { return pool.Read[T]{Asked: true, Value: v, At: readAt} }

func failed[T any](err *pool.ReadError) pool.Read[T] { return pool.Read[T]{Asked: true, Err: err} }

// reading of a group whose members have the given lifecycle states by id, and of instances that run.
func reading(members map[string]string, running ...string) pool.Reading {
	g := &pool.Group{Name: "mp-a"}
	for id, state := range members {
		g.Members = append(g.Members, pool.GroupMember{InstanceID: id, Zone: zone, LifecycleState: state})
	}
	return pool.Reading{Group: known(g), Instances: known(instances("running", running...))}
}

func instances(state string, ids ...string) []pool.Instance {
	var out []pool.Instance
	for _, id := range ids {
		out = append(out, pool.Instance{ID: id, Zone: zone, State: state})
	}
	return out
}

func providerIDs(ids ...string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, "aws:///us-east-1a/"+id)
	}
	return out
}

func TestOf(t *testing.T) {
	type args struct {
		reading pool.Reading
		last    []string
		doubted time.Time
		message string
	}
	const noMember = "AWS lists no member of a group that had %d and wants %d: not believed until a later reading says the same"
	lacking := func(missing ...string) string {
		return fmt.Sprintf("ec2:DescribeInstances lacks %d instances that the group lists as its own: %s", len(missing), strings.Join(missing, ", "))
	}
	lacks := func(listed []pool.Instance, missing ...string) Members {
		return Members{Instances: listed, Doubted: readAt, Problem: &pool.ReadError{Reason: pool.ReadPartial, Message: lacking(missing...)}}
	}
	gone := func(m Members, ids ...string) Members {
		m.Gone = map[string]bool{}
		for _, id := range ids {
			m.Gone[id] = true
		}
		return m
	}
	doubts := func(at time.Time, had, wants int) Members {
		return Members{Empty: true, Doubted: at, Problem: &pool.ReadError{Reason: pool.ReadPartial, Message: fmt.Sprintf(noMember, had, wants)}}
	}
	cases := map[string]struct {
		reason string
		args   args
		want   Members
	}{
		"NotAsked": {
			reason: "Where no one asked, nothing is known and nothing wrong.",
			args:   args{last: providerIDs("i-1")},
		},
		"InstancesNotAsked": {
			reason: "A group alone says nothing of what EC2 has.",
			args:   args{reading: pool.Reading{Group: known(&pool.Group{})}, last: providerIDs("i-1")},
		},
		"GroupFailed": {
			reason: "A read of the group that failed says why.",
			args:   args{reading: pool.Reading{Group: failed[*pool.Group](throttled), Instances: known(instances("running", "i-1"))}, last: providerIDs("i-1", "i-2")},
			want:   Members{Problem: throttled},
		},
		"InstancesFailed": {
			reason: "A read of the instances that failed says why.",
			args:   args{reading: pool.Reading{Group: known(&pool.Group{}), Instances: failed[[]pool.Instance](denied)}, last: providerIDs("i-1")},
			want:   Members{Problem: denied},
		},
		"BothFailed": {
			reason: "Of two reads that failed the group's is told.",
			args:   args{reading: pool.Reading{Group: failed[*pool.Group](throttled), Instances: failed[[]pool.Instance](denied)}},
			want:   Members{Problem: throttled},
		},
		"Whole": {
			reason: "Two reads that agree are the members.",
			args:   args{reading: reading(map[string]string{"i-1": "InService", "i-2": "InService"}, "i-1", "i-2")},
			want:   Members{Known: true, Instances: instances("running", "i-1", "i-2")},
		},
		"EveryStateSorted": {
			reason: "Every state is a member's, a stopped one's too, and provider ids sort them: by zone, then by id.",
			args: args{reading: pool.Reading{
				Group: known(&pool.Group{}),
				Instances: known([]pool.Instance{
					{ID: "i-1", Zone: "us-east-1b", State: "running"},
					{ID: "i-4", Zone: "us-east-1a", State: "stopped"},
					{ID: "i-2", Zone: "us-east-1b", State: "pending"},
					{ID: "i-3", Zone: "us-east-1a", State: "stopping"},
				}),
			}},
			want: Members{Known: true, Instances: []pool.Instance{
				{ID: "i-3", Zone: "us-east-1a", State: "stopping"},
				{ID: "i-4", Zone: "us-east-1a", State: "stopped"},
				{ID: "i-1", Zone: "us-east-1b", State: "running"},
				{ID: "i-2", Zone: "us-east-1b", State: "pending"},
			}},
		},
		"ZoneLeft": {
			reason: "An instance in a zone that the pool has left is a member as long as it is there.",
			args: args{reading: pool.Reading{
				Group:     known(&pool.Group{Members: []pool.GroupMember{{InstanceID: "i-1", Zone: "us-east-1f", LifecycleState: "InService"}}}),
				Instances: known([]pool.Instance{{ID: "i-1", Zone: "us-east-1f", State: "running"}}),
			}},
			want: Members{Known: true, Instances: []pool.Instance{{ID: "i-1", Zone: "us-east-1f", State: "running"}}},
		},
		"Terminated": {
			reason: "A member that terminated is none, however the group lists it: EC2 says so, and does not lack it.",
			args: args{
				reading: ended(reading(map[string]string{
					"i-1": "InService", "i-2": "Terminating", "i-3": "InService", "i-4": "Terminated", "i-5": "Standby", "i-6": "Pending:Wait",
				}, "i-1"), "i-2", "i-3", "i-4", "i-5", "i-6"),
				last: providerIDs("i-1", "i-2", "i-3", "i-4", "i-5", "i-6"),
			},
			want: gone(Members{Known: true, Instances: instances("running", "i-1")}, "i-2", "i-3", "i-4", "i-5", "i-6"),
		},
		"Reclaimed": {
			reason: "A Spot instance that is reclaimed is gone some minutes before the group knows, and no reading failed.",
			args: args{
				reading: pool.Reading{
					Group: known(&pool.Group{Members: []pool.GroupMember{
						{InstanceID: "i-1", Zone: zone, LifecycleState: "InService"}, {InstanceID: "i-2", Zone: zone, LifecycleState: "InService"},
					}}),
					Instances: known(append(instances("shutting-down", "i-1"), instances("running", "i-2")...)),
				},
				last: providerIDs("i-1", "i-2"),
			},
			want: gone(Members{Known: true, Instances: instances("running", "i-2")}, "i-1"),
		},
		"StandbyForgotten": {
			reason: "One that was terminated while it was set aside is not expected for ever: EC2 forgets it after an hour, the group never does.",
			args:   args{reading: reading(map[string]string{"i-1": "InService", "i-2": "Standby"}, "i-1"), last: providerIDs("i-1")},
			want:   gone(Members{Known: true, Instances: instances("running", "i-1")}, "i-2"),
		},
		"TerminatingLacked": {
			reason: "A member that waits to be drained stays, although one answer lacks it: its Node has Pods still.",
			args: args{
				reading: reading(map[string]string{"i-1": "InService", "i-2": "Terminating:Wait"}, "i-1"),
				last:    providerIDs("i-1", "i-2"),
			},
			want: lacks(instances("running", "i-1"), "i-2"),
		},
		"LackedForAnHour": {
			reason: "An instance that EC2 has lacked for an hour was terminated while no one looked: EC2 would list one that lives.",
			args: args{
				reading: reading(map[string]string{"i-1": "InService", "i-2": "Standby"}, "i-1"),
				last:    providerIDs("i-1", "i-2"), doubted: readAt.Add(-time.Hour), message: lacking("i-2"),
			},
			want: gone(Members{Known: true, Instances: instances("running", "i-1")}, "i-2"),
		},
		"InServiceLackedForAnHour": {
			reason: "But one in service is checked by Auto Scaling, which lists it: an answer that lacks it is wrong, however long.",
			args: args{
				reading: reading(map[string]string{"i-1": "InService", "i-2": "InService"}, "i-1"),
				last:    providerIDs("i-1", "i-2"), doubted: readAt.Add(-2 * time.Hour), message: lacking("i-2"),
			},
			want: func() Members {
				m := lacks(instances("running", "i-1"), "i-2")
				m.Doubted = readAt.Add(-2 * time.Hour)
				return m
			}(),
		},
		"AnotherLackedForAnHour": {
			reason: "The hour is that of the very instance.",
			args: args{
				reading: reading(map[string]string{"i-1": "InService", "i-2": "Standby"}, "i-1"),
				last:    providerIDs("i-1", "i-2"), doubted: readAt.Add(-time.Hour), message: lacking("i-9"),
			},
			want: lacks(instances("running", "i-1"), "i-2"),
		},
		"LackedForLess": {
			reason: "Within the hour its Node stays.",
			args: args{
				reading: reading(map[string]string{"i-1": "InService", "i-2": "Standby"}, "i-1"),
				last:    providerIDs("i-1", "i-2"), doubted: readAt.Add(-59 * time.Minute), message: lacking("i-2") + "; status.instances lists the first 1000 of 5000",
			},
			want: func() Members {
				m := lacks(instances("running", "i-1"), "i-2")
				m.Doubted = readAt.Add(-59 * time.Minute)
				return m
			}(),
		},
		"TerminatingNeverListed": {
			reason: "One that was never listed has nothing to lose.",
			args:   args{reading: reading(map[string]string{"i-1": "InService", "i-2": "Terminating:Wait"}, "i-1"), last: providerIDs("i-1")},
			want:   Members{Known: true, Instances: instances("running", "i-1")},
		},
		"TerminatingStillThere": {
			reason: "A member on its way out is one until it has gone.",
			args:   args{reading: reading(map[string]string{"i-1": "InService", "i-2": "Terminating:Wait"}, "i-1", "i-2")},
			want:   Members{Known: true, Instances: instances("running", "i-1", "i-2")},
		},
		"Detached": {
			reason: "A member that was detached may leave.",
			args: args{
				reading: reading(map[string]string{"i-1": "InService", "i-2": "Detaching", "i-3": "Detached"}, "i-1"),
				last:    providerIDs("i-1", "i-2", "i-3"),
			},
			want: Members{Known: true, Instances: instances("running", "i-1")},
		},
		"NotVisibleYet": {
			reason: "A new instance that EC2 does not list yet is no contradiction.",
			args: args{
				reading: reading(map[string]string{"i-1": "InService", "i-2": "Pending", "i-3": "Pending:Wait", "i-4": "Pending:Proceed"}, "i-1"),
				last:    providerIDs("i-1"),
			},
			want: Members{Known: true, Instances: instances("running", "i-1")},
		},
		"PendingSeenBefore": {
			reason: "An instance that waits for a hook and was listed before has a Node that must not go.",
			args: args{
				reading: reading(map[string]string{"i-1": "InService", "i-2": "Pending:Wait"}, "i-1"),
				last:    providerIDs("i-1", "i-2"),
			},
			want: lacks(instances("running", "i-1"), "i-2"),
		},
		"Shorter": {
			reason: "An answer that lacks members that the group lists is not trusted, however they live.",
			args: args{reading: reading(map[string]string{
				"i-1": "InService", "i-2": "InService", "i-3": "Standby", "i-4": "EnteringStandby", "i-5": "Quarantined",
			}, "i-1"), last: providerIDs("i-3", "i-4")},
			want: lacks(instances("running", "i-1"), "i-2", "i-3", "i-4", "i-5"),
		},
		"ShorterByMany": {
			reason: "The message names the first ten.",
			args:   args{reading: reading(inService(12))},
			want: Members{Doubted: readAt, Problem: &pool.ReadError{Reason: pool.ReadPartial, Message: "ec2:DescribeInstances lacks 12 instances that the group lists as its own: " +
				"i-01, i-02, i-03, i-04, i-05, i-06, i-07, i-08, i-09, i-10 and 2 more"}},
		},
		"Empty": {
			reason: "An empty answer is not trusted while the group lists members.",
			args:   args{reading: reading(map[string]string{"i-1": "InService"}), last: providerIDs("i-1")},
			want:   lacks(nil, "i-1"),
		},
		"ScaledToZero": {
			reason: "An empty answer is trusted when the group lists no one either.",
			args:   args{reading: reading(nil), last: providerIDs("i-1")},
			want:   Members{Known: true},
		},
		"NotListedByGroup": {
			reason: "An instance that bears the group's tag is a member, whether the group lists it or not.",
			args:   args{reading: reading(map[string]string{"i-1": "InService"}, "i-1", "i-2")},
			want:   Members{Known: true, Instances: instances("running", "i-1", "i-2")},
		},
		"GroupGoneWithInstances": {
			reason: "Instances outlive a group that was deleted with force, for a while.",
			args:   args{reading: pool.Reading{Group: known[*pool.Group](nil), Instances: known(instances("running", "i-2", "i-1"))}, last: providerIDs("i-1", "i-2")},
			want:   Members{Known: true, Instances: instances("running", "i-1", "i-2")},
		},
		"GroupGoneWithout": {
			reason: "No group and no instance where there were some is also what another account would answer.",
			args:   args{reading: pool.Reading{Group: known[*pool.Group](nil), Instances: known[[]pool.Instance](nil)}, last: providerIDs("i-1")},
		},
		"EmptyOfAll": {
			reason: "An empty answer where members were known is not trusted even if the group lists none, while it wants some.",
			args:   args{reading: wanting(3, reading(nil)), last: providerIDs("i-1", "i-2")},
			want:   doubts(readAt, 2, 3),
		},
		"EmptyAgain": {
			reason: "The same answer again is no other one.",
			args:   args{reading: wanting(3, reading(nil)), last: providerIDs("i-1", "i-2"), doubted: readAt, message: fmt.Sprintf(noMember, 2, 3)},
			want:   doubts(readAt, 2, 3),
		},
		"EmptyTwice": {
			reason: "A later one that says the same is believed: such a pool has no member.",
			args:   args{reading: wanting(3, reading(nil)), last: providerIDs("i-1", "i-2"), doubted: readAt.Add(-time.Minute), message: fmt.Sprintf(noMember, 2, 3)},
			want:   Members{Known: true},
		},
		"EmptyHalf": {
			reason: "Each part must be another one.",
			args:   args{reading: instancesAt(readAt.Add(-time.Hour), wanting(3, reading(nil))), last: providerIDs("i-1", "i-2"), doubted: readAt.Add(-time.Minute), message: fmt.Sprintf(noMember, 2, 3)},
			want:   doubts(readAt.Add(-time.Minute), 2, 3),
		},
		"EmptyAndGone": {
			reason: "That EC2 says of a member that it is gone needs no second reading.",
			args:   args{reading: ended(wanting(3, reading(nil)), "i-1", "i-2"), last: providerIDs("i-1", "i-2")},
			want:   gone(Members{Known: true}, "i-1", "i-2"),
		},
		"EmptyAtFirst": {
			reason: "A group that never had a member has none.",
			args:   args{reading: wanting(3, reading(nil))},
			want:   Members{Known: true},
		},
		"GroupGoneAllEnded": {
			reason: "Members that EC2 says are terminated are accounted for.",
			args:   args{reading: pool.Reading{Group: known[*pool.Group](nil), Instances: known(instances("terminated", "i-1", "i-2"))}, last: providerIDs("i-1", "i-2")},
			want:   gone(Members{Known: true}, "i-1", "i-2"),
		},
		"GroupGoneWithSome": {
			reason: "Without a group there is nothing to hold EC2's list against, so it may not be shorter than what was known.",
			args:   args{reading: pool.Reading{Group: known[*pool.Group](nil), Instances: known(instances("running", "i-1"))}, last: providerIDs("i-1", "i-2", "i-3")},
		},
		"NoGroupYet": {
			reason: "No group and no instance is how a pool begins.",
			args:   args{reading: pool.Reading{Group: known[*pool.Group](nil), Instances: known[[]pool.Instance](nil)}},
			want:   Members{Known: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tc.args.reading.Instances.Value)
			got := Of(tc.args.reading, Last{ProviderIDs: tc.args.last, Doubted: tc.args.doubted, Message: tc.args.message})
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.args.reading.Instances.Value); diff != "" {
				t.Errorf("\n%s\nOf(...) sorted the reading in place: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNeverShortensWrongly holds fail static for every reading: an id leaves the list only when all reads are whole and
// the group does not count on it.
func TestNeverShortensWrongly(t *testing.T) {
	lifecycles := []string{"", "Pending", "Pending:Wait", "InService", "Standby", "EnteringStandby", "Quarantined", "Terminating", "Terminating:Wait", "Detaching", "SomethingNew"}
	rapid.Check(t, func(t *rapid.T) {
		var (
			g    = &pool.Group{}
			r    pool.Reading
			last []string
			// ended instances, as EC2 says.
			ended = map[string]bool{}
		)
		for i := range rapid.IntRange(0, 5).Draw(t, "instances") {
			id := fmt.Sprintf("i-%d", i)
			if l := rapid.SampledFrom(lifecycles).Draw(t, "lifecycle"); l != "" {
				g.Members = append(g.Members, pool.GroupMember{InstanceID: id, Zone: zone, LifecycleState: l})
			}
			if state := rapid.SampledFrom([]string{"", "running", "shutting-down", "terminated"}).Draw(t, "in EC2"); state != "" {
				r.Instances.Value = append(r.Instances.Value, pool.Instance{ID: id, Zone: zone, State: state})
				ended[id] = state != "running"
			}
			if rapid.Bool().Draw(t, "known") {
				last = append(last, ProviderID(zone, id))
			}
		}
		r.Group.Asked, r.Instances.Asked = rapid.Bool().Draw(t, "group asked"), rapid.Bool().Draw(t, "instances asked")
		if rapid.Bool().Draw(t, "group there") {
			r.Group.Value = g
		}
		if rapid.IntRange(0, 4).Draw(t, "group fails") == 0 {
			r.Group.Err = throttled
		}
		if rapid.IntRange(0, 4).Draw(t, "instances fail") == 0 {
			r.Instances.Err = denied
		}

		m := Of(r, Last{ProviderIDs: last})
		if m.Known && (m.Problem != nil || !r.Group.Known() || !r.Instances.Known()) {
			t.Fatalf("Of(%+v): known, with problem %+v", r, m.Problem)
		}
		ids := ProviderIDs(m.Instances)
		if !m.Known {
			ids = Updated(last, nil, m)
		}
		if !slices.IsSorted(ids) {
			t.Errorf("Of(%+v): %v is not sorted", r, ids)
		}
		for _, id := range last {
			if leaves := !slices.Contains(ids, id); !m.Known && leaves && !ended[instanceID(id)] {
				t.Errorf("Of(%+v): %s left the list, which nothing is known of", r, id)
			}
		}
		for _, member := range g.Members {
			id := ProviderID(member.Zone, member.InstanceID)
			if r.Group.Value != nil && slices.Contains(last, id) && !slices.Contains(ids, id) && !ended[member.InstanceID] && !hasState(member, "Detach") {
				t.Errorf("Of(%+v): %s in state %s left the list", r, id, member.LifecycleState)
			}
		}
	})
}

func TestMemberStates(t *testing.T) {
	type want struct {
		leaving, standby bool
	}
	cases := map[string]want{
		"Pending":                 {},
		"Pending:Wait":            {},
		"InService":               {},
		"Quarantined":             {},
		"Terminating":             {leaving: true},
		"Terminating:Wait":        {leaving: true},
		"Terminating:Proceed":     {leaving: true},
		"Terminating:Retained":    {leaving: true},
		"Terminated":              {leaving: true},
		"Detaching":               {leaving: true},
		"Detached":                {leaving: true},
		"EnteringStandby":         {standby: true},
		"Standby":                 {standby: true},
		"SomethingStandbySounded": {},
		"":                        {},
	}
	for state, w := range cases {
		t.Run(state, func(t *testing.T) {
			m := pool.GroupMember{LifecycleState: state}
			if got := (want{leaving: IsLeaving(m), standby: IsStandby(m)}); got != w {
				t.Errorf("IsLeaving, IsStandby of %q: want %+v, got %+v", state, w, got)
			}
		})
	}
}

func TestProviderID(t *testing.T) {
	if got, want := ProviderID("us-east-1a", "i-0aaa"), "aws:///us-east-1a/i-0aaa"; got != want {
		t.Errorf("ProviderID(...): want %q, got %q", want, got)
	}
}

func TestStatuses(t *testing.T) {
	type args struct {
		instances  []pool.Instance
		group      *pool.Group
		templateID string
	}
	group := &pool.Group{Members: []pool.GroupMember{
		{InstanceID: "i-new", LaunchTemplateID: "lt-new"},
		{InstanceID: "i-old", LaunchTemplateID: "lt-old"},
	}}
	cases := map[string]struct {
		reason string
		args   args
		want   []v1alpha1.Instance
	}{
		"None": {
			reason: "No member is an empty list.",
			args:   args{group: group, templateID: "lt-new"},
			want:   []v1alpha1.Instance{},
		},
		"UpToDate": {
			reason: "A member is up to date when it was launched from the group's template.",
			args: args{
				instances: []pool.Instance{
					{ID: "i-new", Zone: "us-east-1a", State: "running", InternalIPs: []string{"10.0.0.1"}},
					{ID: "i-old", Zone: "us-east-1b", State: "stopped", InternalIPs: []string{"10.0.0.2", "fd00::2"}},
				},
				group: group, templateID: "lt-new",
			},
			want: []v1alpha1.Instance{
				{
					ProviderID: "aws:///us-east-1a/i-new", InstanceID: "i-new", FailureDomain: "us-east-1a", State: "running", UpToDate: new(true),
					Addresses: []v1alpha1.Address{{Type: "InternalIP", Address: "10.0.0.1"}},
				},
				{
					ProviderID: "aws:///us-east-1b/i-old", InstanceID: "i-old", FailureDomain: "us-east-1b", State: "stopped", UpToDate: new(false),
					Addresses: []v1alpha1.Address{{Type: "InternalIP", Address: "10.0.0.2"}, {Type: "InternalIP", Address: "fd00::2"}},
				},
			},
		},
		"AddressesUnknown": {
			reason: "Addresses that are not known are left out.",
			args:   args{instances: instances("pending", "i-new"), group: group, templateID: "lt-new"},
			want:   []v1alpha1.Instance{{ProviderID: "aws:///us-east-1a/i-new", InstanceID: "i-new", FailureDomain: zone, State: "pending", UpToDate: new(true)}},
		},
		"NotListed": {
			reason: "Which template an instance came from is not known when the group does not list it.",
			args:   args{instances: instances("running", "i-other"), group: group, templateID: "lt-new"},
			want:   []v1alpha1.Instance{{ProviderID: "aws:///us-east-1a/i-other", InstanceID: "i-other", FailureDomain: zone, State: "running"}},
		},
		"GroupGone": {
			reason: "Nor when there is no group.",
			args:   args{instances: instances("running", "i-new"), templateID: "lt-new"},
			want:   []v1alpha1.Instance{{ProviderID: "aws:///us-east-1a/i-new", InstanceID: "i-new", FailureDomain: zone, State: "running"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Statuses(tc.args.instances, tc.args.group, tc.args.templateID)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nStatuses(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCut holds that a list of instances is cut at 1,000 and says so, while that of provider ids never is.
func TestCut(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   int
		want   string
	}{
		"Few":  {reason: "A short list is whole.", args: 3},
		"Fit":  {reason: "1,000 fit.", args: 1000},
		"Over": {reason: "The 1,001st does not.", args: 1001, want: "; status.instances lists the first 1000 of 1001"},
		"Many": {reason: "Many do not.", args: 5000, want: "; status.instances lists the first 1000 of 5000"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := pool.Reading{Group: known(&pool.Group{})}
			r.Instances = known(make([]pool.Instance, 0, tc.args))
			for i := range tc.args {
				r.Instances.Value = append(r.Instances.Value, pool.Instance{ID: fmt.Sprintf("i-%04d", tc.args-1-i), Zone: zone, State: "running"})
			}
			m := Of(r, Last{})
			if got := len(ProviderIDs(m.Instances)); got != tc.args {
				t.Errorf("\n%s\nProviderIDs(...): want %d, got %d", tc.reason, tc.args, got)
			}
			statuses := Statuses(m.Instances, r.Group.Value, "lt-new")
			if want := min(tc.args, 1000); len(statuses) != want {
				t.Fatalf("\n%s\nStatuses(...): want %d, got %d", tc.reason, want, len(statuses))
			}
			if got := statuses[0].InstanceID; got != "i-0000" {
				t.Errorf("\n%s\nStatuses(...): the first is %s, not i-0000", tc.reason, got)
			}
			if got := CutNote(tc.args); got != tc.want {
				t.Errorf("\n%s\nCutNote(%d): want %q, got %q", tc.reason, tc.args, tc.want, got)
			}
		})
	}
}

// ended adds instances that are terminated to a reading.
func ended(r pool.Reading, ids ...string) pool.Reading {
	r.Instances.Value = append(r.Instances.Value, instances("terminated", ids...)...)
	return r
}

func instancesAt(at time.Time, r pool.Reading) pool.Reading {
	r.Instances.At = at
	return r
}

// inService are so many members.
func inService(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprintf("i-%02d", i+1)] = "InService"
	}
	return out
}

// wanting is a reading of a group of that desired capacity.
func wanting(desired int32, r pool.Reading) pool.Reading {
	r.Group.Value.DesiredCapacity = desired
	return r
}

// TestUpdated holds that a reading which is not trusted to shorten a list adds to it, and takes off what is known to be gone.
func TestUpdated(t *testing.T) {
	upToDate, outdated := true, false
	status := func(id, state string, upToDate *bool) v1alpha1.Instance {
		return v1alpha1.Instance{ProviderID: ProviderID(zone, id), InstanceID: id, FailureDomain: zone, State: state, UpToDate: upToDate}
	}
	shown := status("i-2", "running", &upToDate)
	group := &pool.Group{Members: []pool.GroupMember{{InstanceID: "i-1", LaunchTemplateID: "lt-old"}, {InstanceID: "i-2", LaunchTemplateID: "lt-new"}}}
	cases := map[string]struct {
		reason  string
		list    []v1alpha1.Instance
		earlier []pool.Instance
		members Members
		want    []v1alpha1.Instance
	}{
		"Nothing":    {reason: "What the status shows stays.", list: []v1alpha1.Instance{shown}, want: []v1alpha1.Instance{shown}},
		"Same":       {reason: "What it shows already is not there twice.", list: []v1alpha1.Instance{shown}, earlier: instances("running", "i-2"), want: []v1alpha1.Instance{shown}},
		"StatusLost": {reason: "A status from before the members is completed.", earlier: instances("running", "i-1", "i-2"), want: []v1alpha1.Instance{status("i-1", "running", nil), status("i-2", "running", nil)}},
		"Both":       {reason: "Each has what the other lacks.", list: []v1alpha1.Instance{shown}, earlier: instances("running", "i-3", "i-1"), want: []v1alpha1.Instance{status("i-1", "running", nil), shown, status("i-3", "running", nil)}},
		"EarlierEnd": {reason: "What had ended a while ago is no member.", list: []v1alpha1.Instance{shown}, earlier: instances("terminated", "i-1"), want: []v1alpha1.Instance{shown}},
		"Grows": {
			reason: "A new member enters, and what is listed is as it is now.", list: []v1alpha1.Instance{shown},
			members: Members{Instances: instances("stopped", "i-1", "i-2")},
			want:    []v1alpha1.Instance{status("i-1", "stopped", &outdated), status("i-2", "stopped", &upToDate)},
		},
		"Gone": {
			reason: "A member that is gone leaves.", list: []v1alpha1.Instance{shown, status("i-3", "running", nil)},
			members: Members{Gone: map[string]bool{"i-2": true}},
			want:    []v1alpha1.Instance{status("i-3", "running", nil)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var ids, want []string
			for _, i := range tc.list {
				ids = append(ids, i.ProviderID)
			}
			for _, i := range tc.want {
				want = append(want, i.ProviderID)
			}
			if diff := cmp.Diff(tc.want, UpdatedStatuses(tc.list, tc.earlier, tc.members, group, "lt-new")); diff != "" {
				t.Errorf("\n%s\nUpdatedStatuses(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(want, Updated(ids, tc.earlier, tc.members)); diff != "" {
				t.Errorf("\n%s\nUpdated(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLastKnown holds that of what a reading lacks the last is known.
func TestLastKnown(t *testing.T) {
	statuses := Statuses(instances("running", "i-1", "i-2", "i-3"), nil, "")
	m := Members{Instances: instances("stopped", "i-1"), Gone: map[string]bool{"i-3": true}}
	want := append(instances("stopped", "i-1"), instances("running", "i-2")...)
	if diff := cmp.Diff(want, LastKnown(statuses, m)); diff != "" {
		t.Errorf("LastKnown(...): -want, +got:\n%s", diff)
	}
}

// TestCountStandby holds that a member which is set aside is counted while it is there.
func TestCountStandby(t *testing.T) {
	g := reading(map[string]string{"i-1": "InService", "i-2": "Standby", "i-3": "EnteringStandby", "i-4": "Standby"}).Group.Value
	if got := CountStandby(instances("running", "i-1", "i-2", "i-3"), g); got != 2 {
		t.Errorf("CountStandby(...): want 2, got %d", got)
	}
	if got := CountStandby(instances("running", "i-1"), nil); got != 0 {
		t.Errorf("CountStandby(...) of no group: want 0, got %d", got)
	}
}

// TestMoreThanAStatusHolds holds that a list which a status has no room for is no reading: cut, it would cost members their
// Nodes, and whole, the API server would refuse the status in every run.
func TestMoreThanAStatusHolds(t *testing.T) {
	many := func(n int) []pool.Instance {
		all := make([]pool.Instance, 0, n)
		for i := range n {
			all = append(all, pool.Instance{ID: fmt.Sprintf("i-%05d", i), Zone: zone, State: "running"})
		}
		return all
	}
	partial := func(message string) Members {
		return Members{Problem: &pool.ReadError{Reason: pool.ReadPartial, Message: message}}
	}
	cases := map[string]struct {
		reason string
		args   []pool.Instance
		want   Members
	}{
		"Fits": {
			reason: "5,000 members fit.",
			args:   many(5000),
			want:   Members{Known: true, Instances: many(5000), Gone: map[string]bool{}},
		},
		"TooMany": {
			reason: "One more does not.",
			args:   many(5001),
			want:   partial("ec2:DescribeInstances returned 5001 instances, status.providerIDList has room for 5000"),
		},
		"LongID": {
			reason: "An id that the status has no room for is none of EC2's, and the message does not repeat it.",
			args:   append(many(1), pool.Instance{ID: strings.Repeat("i", 128), Zone: zone}),
			want:   partial("ec2:DescribeInstances returned an instance whose zone and id take more than 128 characters: it is none of EC2's"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := pool.Reading{Group: known(&pool.Group{}), Instances: known(tc.args)}
			if diff := cmp.Diff(tc.want, Of(r, Last{})); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("Earlier", func(t *testing.T) {
		shown := providerIDs("i-shown")
		for _, earlier := range [][]pool.Instance{many(5000), many(5001), {{ID: strings.Repeat("i", 128), Zone: zone}}} {
			if diff := cmp.Diff(shown, Updated(shown, earlier, Members{})); diff != "" {
				t.Errorf("Updated(...): what the status shows must stay when there is no room for more: -want, +got:\n%s", diff)
			}
		}
		if got := len(Updated(shown, many(4999), Members{})); got != 5000 {
			t.Errorf("Updated(...): want 5,000 ids where there is room for them, got %d", got)
		}
	})
}
