package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

var refreshStart = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func demoAWS() *fakeAWS {
	g := fakeGroup("demo", "i-2", "i-1")
	g.LaunchTemplate = &astypes.LaunchTemplateSpecification{LaunchTemplateId: awssdk.String("lt-1")}
	stopped := fakeInstance("demo", "i-2", ec2types.InstanceStateNameStopped)
	stopped.PrivateIpAddress = awssdk.String("10.0.0.2")
	return &fakeAWS{
		groups: []astypes.AutoScalingGroup{g, fakeGroup("other", "i-9")},
		instances: []ec2types.Instance{
			stopped,
			fakeInstance("demo", "i-1", ec2types.InstanceStateNameRunning),
			fakeInstance("demo", "i-0", ec2types.InstanceStateNameTerminated),
			fakeInstance("demo", "i-3", ec2types.InstanceStateNameShuttingDown),
			fakeInstance("other", "i-9", ec2types.InstanceStateNameRunning),
		},
		images: []ec2types.Image{
			{ImageId: awssdk.String("ami-00000001"), Name: awssdk.String("ubuntu-1.34.1-a"), OwnerId: awssdk.String("1"), Architecture: "x86_64", State: "available", CreationDate: awssdk.String("2026-01-01T00:00:00.000Z")},
			{ImageId: awssdk.String("ami-00000002"), Name: awssdk.String("ubuntu-1.34.1-b"), RootDeviceName: awssdk.String("/dev/xvda"), OwnerId: awssdk.String("1"), Architecture: "x86_64", State: "available", CreationDate: awssdk.String("2026-02-01T00:00:00.000Z"), DeprecationTime: awssdk.String("2026-03-01T00:00:00.000Z")},
		},
		refreshes: map[string][]astypes.InstanceRefresh{
			"demo": {
				{InstanceRefreshId: awssdk.String("new"), StartTime: awssdk.Time(refreshStart), Status: astypes.InstanceRefreshStatusInProgress, StatusReason: awssdk.String("Waiting"), PercentageComplete: awssdk.Int32(40), InstancesToUpdate: awssdk.Int32(2)},
				{InstanceRefreshId: awssdk.String("old"), Status: astypes.InstanceRefreshStatusSuccessful},
			},
			"other": nil,
		},
	}
}

func wantDemoGroup() *pool.Group {
	return &pool.Group{
		ARN:              "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:x:autoScalingGroupName/demo",
		Name:             "demo",
		DesiredCapacity:  2,
		LaunchTemplateID: "lt-1",
		Members:          []pool.GroupMember{{InstanceID: "i-1", LifecycleState: "InService"}, {InstanceID: "i-2", LifecycleState: "InService"}},
	}
}

func wantDemoInstances() []pool.Instance {
	return []pool.Instance{
		{ID: "i-0", Zone: "us-east-1a", State: "terminated"},
		{ID: "i-1", Zone: "us-east-1a", State: "running"},
		{ID: "i-2", Zone: "us-east-1a", State: "stopped", InternalIPs: []string{"10.0.0.2"}},
		{ID: "i-3", Zone: "us-east-1a", State: "shutting-down"},
	}
}

func known[T any](v T) pool.Read[T] { return pool.Read[T]{Asked: true, Value: v} }

func unknown[T any](reason pool.ReadReason, message string) pool.Read[T] {
	return pool.Read[T]{Asked: true, Err: &pool.ReadError{Reason: reason, Message: message}}
}

func failing(op string, err error) func(string, []string, int) error {
	return func(o string, _ []string, _ int) error {
		if o == op {
			return err
		}
		return nil
	}
}

