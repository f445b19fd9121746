package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/aws/batch"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// madeUpRegion is one that AWS could have and does not.
func madeUpRegion(i int) string {
	return fmt.Sprintf("us-made%c%c-%d", 'a'+i/26%26, 'a'+i%26, i/676+1)
}

// A slowAWS takes longer for some calls than a batch has: for images of a name that begins with slow, as a broad name among
// all images of Amazon's does, and for each refresh.
type slowAWS struct {
	*fakeAWS

	refresh time.Duration
}

func (s *slowAWS) newClients(context.Context, pool.Identity, string) (Clients, error) {
	return Clients{AutoScaling: s, EC2: s}, nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slowAWS) DescribeImages(ctx context.Context, in *ec2.DescribeImagesInput, opts ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	if strings.HasPrefix(filter(in.Filters, "name")[0], "slow") {
		if err := wait(ctx, 6*time.Second); err != nil {
			return nil, err
		}
	}
	return s.fakeAWS.DescribeImages(ctx, in, opts...)
}

func (s *slowAWS) DescribeInstanceRefreshes(ctx context.Context, in *autoscaling.DescribeInstanceRefreshesInput, opts ...func(*autoscaling.Options)) (*autoscaling.DescribeInstanceRefreshesOutput, error) {
	if err := wait(ctx, s.refresh); err != nil {
		return nil, err
	}
	return s.fakeAWS.DescribeInstanceRefreshes(ctx, in, opts...)
}

func imageNamed(name string) *pool.ImageQuery {
	return &pool.ImageQuery{Owner: "1", Name: name, Architecture: "x86_64"}
}

// besides runs the pools of a tenant without a pause, while fn runs.
func besides(r *Reader, pools int, q func(pool int, run int) pool.Query, fn func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for p := range pools {
		wg.Go(func() {
			for run := 0; ; run++ {
				select {
				case <-done:
					return
				default:
				}
				r.Read(context.Background(), q(p, run))
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	time.Sleep(time.Second)
	fn()
	close(done)
	wg.Wait()
}

// slowLookUps of a tenant, each pool with another name.
func slowLookUps(p, _ int) pool.Query {
	q := query("")
	q.Tenant, q.Image, q.MaxAge = "greedy", imageNamed(fmt.Sprintf("slow-%d-*", p)), 7500*time.Millisecond
	return q
}

// soon says how long a run took that others must not have held up.
func soon(t *testing.T, what string, fn func() bool) {
	t.Helper()
	for i := range 10 {
		begin := time.Now()
		if ok := fn(); !ok || time.Since(begin) > time.Second {
			t.Errorf("%s, run %d: want an answer within a second, got %t after %s", what, i, ok, time.Since(begin))
		}
		time.Sleep(700 * time.Millisecond)
	}
}

func TestOneTenantsImageLookUpsDoNotTimeOutAnothersMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowAWS{fakeAWS: fakeFleet(1, 3)}
		f.takes = 100 * time.Millisecond
		r := NewReader(WithNewClients(f.newClients))
		besides(r, 30, slowLookUps, func() {
			soon(t, "members", func() bool {
				q := query(fleetPool(0))
				q.Tenant = "modest"
				got := r.Read(context.Background(), q)
				return got.Group.Known() && len(got.Instances.Value) == 3
			})
		})
	})
}

// Of one tenant's images, and whoever it is that asks first.
func TestOneTenantsImageLookUpsDoNotStarveAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowAWS{fakeAWS: demoAWS()}
		f.takes = 100 * time.Millisecond
		r := NewReader(WithNewClients(f.newClients))
		besides(r, 30, slowLookUps, func() {
			soon(t, "image", func() bool {
				q := query("")
				q.Tenant, q.Image = "modest", imageNamed("ubuntu-*")
				got := r.Read(context.Background(), q)
				return got.Image.Known() && got.Image.Value != nil
			})
		})
	})
}

// There is no call for the refreshes of several groups, so a roll of a fleet is a call for each pool.
func TestAFleetWideRollDoesNotHoldUpMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowAWS{fakeAWS: fakeFleet(200, 3), refresh: 500 * time.Millisecond}
		f.takes = 100 * time.Millisecond
		f.refreshes = map[string][]astypes.InstanceRefresh{}
		for p := range 200 {
			f.refreshes[fleetPool(p)] = nil
		}
		r := NewReader(WithNewClients(f.newClients))
		rolling := func(p, _ int) pool.Query {
			q := query(fleetPool(p + 1))
			q.Tenant, q.Refresh = "fleet", true
			return q
		}
		besides(r, 199, rolling, func() {
			soon(t, "members", func() bool {
				got := r.Read(context.Background(), query(fleetPool(0)))
				return got.Group.Known() && len(got.Instances.Value) == 3
			})
			soon(t, "another tenant's refresh", func() bool {
				q := query(fleetPool(0))
				q.Tenant, q.Refresh = "modest", true
				return r.Read(context.Background(), q).Refresh.Known()
			})
		})
	})
}

