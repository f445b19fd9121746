package decision

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// lastKnown is a status that an earlier run left and that no reading would give.
func lastKnown(o *pool.Observation) {
	o.Composite.Status = v1alpha1.MachinePoolStatus{
		ProviderIDList:   []string{"aws:///us-east-1a/i-1", "aws:///us-east-1a/i-9"},
		Replicas:         new(int32(7)),
		ProviderID:       groupARN,
		Instances:        []v1alpha1.Instance{{ProviderID: "aws:///us-east-1a/i-1", InstanceID: "i-1"}, {ProviderID: "aws:///us-east-1a/i-9", InstanceID: "i-9"}},
		ImageID:          "ami-last",
		LaunchTemplateID: "lt-current",
		Ready:            true,
		Rollout:          &v1alpha1.RolloutStatus{RollKey: currentKey, Phase: "Idle"},
	}
}

func groupGoneInAWS(o *pool.Observation) {
	o.AWS.Group = pool.Read[*pool.Group]{Asked: true}
	o.AWS.Instances = pool.Read[[]pool.Instance]{Asked: true}
}

// TestGroupNotYet holds that a reading from before the provider saw a new pool's group does not make it a lost one.
func TestGroupNotYet(t *testing.T) {
	for name, tc := range map[string]struct {
		seen time.Time
		want string
	}{
		"Before": {seen: readAt.Add(time.Second), want: "NoMembers"},
		"After":  {seen: readAt.Add(-time.Second), want: "GroupNotFound"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Of(readPool(groupGoneInAWS, func(o *pool.Observation) {
				o.AWS.Group.At, o.Managed.Group.AvailableSince = readAt, tc.seen
			}))
			if got := d.Status.Health.Reasons; !slices.Equal(got, []string{tc.want}) {
				t.Errorf("a group that was seen at %s and not found at %s: reasons %q, want %s", tc.seen, readAt, got, tc.want)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	o := readPool(func(o *pool.Observation) {
		o.AWS.Instances.Value[1].InternalIPs = []string{"10.0.0.2"}
		o.AWS.Group.Value.Members[2].LaunchTemplateID = "lt-old"
		o.Composite.Spec.NodeLabels = map[string]string{"node-role.kubernetes.io/worker": ""}
	})
	got := Of(o).Status
	instance := func(id string, upToDate bool, addresses ...v1alpha1.Address) v1alpha1.Instance {
		return v1alpha1.Instance{
			ProviderID: "aws:///us-east-1a/" + id, InstanceID: id, FailureDomain: "us-east-1a", State: "running",
			UpToDate: &upToDate, Addresses: addresses,
		}
	}
	want := v1alpha1.MachinePoolStatus{
		AutoscalingGroupName: groupNameInAWS,
		ProviderID:           groupARN,
		ProviderIDList:       []string{"aws:///us-east-1a/i-1", "aws:///us-east-1a/i-2", "aws:///us-east-1a/i-3"},
		Replicas:             new(int32(3)),
		Instances: []v1alpha1.Instance{
			instance("i-1", true), instance("i-2", true, v1alpha1.Address{Type: "InternalIP", Address: "10.0.0.2"}), instance("i-3", false),
		},
		Health:                  &v1alpha1.Health{State: "running", Healthy: true},
		LaunchTemplateID:        "lt-current",
		ImageID:                 pinnedImage,
		FailureDomains:          []string{"us-east-1a", "us-east-1b"},
		InheritedFailureDomains: []string{"us-east-1a", "us-east-1b"},
		DroppedNodeLabels:       []string{"node-role.kubernetes.io/worker"},
		Ready:                   true,
		Initialization:          &v1alpha1.Initialization{Provisioned: new(true)},
	}
	// The roll, the count of members that run and the health's words have tests of their own.
	got.Rollout, got.ReadyReplicas, got.Health.Message = nil, nil, ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Of(...).Status: -want, +got:\n%s", diff)
	}
}

// TestStatusFailsStatic holds that what is not known now stays as it was last known.
func TestStatusFailsStatic(t *testing.T) {
	type want struct {
		members, instances int
		replicas           int32
		image              string
		health, reason     string
	}
	lookUpFails := func(o *pool.Observation) {
		o.Composite.Spec.MachineImage.ID = nil
		o.AWS.Image = pool.Read[*pool.Image]{Asked: true, Err: &pool.ReadError{Reason: pool.ReadTimedOut, Message: "timed out"}}
	}
	// readBefore is what this process read last, so many nanoseconds after the reading that the list is from.
	readBefore := func(later int) change {
		return func(o *pool.Observation) {
			o.Composite.Status.ListedReading = "2026-11-29T12:00:00.000000000Z"
			o.AWS.Earlier = pool.Read[[]pool.Instance]{
				Asked: true, At: time.Date(2026, 11, 29, 12, 0, 0, later, time.UTC), Value: []pool.Instance{{ID: "i-77", Zone: "us-east-1a", State: "running"}},
			}
		}
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"Read": {
			reason: "A whole reading replaces what was known.",
			args:   readPool(lastKnown),
			want:   want{members: 3, instances: 3, replicas: 3, image: pinnedImage, health: "running"},
		},
		"Throttled": {
			reason: "A reading that failed replaces nothing, and the provider's older view of the desired capacity does not either.",
			args:   readPool(lastKnown, readFails),
			want:   want{members: 2, instances: 2, replicas: 7, image: pinnedImage, health: "unknown", reason: "Throttled"},
		},
		"ThrottledAndStale": {
			reason: "What was read before the status that Crossplane shows does not leave the list.",
			args:   readPool(lastKnown, readFails, readBefore(1)),
			want:   want{members: 3, instances: 3, replicas: 7, image: pinnedImage, health: "unknown", reason: "Throttled"},
		},
		"ThrottledAfterAnotherReplica": {
			reason: "What was read before the reading that the list is from does not come back to it.",
			args:   readPool(lastKnown, readFails, readBefore(0)),
			want:   want{members: 2, instances: 2, replicas: 7, image: pinnedImage, health: "unknown", reason: "Throttled"},
		},
		"InstancesFail": {
			reason: "A desired capacity that was read counts, though the instances were not.",
			args: readPool(lastKnown, func(o *pool.Observation) {
				o.AWS.Instances = pool.Read[[]pool.Instance]{Asked: true, Err: &pool.ReadError{Reason: pool.ReadAccessDenied, Message: "denied"}}
			}),
			want: want{members: 2, instances: 2, replicas: 3, image: pinnedImage, health: "unknown", reason: "AccessDenied"},
		},
		"HalfAPage": {
			reason: "Instances that the group still lists are not gone.",
			args:   readPool(lastKnown, func(o *pool.Observation) { o.AWS.Instances.Value = o.AWS.Instances.Value[:1] }),
			want:   want{members: 2, instances: 2, replicas: 3, image: pinnedImage, health: "unknown", reason: "PartialRead"},
		},
		"Empty": {
			reason: "Nor are all of them.",
			args:   readPool(lastKnown, func(o *pool.Observation) { o.AWS.Instances.Value = nil }),
			want:   want{members: 2, instances: 2, replicas: 3, image: pinnedImage, health: "unknown", reason: "PartialRead"},
		},
		"GroupGone": {
			reason: "A group that is gone without an instance may be one of another account.",
			args:   readPool(lastKnown, groupGoneInAWS),
			want:   want{members: 2, instances: 2, replicas: 3, image: pinnedImage, health: "terminated", reason: "GroupNotFound"},
		},
		"GroupGoneInstancesLeft": {
			reason: "The instances of a group that is gone shorten no list.",
			args:   readPool(lastKnown, func(o *pool.Observation) { o.AWS.Group.Value = nil }),
			want:   want{members: 2, instances: 2, replicas: 3, image: pinnedImage, health: "terminated", reason: "GroupNotFound"},
		},
		"NoLongerRead": {
			reason: "A pool that is read no more keeps the list of its members, whose Nodes Cluster API would delete, and shows none of them as there.",
			args:   steadyPool(lastKnown),
			want:   want{members: 2, instances: 0, replicas: 3, image: pinnedImage, health: "unknown", reason: "MembershipNotRead"},
		},
		"ImageFails": {
			reason: "A look-up that fails changes no image.",
			args:   readPool(lastKnown, lookUpFails),
			want:   want{members: 3, instances: 3, replicas: 3, image: "ami-0123456789abcdef0", health: "running"},
		},
		"ScaledToZero": {
			reason: "A pool of 0 says 0.",
			args: readPool(lastKnown, func(o *pool.Observation) {
				o.AWS.Group.Value.DesiredCapacity, o.AWS.Group.Value.Members = 0, nil
				o.AWS.Instances.Value = nil
			}),
			want: want{image: pinnedImage, health: "running"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := Of(tc.args).Status
			got := want{members: len(s.ProviderIDList), instances: len(s.Instances), replicas: -1, image: s.ImageID, health: s.Health.State}
			if s.Replicas != nil {
				got.replicas = *s.Replicas
			}
			if len(s.Health.Reasons) > 0 {
				got.reason = s.Health.Reasons[0]
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...).Status: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStatusBeforeTheGroup(t *testing.T) {
	s := Of(newPool()).Status
	if s.AutoscalingGroupName != "" || s.ProviderID != "" || s.Replicas != nil || s.LaunchTemplateID != "" || s.Ready {
		t.Errorf("Of(...).Status: tells of a group that does not exist: %+v", s)
	}
	if s.Initialization == nil || s.Initialization.Provisioned == nil || *s.Initialization.Provisioned {
		t.Errorf("Of(...).Status.Initialization: %+v", s.Initialization)
	}
	if diff := cmp.Diff([]string{"us-east-1a", "us-east-1b"}, s.InheritedFailureDomains); diff != "" {
		t.Errorf("Of(...).Status.InheritedFailureDomains: recorded from the first run on: -want, +got:\n%s", diff)
	}
}

// TestInstancesAreCut holds that the status of a large pool fits, and that Cluster API still sees every member.
func TestInstancesAreCut(t *testing.T) {
	d := Of(readPool(func(o *pool.Observation) {
		o.AWS.Group.Value.Members, o.AWS.Instances.Value = nil, nil
		o.AWS.Group.Value.DesiredCapacity = 1001
		for i := range 1001 {
			id := fmt.Sprintf("i-%04d", i)
			o.AWS.Instances.Value = append(o.AWS.Instances.Value, pool.Instance{ID: id, Zone: "us-east-1a", State: "running"})
		}
	}))
	if got := len(d.Status.ProviderIDList); got != 1001 {
		t.Errorf("Of(...).Status.ProviderIDList: want 1001, got %d", got)
	}
	if got := len(d.Status.Instances); got != 1000 {
		t.Errorf("Of(...).Status.Instances: want 1000, got %d", got)
	}
	const note = "; status.instances lists the first 1000 of 1001"
	if got := d.Status.Health.Message; !strings.HasSuffix(got, note) {
		t.Errorf("Of(...).Status.Health.Message: %q does not end in %q", got, note)
	}
	if got, want := conditionOf(t, d, v1alpha1.ConditionInfrastructureHealthy).Message+note, d.Status.Health.Message; got != want {
		t.Errorf("Of(...): InfrastructureHealthy with the note: want %q, got %q", want, got)
	}
}

func TestReady(t *testing.T) {
	ready := func(o *pool.Observation) { o.Composite.Status.Ready = true }
	state := func(s string) change {
		return func(o *pool.Observation) {
			for i := range o.AWS.Instances.Value {
				o.AWS.Instances.Value[i].State = s
			}
		}
	}
	none := func(o *pool.Observation) { o.AWS.Group.Value.Members, o.AWS.Instances.Value = nil, nil }
	type want struct {
		now, status bool
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"New":       {reason: "A new pool is not ready.", args: newPool()},
		"Steady":    {reason: "Without reads the managed resources decide.", args: steadyPool(), want: want{now: true, status: true}},
		"NotSynced": {reason: "Ready is not enough.", args: steadyPool(func(o *pool.Observation) { o.Managed.Group.Synced = false })},
		"NotReady":  {reason: "Synced is not enough.", args: steadyPool(func(o *pool.Observation) { o.Managed.Object.Ready = false })},
		"Latched":   {reason: "What was ready once stays so in the status, while the pool as a whole says what is now.", args: steadyPool(ready, func(o *pool.Observation) { o.Managed.Group.Synced = false }), want: want{status: true}},
		"PolicyNot": {reason: "A policy that is missing counts.", args: steadyPool(autoscale)},
		"HookNot": {reason: "So does a hook.", args: steadyPool(func(o *pool.Observation) {
			o.Composite.Spec.LifecycleHooks = []v1alpha1.LifecycleHook{{Name: "a", Transition: "Launching"}}
			o.Composite.Default()
		})},
		"Rolling":      {reason: "A roll leaves a pool ready: a template that is not in use does not count.", args: steadyPool(newVersion), want: want{now: true, status: true}},
		"SecretGone":   {reason: "What is missing and not needed now leaves a pool ready.", args: steadyPool(noSecret), want: want{now: true, status: true}},
		"Members":      {reason: "With reads members must have come.", args: readPool(), want: want{now: true, status: true}},
		"NoMember":     {reason: "A pool without a member is pending.", args: readPool(none)},
		"MembersGone":  {reason: "Once it had one it stays.", args: readPool(none, ready), want: want{now: true, status: true}},
		"PendingOnly":  {reason: "A member that is pending is one.", args: readPool(state("pending")), want: want{now: true, status: true}},
		"Stopped":      {reason: "A pool whose members are stopped was past its beginning.", args: readPool(state("stopped")), want: want{now: true, status: true}},
		"Zero":         {reason: "A pool of 0 is complete.", args: readPool(none, func(o *pool.Observation) { o.AWS.Group.Value.DesiredCapacity = 0 }), want: want{now: true, status: true}},
		"FirstReadBad": {reason: "A pool of which nothing was ever read is not ready.", args: readPool(readFails)},
		"ReadBad":      {reason: "Once it was, a read that fails does not change that.", args: readPool(readFails, ready), want: want{now: true, status: true}},
		"GroupGone":    {reason: "A group that is gone makes no pool.", args: readPool(groupGoneInAWS, ready), want: want{status: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			got := want{now: d.Ready, status: d.Status.Ready}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if p := d.Status.Initialization.Provisioned; p == nil || *p != d.Status.Ready {
				t.Errorf("\n%s\nOf(...): initialization.provisioned is not ready's twin", tc.reason)
			}
		})
	}
}

// TestChanging holds when the next run is to come soon.
func TestChanging(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   bool
	}{
		"New":           {reason: "A new pool.", args: newPool(), want: true},
		"Steady":        {reason: "A pool at rest, not read.", args: steadyPool()},
		"Read":          {reason: "A pool at rest, read.", args: readPool()},
		"NotSynced":     {reason: "A managed resource at work.", args: steadyPool(func(o *pool.Observation) { o.Managed.Group.Synced = false }), want: true},
		"Roll":          {reason: "A roll.", args: steadyPool(newVersion), want: true},
		"MemberPending": {reason: "A member on its way.", args: readPool(func(o *pool.Observation) { o.AWS.Instances.Value[0].State = "pending" }), want: true},
		"Scaling":       {reason: "Fewer members than desired.", args: readPool(func(o *pool.Observation) { o.AWS.Group.Value.DesiredCapacity = 4 }), want: true},
		"ReadFailed": {
			reason: "A read to try again.",
			args: readPool(readFails, func(o *pool.Observation) {
				o.Composite.Status.Ready = true
				o.AWS.Group.Err = &pool.ReadError{Reason: pool.ReadTimedOut}
				o.AWS.Instances.Err = o.AWS.Group.Err
			}),
			want: true,
		},
		"ReadRefused": {reason: "A read that AWS refuses is not tried more often: that would feed the throttling.", args: readPool(readFails, func(o *pool.Observation) { o.Composite.Status.Ready = true })},
		"PinReadRefused": {
			reason: "A pinned image that the function may not look at slows nothing down: AWS answers the rest.",
			args: readPool(func(o *pool.Observation) {
				o.AWS.Image = pool.Read[*pool.Image]{Asked: true, Err: &pool.ReadError{Reason: pool.ReadAccessDenied}}
				o.AWS.Instances.Value[0].State = "pending"
				o.Composite.Status.Ready = true
			}),
			want: true,
		},
		"SecretGone":  {reason: "A Secret that is missing.", args: steadyPool(noSecret), want: true},
		"ExportsGone": {reason: "Exports that are missing.", args: steadyPool(noExports), want: true},
		"ZoneGone":    {reason: "A zone that is missing.", args: steadyPool(func(o *pool.Observation) { o.Composite.Spec.FailureDomains = []string{"us-east-1a", "us-east-1z"} }), want: true},
		"ImageMissing": {
			reason: "An image that is missing.",
			args: readPool(func(o *pool.Observation) {
				o.Composite.Spec.MachineImage.ID = nil
				o.AWS.Image.Asked = true
				o.Composite.Status.Ready = true
			}),
			want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Of(tc.args).Changing; got != tc.want {
				t.Errorf("\n%s\nOf(...).Changing: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestRolloutStatus(t *testing.T) {
	switched := func(o *pool.Observation) {
		o.Managed.Group.SentTemplateID, o.Managed.Group.TemplateID = "lt-newer", "lt-newer"
	}
	refresh := func(status string, percent int32) change {
		return func(o *pool.Observation) {
			o.AWS.Group.Value.LaunchTemplateID = "lt-newer"
			o.AWS.Group.Value.Members[0].LaunchTemplateID = "lt-newer"
			o.AWS.Refresh = pool.Read[*pool.Refresh]{Asked: true, Value: &pool.Refresh{ID: "r-1", Status: status, PercentageComplete: percent}}
		}
	}
	type want struct {
		RollKey, Phase string
		Percentage     int32 // -1 when not told.
		Outdated       int32 // -1 when not told.
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"New":             {reason: "A new pool waits for its template.", args: newPool(), want: want{currentKey, "TemplatePending", -1, -1}},
		"Steady":          {reason: "Without reads members are not counted.", args: steadyPool(), want: want{currentKey, "Idle", -1, -1}},
		"Read":            {reason: "With reads they are.", args: readPool(), want: want{currentKey, "Idle", -1, 0}},
		"TemplatePending": {reason: "There is nothing to compare members with before the template is there.", args: readPool(newVersion), want: want{newerKey, "TemplatePending", -1, -1}},
		"SwitchPending":   {reason: "Then all are outdated.", args: readPool(newerTemplateExists), want: want{newerKey, "SwitchPending", -1, 3}},
		"Refreshing":      {reason: "A refresh tells how far it is.", args: readPool(newerTemplateExists, switched, refresh("InProgress", 33)), want: want{newerKey, "Refreshing", 33, 2}},
		"Begun":           {reason: "0 is how far it can be.", args: readPool(newerTemplateExists, switched, refresh("Pending", 0)), want: want{newerKey, "Refreshing", 0, 2}},
		"Failed":          {reason: "A refresh that is over is no progress.", args: readPool(newerTemplateExists, switched, refresh("Failed", 33)), want: want{newerKey, "Stalled", -1, 2}},
		"OldRefresh": {reason: "Nor is one of a roll that is over.", args: readPool(func(o *pool.Observation) {
			o.AWS.Refresh = pool.Read[*pool.Refresh]{Asked: true, Value: &pool.Refresh{Status: "Successful", PercentageComplete: 100}}
		}), want: want{currentKey, "Idle", -1, 0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := Of(tc.args).Status.Rollout
			got := want{RollKey: s.RollKey, Phase: s.Phase, Percentage: -1, Outdated: -1}
			if s.PercentageComplete != nil {
				got.Percentage = *s.PercentageComplete
			}
			if s.OutdatedInstances != nil {
				got.Outdated = *s.OutdatedInstances
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nOf(...).Status.Rollout: -want, +got:\n%s", tc.reason, diff)
			}
			if s.Message == "" {
				t.Errorf("\n%s\nOf(...).Status.Rollout: no message for a person", tc.reason)
			}
		})
	}
}

// TestIdentityDecidesWhetherMembersAreKnown holds that a pool that is to be read and was not yet has no member, not an
// unknown number of them.
func TestIdentityDecidesWhetherMembersAreKnown(t *testing.T) {
	d := Of(newPool(func(o *pool.Observation) { o.Input.AWS.Identity = v1beta1.IdentityPod }))
	if diff := cmp.Diff([]string{"NoMembers"}, d.Status.Health.Reasons); diff != "" {
		t.Errorf("Of(...).Status.Health.Reasons: -want, +got:\n%s", diff)
	}
	d = Of(newPool())
	if diff := cmp.Diff([]string{"MembershipNotRead"}, d.Status.Health.Reasons); diff != "" {
		t.Errorf("Of(...).Status.Health.Reasons: -want, +got:\n%s", diff)
	}
}