func TestRead(t *testing.T) {
	image := &pool.ImageQuery{Owner: "1", Name: "ubuntu-1.34.1-*", Architecture: "x86_64"}
	all := pool.Query{Identity: podIdentity, Region: "us-east-1", GroupName: "demo", Image: image, Refresh: true}
	denied := apiError("UnauthorizedOperation", "You are not authorized")
	longName := strings.Repeat("x", 256)

	cases := map[string]struct {
		reason string
		mod    func(*fakeAWS)
		args   pool.Query
		want   pool.Reading
		calls  map[string]int
	}{
		"IdentityNone": {
			reason: "Without an identity nothing is asked and no call is made.",
			args:   pool.Query{Identity: pool.Identity{Source: v1beta1.IdentityNone}, Region: "us-east-1", GroupName: "demo", Image: image, Refresh: true},
			calls:  map[string]int{},
		},
		"IdentityUnset": {
			reason: "The default identity is None.",
			args:   pool.Query{Region: "us-east-1", GroupName: "demo", Image: image},
			calls:  map[string]int{},
		},
		"NothingWanted": {
			reason: "A query for nothing asks nothing, even of a region that is not one.",
			args:   pool.Query{Identity: podIdentity, Refresh: true},
			calls:  map[string]int{},
		},
		"All": {
			reason: "Members are sorted, and their instances are read in every state: one that is terminated can so be told from one that is lacking.",
			args:   all,
			want: pool.Reading{
				Group:     known(wantDemoGroup()),
				Instances: known(wantDemoInstances()),
				Image:     known(&pool.Image{ID: "ami-00000002", Name: "ubuntu-1.34.1-b", RootDevice: "/dev/xvda", Architecture: "x86_64", State: "available"}),
				Refresh:   known(&pool.Refresh{ID: "new", Status: "InProgress", StartTime: refreshStart, StatusReason: "Waiting", PercentageComplete: 40}),
			},
			calls: map[string]int{opGroups: 1, opInstances: 1, opImages: 1, opRefreshes: 1},
		},
		"OnlyGroup": {
			reason: "What is not asked for is not read.",
			args:   query("demo"),
			want:   pool.Reading{Group: known(wantDemoGroup()), Instances: known(wantDemoInstances())},
			calls:  map[string]int{opGroups: 1, opInstances: 1},
		},
		"OnlyImage": {
			reason: "A pool whose group is not composed yet still needs its image.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", Image: image},
			want:   pool.Reading{Image: known(&pool.Image{ID: "ami-00000002", Name: "ubuntu-1.34.1-b", RootDevice: "/dev/xvda", Architecture: "x86_64", State: "available"})},
			calls:  map[string]int{opImages: 1},
		},
		"NoImage": {
			reason: "That no image matches is an answer.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", Image: &pool.ImageQuery{Owner: "1", Name: "ubuntu-9.*", Architecture: "x86_64"}},
			want:   pool.Reading{Image: known[*pool.Image](nil)},
			calls:  map[string]int{opImages: 1},
		},
		"AnybodysImage": {
			reason: "An image without an owner could be anybody's.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", Image: &pool.ImageQuery{Name: "*", Architecture: "x86_64"}},
			want:   pool.Reading{Image: unknown[*pool.Image](pool.ReadFailed, "an image is looked up by owner, name format and architecture: one of them is empty")},
			calls:  map[string]int{},
		},
		"Pinned": {
			reason: "A pinned image is looked at by its id alone, whoever owns it.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", Image: &pool.ImageQuery{ID: "ami-00000002"}},
			want:   pool.Reading{Image: known(&pool.Image{ID: "ami-00000002", Name: "ubuntu-1.34.1-b", RootDevice: "/dev/xvda", Architecture: "x86_64", State: "available"})},
			calls:  map[string]int{opImages: 1},
		},
		"PinnedGone": {
			reason: "That AWS does not have it is an answer.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", Image: &pool.ImageQuery{ID: "ami-00000000"}},
			want:   pool.Reading{Image: known[*pool.Image](nil)},
			calls:  map[string]int{opImages: 1},
		},
		"PinnedWildcard": {
			reason: "An id with a wildcard would match others.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", Image: &pool.ImageQuery{ID: "ami-*"}},
			want:   pool.Reading{Image: unknown[*pool.Image](pool.ReadFailed, "the image's id is not one that AWS can have")},
			calls:  map[string]int{},
		},
		"NoGroup": {
			reason: "That AWS has no such group is an answer, and such a group has no refresh, although AWS calls the question invalid.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", GroupName: "gone", Refresh: true},
			want:   pool.Reading{Group: known[*pool.Group](nil), Instances: known[[]pool.Instance](nil), Refresh: known[*pool.Refresh](nil)},
			calls:  map[string]int{opGroups: 1, opInstances: 1, opRefreshes: 1},
		},
		"NoRefresh": {
			reason: "That a group was never refreshed is an answer. The instances of a group that could not be read are not asked for.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", GroupName: "other", Refresh: true},
			mod: func(f *fakeAWS) {
				f.fail = failing(opGroups, denied)
			},
			want: pool.Reading{
				Group:     unknown[*pool.Group](pool.ReadAccessDenied, "autoscaling:DescribeAutoScalingGroups was denied: allow it to the role (docs/aws-access.md)"),
				Instances: unknown[[]pool.Instance](pool.ReadAccessDenied, "autoscaling:DescribeAutoScalingGroups was denied: allow it to the role (docs/aws-access.md)"),
				Refresh:   known[*pool.Refresh](nil),
			},
			calls: map[string]int{opGroups: 1, opRefreshes: 1},
		},
		"RefreshOfAGroupThatIsNotKnown": {
			reason: "A refused question is only an answer when the group is known to be gone.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", GroupName: "gone", Refresh: true},
			mod:    func(f *fakeAWS) { f.fail = failing(opGroups, apiError("Throttling", "Rate exceeded")) },
			want: pool.Reading{
				Group:     unknown[*pool.Group](pool.ReadThrottled, "autoscaling:DescribeAutoScalingGroups was throttled: the account makes too many calls in this region"),
				Instances: unknown[[]pool.Instance](pool.ReadThrottled, "autoscaling:DescribeAutoScalingGroups was throttled: the account makes too many calls in this region"),
				Refresh:   unknown[*pool.Refresh](pool.ReadFailed, "autoscaling:DescribeInstanceRefreshes failed with ValidationError"),
			},
			calls: map[string]int{opGroups: 1, opRefreshes: 1},
		},
		"InstancesDenied": {
			reason: "A part that fails does not take the others with it.",
			args:   query("demo"),
			mod:    func(f *fakeAWS) { f.fail = failing(opInstances, denied) },
			want: pool.Reading{
				Group:     known(wantDemoGroup()),
				Instances: unknown[[]pool.Instance](pool.ReadAccessDenied, "ec2:DescribeInstances was denied: allow it to the role (docs/aws-access.md)"),
			},
			calls: map[string]int{opGroups: 1, opInstances: 1},
		},
		"HalfAnAnswer": {
			reason: "One failed page is a failed read: what came before it is not an answer.",
			args:   query("demo"),
			mod: func(f *fakeAWS) {
				f.pageSize = 1
				f.fail = func(op string, _ []string, page int) error {
					if op == opInstances && page == 1 {
						return errors.New("broken")
					}
					return nil
				}
			},
			want: pool.Reading{
				Group:     known(wantDemoGroup()),
				Instances: unknown[[]pool.Instance](pool.ReadPartial, "ec2:DescribeInstances answered only in part"),
			},
			calls: map[string]int{opGroups: 1, opInstances: 2},
		},
		"HalfAnAnswerWithAReason": {
			reason: "Where AWS says why a later page failed, that is the reason.",
			args:   query("demo"),
			mod: func(f *fakeAWS) {
				f.pageSize = 1
				f.fail = func(op string, _ []string, page int) error {
					if op == opInstances && page == 1 {
						return apiError("RequestLimitExceeded", "Request limit exceeded.")
					}
					return nil
				}
			},
			want: pool.Reading{
				Group:     known(wantDemoGroup()),
				Instances: unknown[[]pool.Instance](pool.ReadThrottled, "ec2:DescribeInstances was throttled: the account makes too many calls in this region"),
			},
			calls: map[string]int{opGroups: 1, opInstances: 2},
		},
		"AllPages": {
			reason: "Every page is read.",
			args:   query("demo"),
			mod:    func(f *fakeAWS) { f.pageSize = 1 },
			want:   pool.Reading{Group: known(wantDemoGroup()), Instances: known(wantDemoInstances())},
			calls:  map[string]int{opGroups: 1, opInstances: 4},
		},
		"Unreachable": {
			reason: "The network's own words name addresses that change; ours do not.",
			args:   query("demo"),
			mod: func(f *fakeAWS) {
				f.fail = failing(opInstances, &net.OpError{Op: "dial", Err: errors.New("connect: connection refused 10.1.2.3:4711")})
			},
			want: pool.Reading{
				Group:     known(wantDemoGroup()),
				Instances: unknown[[]pool.Instance](pool.ReadFailed, "ec2:DescribeInstances could not be reached: check the region, the endpoint settings and the network (docs/aws-access.md)"),
			},
			calls: map[string]int{opGroups: 1, opInstances: 1},
		},
		"InstanceWithoutAZone": {
			reason: "There is no providerID without a zone, and a list without the instance would be shorter.",
			args:   query("demo"),
			mod:    func(f *fakeAWS) { f.instances[1].Placement = nil },
			want: pool.Reading{
				Group:     known(wantDemoGroup()),
				Instances: unknown[[]pool.Instance](pool.ReadPartial, "ec2:DescribeInstances answered only in part"),
			},
			calls: map[string]int{opGroups: 1, opInstances: 1},
		},
		"TerminatedWithoutAZone": {
			reason: "One that is gone needs no providerID.",
			args:   query("demo"),
			mod:    func(f *fakeAWS) { f.instances[2].Placement = nil },
			want: pool.Reading{Group: known(wantDemoGroup()), Instances: known(func() []pool.Instance {
				instances := wantDemoInstances()
				instances[0].Zone = ""
				return instances
			}())},
			calls: map[string]int{opGroups: 1, opInstances: 1},
		},
		"InstanceWithoutAnID": {
			reason: "Nor without an id.",
			args:   query("demo"),
			mod:    func(f *fakeAWS) { f.instances[1].InstanceId = nil },
			want: pool.Reading{
				Group:     known(wantDemoGroup()),
				Instances: unknown[[]pool.Instance](pool.ReadPartial, "ec2:DescribeInstances answered only in part"),
			},
			calls: map[string]int{opGroups: 1, opInstances: 1},
		},
		"InstanceOfAnotherGroupWithoutAZone": {
			reason: "Which is that group's matter.",
			args:   query("demo"),
			mod:    func(f *fakeAWS) { f.instances[4].Placement = nil },
			want:   pool.Reading{Group: known(wantDemoGroup()), Instances: known(wantDemoInstances())},
			calls:  map[string]int{opGroups: 1, opInstances: 1},
		},
		"WildcardName": {
			reason: "A name is a name, also where filters know wildcards.",
			args:   query("*"),
			want:   pool.Reading{Group: known[*pool.Group](nil), Instances: known[[]pool.Instance](nil)},
			calls:  map[string]int{opGroups: 1, opInstances: 1},
		},
		"NameTooLong": {
			reason: "A name that AWS would refuse does not cost a call.",
			args:   pool.Query{Identity: podIdentity, Region: "us-east-1", GroupName: longName, Refresh: true},
			want: pool.Reading{
				Group:     unknown[*pool.Group](pool.ReadFailed, "the name of the Auto Scaling group is not one that AWS can have"),
				Instances: unknown[[]pool.Instance](pool.ReadFailed, "the name of the Auto Scaling group is not one that AWS can have"),
				Refresh:   unknown[*pool.Refresh](pool.ReadFailed, "the name of the Auto Scaling group is not one that AWS can have"),
			},
			calls: map[string]int{},
		},
		"RegionIsAHost": {
			reason: "A region becomes a part of the host that signed requests go to; it must not choose the domain.",
			args:   pool.Query{Identity: podIdentity, Region: "evil.example.com/#", GroupName: "demo"},
			want: pool.Reading{
				Group:     unknown[*pool.Group](pool.ReadFailed, "the region is not one that AWS can have: check the region that the cluster exports"),
				Instances: unknown[[]pool.Instance](pool.ReadFailed, "the region is not one that AWS can have: check the region that the cluster exports"),
			},
			calls: map[string]int{},
		},
		"NeverAnswers": {
			reason: "A run is answered in five seconds.",
			args:   all,
			mod:    func(f *fakeAWS) { f.takes = time.Hour },
			want: pool.Reading{
				Group:     unknown[*pool.Group](pool.ReadTimedOut, "autoscaling:DescribeAutoScalingGroups did not answer in time"),
				Instances: unknown[[]pool.Instance](pool.ReadTimedOut, "autoscaling:DescribeAutoScalingGroups did not answer in time"),
				Image:     unknown[*pool.Image](pool.ReadTimedOut, "ec2:DescribeImages did not answer in time"),
				Refresh:   unknown[*pool.Refresh](pool.ReadTimedOut, "autoscaling:DescribeInstanceRefreshes did not answer in time"),
			},
			calls: map[string]int{opGroups: 1, opImages: 1, opRefreshes: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := demoAWS()
				if tc.mod != nil {
					tc.mod(f)
				}
				begin := time.Now()
				got := newFakeReader(t, f).Read(context.Background(), tc.args)
				if diff := cmp.Diff(tc.want, got, anyTime()); diff != "" {
					t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
				}
				if took := time.Since(begin); took > 5*time.Second {
					t.Errorf("\n%s\nwant an answer in 5 s, took %s", tc.reason, took)
				}
				if diff := cmp.Diff(tc.calls, f.ops()); diff != "" {
					t.Errorf("\n%s\ncalls: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

func TestReadCallersContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := demoAWS()
		f.takes = 2 * time.Second
		r := newFakeReader(t, f)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()

		var wg sync.WaitGroup
		wg.Go(func() {
			got := r.Read(ctx, query("demo"))
			if got.Group.Err == nil || got.Group.Err.Reason != pool.ReadTimedOut {
				t.Errorf("first: want TimedOut, got %+v", got.Group)
			}
		})
		wg.Go(func() {
			if got := r.Read(context.Background(), query("demo")); !got.Group.Known() || !got.Instances.Known() {
				t.Errorf("second: want what the first caller's batch found, got %+v", got)
			}
		})
		wg.Wait()
		if got := f.ops()[opGroups]; got != 1 {
			t.Errorf("want one call for both, got %d", got)
		}
	})
}

func TestReadFewCalls(t *testing.T) {
	image := &pool.ImageQuery{Owner: "1", Name: "ubuntu-*", Architecture: "x86_64"}

	cases := map[string]struct {
		reason  string
		pools   int
		members int
		want    map[string]int
	}{
		"ManySmall": {
			reason:  "Groups go a hundred and instances a page at a time; an image that all look for is looked up once.",
			pools:   1000,
			members: 10,
			want:    map[string]int{opGroups: 10, opInstances: 25, opImages: 1},
		},
		"ManyEmpty": {
			reason:  "Filters take two hundred groups.",
			pools:   400,
			members: 0,
			want:    map[string]int{opGroups: 4, opInstances: 2, opImages: 1},
		},
		"FewLarge": {
			reason:  "Groups that do not fit into a page together are read side by side, and one that is larger in several.",
			pools:   2,
			members: 1500,
			want:    map[string]int{opGroups: 1, opInstances: 8, opImages: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeFleet(tc.pools, tc.members)
				f.takes = 100 * time.Millisecond
				r := newFakeReader(t, f)
				var wg sync.WaitGroup
				for p := range tc.pools {
					wg.Go(func() {
						q := query(fleetPool(p))
						q.Image = image
						got := r.Read(context.Background(), q)
						if !got.Group.Known() || got.Group.Value.Name != q.GroupName || !got.Instances.Known() || len(got.Instances.Value) != tc.members {
							t.Errorf("\n%s\n%s: got %+v", tc.reason, q.GroupName, got)
						}
					})
				}
				wg.Wait()
				if diff := cmp.Diff(tc.want, f.ops()); diff != "" {
					t.Errorf("\n%s\ncalls: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// Runs seldom come at the same moment. What one of them reads, others can use for as long as they accept its age.
func TestReadFewCallsWhenSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeFleet(300, 3)
		f.takes = 100 * time.Millisecond
		r := newFakeReader(t, f)
		q := query("")
		q.MaxAge = 15 * time.Second
		for range 5 {
			for p := range 300 {
				time.Sleep(200 * time.Millisecond)
				q.GroupName = fleetPool(p)
				if got := r.Read(context.Background(), q); !got.Group.Known() || !got.Instances.Known() {
					t.Fatalf("%s: got %+v", q.GroupName, got)
				}
			}
		}
		// 1,500 runs. The first 300 know of no others; after that, 300 pools are three calls of either kind per 15 s.
		ops := f.ops()
		if got := ops[opGroups] - 300; got > 5*60*3/15+50 || ops[opGroups] != ops[opInstances] {
			t.Errorf("want few calls once the pools are known, got %v", ops)
		}
		t.Log(ops)
	})
}

func TestReadBadNameFailsOneCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeFleet(100, 2)
		bad := fleetPool(42)
		f.fail = func(_ string, names []string, _ int) error {
			if slices.Contains(names, bad) {
				return apiError("ValidationError", "1 validation error detected")
			}
			return nil
		}
		r := newFakeReader(t, f)
		var wg sync.WaitGroup
		for p := range 100 {
			wg.Go(func() {
				got := r.Read(context.Background(), query(fleetPool(p)))
				if isBad := fleetPool(p) == bad; got.Group.Failed() != isBad || got.Instances.Failed() != isBad {
					t.Errorf("%s: got %+v", fleetPool(p), got)
				}
			})
		}
		wg.Wait()
		if got := f.ops()[opGroups]; got > 1+maxSplits {
			t.Errorf("want at most %d calls to single the bad name out, got %d", 1+maxSplits, got)
		}
	})
}

func TestReadFailureIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := demoAWS()
		f.fail = failing(opInstances, apiError("InternalError", "An internal error has occurred"))
		r := newFakeReader(t, f)
		q := query("demo")
		q.MaxAge = time.Minute
		if got := r.Read(context.Background(), q); got.Instances.Err == nil || got.Instances.Err.Message != "ec2:DescribeInstances failed with a server error, of AWS or of a proxy on the way" {
			t.Errorf("want a failure, got %+v", got.Instances)
		}
		f.fail = nil
		if diff := cmp.Diff(pool.Reading{Group: known(wantDemoGroup()), Instances: known(wantDemoInstances())}, r.Read(context.Background(), q), anyTime()); diff != "" {
			t.Errorf("after the failure: -want, +got:\n%s", diff)
		}
	})
}