// regions is AWS with some regions that are there; no other is reached.
func regions(f *fakeAWS, there ...string) NewClientsFn {
	down := &fakeAWS{fail: func(string, []string, int) error { return errors.New("no such host") }}
	return func(_ context.Context, _ pool.Identity, region string) (Clients, error) {
		if slices.Contains(there, region) {
			return f.clients(), nil
		}
		return down.clients(), nil
	}
}

// A pool's region is what its author writes. Each makes a view, and there is room for so many.
func TestOneTenantsRegionsDoNotEvictOthersViews(t *testing.T) {
	cases := map[string]struct {
		reason string
		greedy func(i int) (tenant, region string)
	}{
		"OneTenant":  {reason: "Regions that AWS could have.", greedy: func(i int) (string, string) { return "greedy", madeUpRegion(i) }},
		"TwoTenants": {reason: "Two who share what they made up have no more than one.", greedy: func(i int) (string, string) { return fmt.Sprint("greedy", i%2), madeUpRegion(i / 2) }},
		"Zones":      {reason: "What is no region makes no view.", greedy: func(i int) (string, string) { return "greedy", fmt.Sprintf("us-east-%da", i) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const victims, madeUp = 20, 600
				f := fakeFleet(1, 3)
				there := []string{"us-east-1", "us-east-2"}
				var mu sync.Mutex
				made := map[string]int{}
				newClients := regions(f, there...)
				r := NewReader(WithNewClients(func(ctx context.Context, id pool.Identity, region string) (Clients, error) {
					mu.Lock()
					defer mu.Unlock()
					made[string(id.SharedCredentials)+region]++
					return newClients(ctx, id, region)
				}))
				// Each has credentials of its own. The last one's region does not answer: it has no less right to a view.
				look := func(i int) {
					q := pool.Query{Identity: tenant(fmt.Sprint("victim", i)), Region: "us-east-1", GroupName: fleetPool(0), MaxAge: time.Minute, Tenant: fmt.Sprint("victim", i)}
					if i == victims-1 {
						q.Region = "us-west-1"
					}
					if got := r.Read(context.Background(), q); got.Group.Known() != (i < victims-1) {
						t.Errorf("\n%s\nvictim %d: got %+v", tc.reason, i, got.Group.Err)
					}
				}
				for i := range victims {
					look(i)
				}
				calls := f.ops()[opGroups]
				for i := range madeUp {
					who, region := tc.greedy(i)
					r.Read(context.Background(), pool.Query{Identity: podIdentity, Region: region, GroupName: fleetPool(0), Tenant: who})
					time.Sleep(time.Millisecond)
				}
				for i := range victims {
					look(i)
				}
				if n := f.ops()[opGroups] - calls; n != 0 {
					t.Errorf("\n%s\nwant what the victims read kept, got %d calls more", tc.reason, n)
				}
				for i := range victims {
					for _, region := range []string{"us-east-1", "us-west-1"} {
						if n := made[fmt.Sprint("victim", i)+region]; n > 1 {
							t.Errorf("\n%s\nvictim %d: want its clients made once, got %d times", tc.reason, i, n)
						}
					}
				}

				// And who comes later finds room, too.
				late := pool.Query{Identity: tenant("late"), Region: "us-east-2", GroupName: fleetPool(0), MaxAge: time.Minute, Tenant: "late"}
				for range 3 {
					if got := r.Read(context.Background(), late); !got.Group.Known() {
						t.Errorf("\n%s\nlate: got %+v", tc.reason, got.Group.Err)
					}
					for i := range 200 {
						who, region := tc.greedy(i)
						r.Read(context.Background(), pool.Query{Identity: podIdentity, Region: region, GroupName: fleetPool(0), Tenant: who})
						time.Sleep(time.Millisecond)
					}
				}
				if n := made["lateus-east-2"]; n != 1 {
					t.Errorf("\n%s\nlate: want its clients made once, got %d times", tc.reason, n)
				}
			})
		})
	}
}