// The instances that were read last come with a reading that fails, for a while, and are the caller's own.
func TestReadEarlier(t *testing.T) {
	for name, tc := range map[string]struct {
		op   string
		want []pool.Instance
	}{
		"GroupFails":     {op: opGroups, want: wantDemoInstances()},
		"InstancesFail":  {op: opInstances, want: wantDemoInstances()},
		"NeitherOfThose": {op: opRefreshes},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := demoAWS()
				r := newFakeReader(t, f)
				q := query("demo")
				q.Refresh = true
				if got := r.Read(context.Background(), q); got.Earlier.Value != nil {
					t.Errorf("a whole reading has earlier instances: %+v", got.Earlier)
				}
				read := time.Now()
				time.Sleep(time.Minute)
				f.fail = failing(tc.op, apiError("InternalError", "An internal error has occurred"))
				for range 2 {
					got := r.Read(context.Background(), q)
					if diff := cmp.Diff(tc.want, got.Earlier.Value); diff != "" {
						t.Errorf("instances that were read earlier: -want, +got:\n%s", diff)
					}
					if tc.want != nil && (got.Earlier.At.Before(read.Add(-time.Second)) || got.Earlier.At.After(read)) {
						t.Errorf("instances that were read earlier: read at %s, want %s", got.Earlier.At, read)
					}
					for i := range got.Earlier.Value {
						got.Earlier.Value[i] = pool.Instance{}
					}
				}
			})
		})
	}
	t.Run("LongAgo", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := demoAWS()
			r := newFakeReader(t, f)
			r.Read(context.Background(), query("demo"))
			f.fail = failing(opGroups, apiError("InternalError", "An internal error has occurred"))
			for range 3 {
				// It is asked for all the time, so it is kept.
				time.Sleep(earlierAge/2 + time.Second)
				if got := r.Read(context.Background(), query("demo")); got.Group.Err == nil {
					t.Fatal("the group was read")
				}
			}
			if got := r.Read(context.Background(), query("demo")); got.Earlier.Value != nil {
				t.Errorf("want none, got %+v", got.Earlier)
			}
		})
	})
	t.Run("NeverRead", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := demoAWS()
			f.fail = failing(opGroups, apiError("InternalError", "An internal error has occurred"))
			if got := newFakeReader(t, f).Read(context.Background(), query("demo")); got.Earlier.Value != nil {
				t.Errorf("want none, got %+v", got.Earlier)
			}
		})
	})
}

// A page that is too slow fails the pools on it once, and not each time.
func TestReadSlowPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeFleet(100, 10)
		f.fail = func(op string, names []string, _ int) error {
			if took := time.Duration(len(names)) * 120 * time.Millisecond; op == opInstances && took > 4*time.Second {
				time.Sleep(4 * time.Second)
				return context.DeadlineExceeded
			} else if op == opInstances {
				time.Sleep(took)
			}
			return nil
		}
		r := newFakeReader(t, f)
		round := func() (late int) {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for p := range 100 {
				wg.Go(func() {
					got := r.Read(context.Background(), query(fleetPool(p)))
					mu.Lock()
					defer mu.Unlock()
					if got.Instances.Failed() {
						late++
					}
				})
			}
			wg.Wait()
			return late
		}
		if first, second := round(), round(); first != 80 || second != 0 {
			t.Errorf("want two full pages late once, got %d pools, then %d", first, second)
		}
		time.Sleep(packTime)
		if late := round(); late != 80 {
			t.Errorf("want full pages tried again after a while, got %d pools late", late)
		}
	})
}

// Where AWS refuses, a thousand pools that come one after another must not be what keeps it refusing: it is asked by those
// that were under way, and then once in a while.
func TestReadRefused(t *testing.T) {
	const pools, period = 1000, 15 * time.Second

	cases := map[string]struct {
		reason string
		code   string
		op     string
		want   pool.ReadReason
		// spared are the operations that must not be asked at all.
		spared string
	}{
		"GroupsThrottled":    {reason: "Without its group a pool's instances are not asked for.", code: "Throttling", op: opGroups, want: pool.ReadThrottled, spared: opInstances},
		"GroupsDenied":       {reason: "A role without the policy.", code: "AccessDenied", op: opGroups, want: pool.ReadAccessDenied, spared: opInstances},
		"CredentialsRefused": {reason: "Credentials that were deleted.", code: "InvalidClientTokenId", op: opGroups, want: pool.ReadCredentialsInvalid, spared: opInstances},
		"InstancesThrottled": {reason: "EC2's bucket is another than Auto Scaling's.", code: "RequestLimitExceeded", op: opInstances, want: pool.ReadThrottled},
		"InstancesDenied":    {reason: "Half a policy.", code: "UnauthorizedOperation", op: opInstances, want: pool.ReadAccessDenied},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeFleet(pools, 1)
				f.takes = 30 * time.Millisecond
				f.fail = failing(tc.op, apiError(tc.code, "no"))
				registry := prometheus.NewPedanticRegistry()
				r := newFakeReader(t, f, WithRegisterer(registry))
				var wg sync.WaitGroup
				for p := range pools {
					wg.Go(func() {
						time.Sleep(time.Duration(p) * period / pools)
						q := query(fleetPool(p))
						q.MaxAge = period / 2
						got := r.Read(context.Background(), q)
						if got.Instances.Err == nil || got.Instances.Err.Reason != tc.want {
							t.Errorf("\n%s\n%s: want %s, got %+v", tc.reason, q.GroupName, tc.want, got.Instances.Err)
						}
					})
				}
				wg.Wait()

				// The first of each five seconds, and those that were under way when the first was refused.
				atMost := int(period/refusalTime) + 2
				if ops := f.ops(); ops[tc.op] > atMost || ops[tc.op] < 2 || ops[tc.spared] != 0 {
					t.Errorf("\n%s\nwant at most %d calls that are refused, got %v", tc.reason, atMost, ops)
				}
				if n, err := testutil.GatherAndCount(registry, "machinepool_aws_calls_spared_total"); err != nil || n < 1 {
					t.Errorf("\n%s\nwant the calls that were not made counted, got %d series, %v", tc.reason, n, err)
				}

				f.fail = nil
				time.Sleep(refusalTime)
				if got := r.Read(context.Background(), query(fleetPool(0))); !got.Group.Known() || !got.Instances.Known() {
					t.Errorf("\n%s\nonce AWS answers again: got %+v, %+v", tc.reason, got.Group.Err, got.Instances.Err)
				}
			})
		})
	}
}