// Views that AWS answers can be too many, too: those of one tenant's credentials, say.
func TestOneTenantsCredentialsDoNotEvictOthersViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeFleet(1, 3)
		made := map[string]int{}
		r := NewReader(WithNewClients(func(_ context.Context, id pool.Identity, _ string) (Clients, error) {
			made[string(id.SharedCredentials)]++
			return f.clients(), nil
		}))
		read := func(who, credentials string) {
			q := pool.Query{Identity: tenant(credentials), Region: "us-east-1", GroupName: fleetPool(0), MaxAge: time.Minute, Tenant: who}
			if got := r.Read(context.Background(), q); !got.Group.Known() {
				t.Errorf("%s with %s: got %+v", who, credentials, got.Group.Err)
			}
			time.Sleep(time.Millisecond)
		}
		for i := range 10 {
			read(fmt.Sprint("modest", i), fmt.Sprint("modest", i))
		}
		for i := range 3 * maxViews {
			read("greedy", fmt.Sprint("greedy", i))
			if n := len(r.views.byKey); n > maxViews {
				t.Fatalf("want at most %d views, got %d", maxViews, n)
			}
		}
		for i := range 10 {
			read(fmt.Sprint("modest", i), fmt.Sprint("modest", i))
			if n := made[fmt.Sprint("modest", i)]; n != 1 {
				t.Errorf("modest%d: want its clients made once, got %d times", i, n)
			}
		}
		// Unless nobody used them for so long that they keep nothing.
		time.Sleep(rememberTime)
		for i := range 3 * maxViews {
			read("greedy", fmt.Sprint("again", i))
		}
		read("modest0", "modest0")
		if n := made["modest0"]; n != 2 {
			t.Errorf("want a view that keeps nothing to make room, got its clients made %d times", n)
		}
	})
}

// room makes a Reader keep less than it does, so that a test need not fill all of it.
func room(members, images int) Option {
	return func(o *options) {
		o.held = budgets{members: batch.NewBudget(members), images: batch.NewBudget(images)}
	}
}

// A tenant can look for any number of names, found or not.
func TestOneTenantsImageNamesDoNotEvictOthersImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// As many at a time as may wait.
		const madeUp, burst = 3000, 40
		f := demoAWS()
		r := newFakeReader(t, f, room(1000, 400))
		look := func(tenant, name string) {
			q := query("")
			q.Tenant, q.Image, q.MaxAge = tenant, imageNamed(name), time.Minute
			if got := r.Read(context.Background(), q); !got.Image.Known() {
				t.Errorf("%s: got %+v", name, got.Image.Err)
			}
		}
		members := func(tenant, group string) {
			q := query(group)
			q.Tenant, q.MaxAge = tenant, time.Minute
			r.Read(context.Background(), q)
		}
		look("modest", "ubuntu-1.34.1-a")
		members("modest", "demo")
		before := f.ops()
		for i := range madeUp / burst {
			var wg sync.WaitGroup
			for j := range burst {
				wg.Go(func() { look("greedy", fmt.Sprintf("made-up-%d-%d", i, j)) })
			}
			wg.Wait()
			if n := r.held.images.Held(); n > 400 {
				t.Fatalf("want at most 400 answers kept, got %d", n)
			}
		}
		look("modest", "ubuntu-1.34.1-a")
		if n := f.ops()[opImages] - before[opImages]; n != madeUp {
			t.Errorf("want the image kept that another tenant looked for before, got %d calls more", n-madeUp)
		}
		for range 2 {
			look("late", "ubuntu-1.34.1-b")
		}
		if n := f.ops()[opImages] - before[opImages]; n != madeUp+1 {
			t.Errorf("want the image kept that another tenant looks for now, got %d calls more", n-madeUp)
		}
		members("modest", "demo")
		for range 2 {
			members("late", "other")
		}
		if n := f.ops()[opGroups] - before[opGroups]; n != 1 {
			t.Errorf("want members kept, got %d calls more", n)
		}
	})
}

// What one tenant's pools have is at most a part of what is kept for all.
func TestOneTenantDoesNotSpendTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// 40 pools of 100 members are twice what is kept.
		f := fakeFleet(42, 100)
		r := newFakeReader(t, f, room(2000, 10))
		read := func(tenant string, p int) {
			q := query(fleetPool(p))
			q.Tenant, q.MaxAge = tenant, time.Minute
			if got := r.Read(context.Background(), q); len(got.Instances.Value) != 100 {
				t.Fatalf("%s: got %d members, %+v", q.GroupName, len(got.Instances.Value), got.Instances.Err)
			}
		}
		for p := range 40 {
			read("greedy", p)
		}
		read("modest", 40)
		calls := f.ops()[opGroups]
		read("modest", 40)
		if n := f.ops()[opGroups] - calls; n != 0 {
			t.Errorf("want what another tenant reads kept, got %d calls more", n)
		}
		read("late", 41)
		calls = f.ops()[opGroups]
		read("late", 41)
		if n := f.ops()[opGroups] - calls; n != 0 {
			t.Errorf("want what a third tenant reads kept, got %d calls more", n)
		}
	})
}