// A refusal is the identity's and the operation's: it answers nobody else and nothing else, and a call that finds out
// whether it still holds is not joined by others.
func TestReadRefusedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := demoAWS()
		f.takes = time.Second
		f.fail = failing(opImages, apiError("UnauthorizedOperation", "no"))
		r := newFakeReader(t, f)
		q := query("demo")
		q.Image = &pool.ImageQuery{Owner: "1", Name: "ubuntu-*", Architecture: "x86_64"}
		for range 2 {
			if got := r.Read(context.Background(), q); !got.Image.Failed() || !got.Group.Known() || !got.Instances.Known() {
				t.Errorf("want only the image refused, got %+v", got)
			}
		}
		if n := f.ops()[opImages]; n != 1 {
			t.Errorf("want one call that is refused, got %d", n)
		}
		q.Identity = tenant("other")
		if r.Read(context.Background(), q); f.ops()[opImages] != 2 {
			t.Errorf("want another identity to ask for itself, got %v", f.ops())
		}

		q.Identity = podIdentity
		time.Sleep(refusalTime)
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				q := q
				q.Image = &pool.ImageQuery{Owner: "1", Name: fmt.Sprintf("ubuntu-%d*", i), Architecture: "x86_64"}
				r.Read(context.Background(), q)
			})
		}
		wg.Wait()
		if n := f.ops()[opImages]; n != 3 {
			t.Errorf("want one call to find out, got %d", n-2)
		}
	})
}

func TestReadIsTheCallersOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFakeReader(t, demoAWS())
		q := pool.Query{Identity: podIdentity, Region: "us-east-1", GroupName: "demo", Refresh: true, Image: &pool.ImageQuery{Owner: "1", Name: "ubuntu-*", Architecture: "x86_64"}, MaxAge: time.Minute}
		first := r.Read(context.Background(), q)
		want := fmt.Sprintf("%+v %+v %+v %+v", *first.Group.Value, first.Instances.Value, *first.Image.Value, *first.Refresh.Value)
		second := r.Read(context.Background(), q)
		second.Group.Value.Name, second.Group.Value.Members[0].Zone = "x", "x"
		second.Instances.Value[1].State, second.Instances.Value[2].InternalIPs[0] = "x", "x"
		second.Image.Value.ID, second.Refresh.Value.ID = "x", "x"
		third := r.Read(context.Background(), q)
		got := fmt.Sprintf("%+v %+v %+v %+v", *third.Group.Value, third.Instances.Value, *third.Image.Value, *third.Refresh.Value)
		if diff := cmp.Diff(want, got, anyTime()); diff != "" {
			t.Errorf("after another caller changed its copy: -want, +got:\n%s", diff)
		}
	})
}

// The time of an answer tells it from another one, and not from its copies.
func TestReadSaysWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := demoAWS()
		f.takes = 300 * time.Millisecond
		r := newFakeReader(t, f)
		q := pool.Query{Identity: podIdentity, Region: "us-east-1", GroupName: "demo", Refresh: true, Image: &pool.ImageQuery{Owner: "1", Name: "ubuntu-*", Architecture: "x86_64"}, MaxAge: 10 * time.Second}
		begin := time.Now()
		times := func() []time.Duration {
			got := r.Read(context.Background(), q)
			var out []time.Duration
			for _, at := range []time.Time{got.Group.At, got.Instances.At, got.Refresh.At, got.Image.At} {
				out = append(out, at.Sub(begin))
			}
			return out
		}
		asked := []time.Duration{gatherTime, gatherTime, gatherTime, gatherTime}
		if diff := cmp.Diff(asked, times()); diff != "" {
			t.Errorf("when it was asked, of which 300 ms passed until the answer: -want, +got:\n%s", diff)
		}
		time.Sleep(5 * time.Second)
		if diff := cmp.Diff(asked, times()); diff != "" {
			t.Errorf("a copy of it: -want, +got:\n%s", diff)
		}
		time.Sleep(10 * time.Second)
		if got := times(); got[0] <= 15*time.Second || got[0] != got[1] {
			t.Errorf("another answer: want a later time, the same for both, got %v", got)
		}
		f.fail = failing(opInstances, errors.New("broken"))
		time.Sleep(11 * time.Second)
		if got := r.Read(context.Background(), q); !got.Instances.At.IsZero() || got.Group.At.IsZero() {
			t.Errorf("a failure is no answer: want no time, got %v, %v", got.Instances.At, got.Group.At)
		}
	})
}