// A tenant can make any number of pools without a group, each of which asks whose the group of its name is.
func TestOneTenantsPoolsWithoutAGroupDoNotHoldUpAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeFleet(1, 3)
		f.takes = 900 * time.Millisecond
		r := newFakeReader(t, f)
		groupless := func(p, run int) pool.Query {
			q := query("")
			q.Tenant, q.Claims = "greedy", []string{fmt.Sprintf("mp-greedy-%d-%d", p, run)}
			return q
		}
		besides(r, 400, groupless, func() {
			for i := range 5 {
				begin := time.Now()
				q := query("")
				q.Tenant, q.Claims = "modest", []string{fleetPool(0)}
				got := r.Read(context.Background(), q).Claims[fleetPool(0)]
				if took := time.Since(begin); !got.Known() || took > time.Second {
					t.Errorf("run %d: want an answer within a second, got %+v after %s", i, got.Err, took)
				}
				time.Sleep(300 * time.Millisecond)
			}
		})
	})
}

// Crossplane has 100 workers. A tenant whose look-ups are slow does not have them all wait.
func TestOneTenantsSlowLookUpsHoldFewWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowAWS{fakeAWS: demoAWS()}
		r := NewReader(WithNewClients(f.newClients))
		var mu sync.Mutex
		var wg sync.WaitGroup
		waited := 0
		for p := range 400 {
			wg.Go(func() {
				begin := time.Now()
				got := r.Read(context.Background(), slowLookUps(p, 0)).Image
				mu.Lock()
				defer mu.Unlock()
				switch took := time.Since(begin); {
				case took > time.Second:
					waited++
				case got.Err == nil || got.Err.Reason != pool.ReadThrottled || !strings.Contains(got.Err.Message, "pools of this namespace wait already"):
					t.Errorf("want a failure that says why, got %+v", got.Err)
				}
			})
		}
		wg.Wait()
		if want := maxTenantImageCalls + maxWaiting; waited != want {
			t.Errorf("want %d runs to wait, got %d", want, waited)
		}
	})
}

// What AWS denies to one tenant's look-up may be allowed to another's, which asks for another owner.
func TestARefusedLookUpOfOneTenantDoesNotAnswerAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := demoAWS()
		f.fail = func(op string, names []string, _ int) error {
			if op == opImages && strings.HasPrefix(names[0], "secret") {
				return apiError("AuthFailure", "no")
			}
			return nil
		}
		r := newFakeReader(t, f)
		look := func(tenant, name string) pool.Read[*pool.Image] {
			q := query("")
			q.Tenant, q.Image = tenant, imageNamed(name)
			return r.Read(context.Background(), q).Image
		}
		for range 3 {
			if got := look("greedy", "secret-*"); !got.Failed() || got.Err.Reason != pool.ReadCredentialsInvalid {
				t.Errorf("greedy: want it refused, got %+v", got)
			}
			if got := look("modest", "ubuntu-*"); !got.Known() || got.Value == nil {
				t.Errorf("modest: want the image, got %+v", got.Err)
			}
			pin := query("")
			pin.Image = &pool.ImageQuery{ID: "ami-00000001"}
			if got := r.Read(context.Background(), pin).Image; !got.Known() || got.Value == nil {
				t.Errorf("pin: want the image, got %+v", got.Err)
			}
		}
		if n := f.ops()[opImages]; n != 1+3+3 {
			t.Errorf("want one call that is refused, got %d", n-3-3)
		}
	})
}

// What fails for everybody is asked for by one of all: signing in, and an account that is throttled.
func TestARefusedIdentityAnswersAllTenants(t *testing.T) {
	for name, err := range map[string]error{
		"SigningIn": &credentialsError{err: apiError("AccessDenied", "not allowed to assume the role")},
		"Throttled": apiError("RequestLimitExceeded", "no"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := demoAWS()
				f.fail = failing(opImages, err)
				r := newFakeReader(t, f)
				for i := range 20 {
					q := query("")
					q.Tenant, q.Image = fmt.Sprint("tenant", i), imageNamed("ubuntu-*")
					if got := r.Read(context.Background(), q).Image; !got.Failed() {
						t.Errorf("tenant %d: want it refused, got %+v", i, got)
					}
				}
				if n := f.ops()[opImages]; n != 1 {
					t.Errorf("want one call for all, got %d", n)
				}
			})
		})
	}
}