// An answer that was asked for in this very call says so, and one that was kept does not; a caller can ask for the former, part by
// part.
func TestReadAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFakeReader(t, demoAWS())
		q := pool.Query{Identity: podIdentity, Region: "us-east-1", GroupName: "demo", Refresh: true, Image: &pool.ImageQuery{Owner: "1", Name: "ubuntu-*", Architecture: "x86_64"}, MaxAge: 10 * time.Second}
		for _, step := range []struct {
			reason string
			anew   pool.Parts
			want   pool.Parts
		}{
			{reason: "first", want: pool.Parts{Members: true, Image: true, Refresh: true}},
			{reason: "kept"},
			{reason: "members anew", anew: pool.Parts{Members: true}, want: pool.Parts{Members: true}},
			{reason: "refresh anew", anew: pool.Parts{Refresh: true}, want: pool.Parts{Refresh: true}},
			{reason: "image anew", anew: pool.Parts{Image: true}, want: pool.Parts{Image: true}},
			{reason: "kept again"},
		} {
			time.Sleep(time.Second)
			q.Anew = step.anew
			got := r.Read(context.Background(), q)
			if diff := cmp.Diff(step.want, pool.Parts{Members: got.Group.Anew && got.Instances.Anew, Image: got.Image.Anew, Refresh: got.Refresh.Anew}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", step.reason, diff)
			}
			if kept := got.Group.Kept() || got.Instances.Kept(); kept == step.want.Members {
				t.Errorf("%s: the members are kept: %t", step.reason, kept)
			}
		}
	})
}

func TestReadNotSignedIn(t *testing.T) {
	tries := 0
	r := NewReader(WithNewClients(func(context.Context, pool.Identity, string) (Clients, error) {
		tries++
		return Clients{}, errors.New("secret canary")
	}))
	want := pool.Reading{
		Group:     unknown[*pool.Group](pool.ReadFailed, "the clients for AWS could not be made (docs/aws-access.md)"),
		Instances: unknown[[]pool.Instance](pool.ReadFailed, "the clients for AWS could not be made (docs/aws-access.md)"),
	}
	for range 2 {
		if diff := cmp.Diff(want, r.Read(context.Background(), query("demo")), anyTime()); diff != "" {
			t.Errorf("Read(...): -want, +got:\n%s", diff)
		}
	}
	if tries != 2 || len(r.views.byKey) != 0 {
		t.Errorf("want a failure to be tried again, got %d tries, %d views", tries, len(r.views.byKey))
	}
}
