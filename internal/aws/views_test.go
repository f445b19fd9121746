package aws

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

func tenant(name string) pool.Identity {
	return pool.Identity{Source: v1beta1.IdentitySecret, SharedCredentials: []byte(name)}
}

func TestViewsAreReusedAndDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		made := map[string]int{}
		r := NewReader(WithNewClients(func(_ context.Context, id pool.Identity, region string) (Clients, error) {
			mu.Lock()
			defer mu.Unlock()
			made[string(id.SharedCredentials)+" "+region]++
			return demoAWS().clients(), nil
		}))
		read := func(name, region string) {
			q := pool.Query{Identity: tenant(name), Region: region, GroupName: "demo", MaxAge: time.Minute}
			if got := r.Read(context.Background(), q); !got.Group.Known() {
				t.Errorf("%s in %s: got %+v", name, region, got)
			}
		}
		want := func(reason, key string, n int) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if made[key] != n {
				t.Errorf("%s: want clients for %s made %d times, got %d", reason, key, n, made[key])
			}
		}

		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { read("a", "us-east-1") })
			wg.Go(func() { read("a", "eu-central-1") })
		}
		wg.Wait()
		want("concurrent runs share clients", "a us-east-1", 1)
		want("each region has its own", "a eu-central-1", 1)

		time.Sleep(idleTime - time.Second)
		read("a", "us-east-1")
		want("what is in use stays", "a us-east-1", 1)

		time.Sleep(sweepTime)
		read("b", "us-east-1")
		if n := len(r.views.byKey); n != 2 {
			t.Errorf("want the idle view dropped, got %d views", n)
		}
		for i := range maxViews + 10 {
			read(fmt.Sprint("many", i), "us-east-1")
			time.Sleep(time.Millisecond)
			if n := len(r.views.byKey); n > maxViews {
				t.Fatalf("want at most %d views, got %d", maxViews, n)
			}
		}
		read("a", "us-east-1")
		want("the longest unused goes first", "a us-east-1", 2)
	})
}

// A run does not wait for clients for longer than it has, and what was dropped while it was made keeps nothing.
func TestViewsDroppedWhileMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, down := fakeFleet(1, 1000), &fakeAWS{fail: func(string, []string, int) error { return errors.New("down") }}
		gate := make(chan struct{})
		r := NewReader(WithNewClients(func(_ context.Context, _ pool.Identity, region string) (Clients, error) {
			if region == "us-slow-1" {
				<-gate
				return f.clients(), nil
			}
			return down.clients(), nil
		}))
		ask := func(ctx context.Context, region string) pool.Reading {
			return r.Read(ctx, pool.Query{Identity: podIdentity, Region: region, GroupName: fleetPool(0), MaxAge: time.Minute})
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		begin := time.Now()
		if got := ask(ctx, "us-slow-1"); got.Group.Err == nil || got.Group.Err.Reason != pool.ReadTimedOut || time.Since(begin) != 100*time.Millisecond {
			t.Errorf("want TimedOut when the run's time is over, got %+v after %s", got.Group, time.Since(begin))
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if got := ask(context.Background(), "us-slow-1"); !got.Group.Known() {
				t.Errorf("want whoever waits for a dropped view answered, got %+v", got.Group.Err)
			}
		})
		synctest.Wait()
		time.Sleep(time.Millisecond)
		for i := range maxViews {
			r.Read(context.Background(), pool.Query{Identity: podIdentity, Region: madeUpRegion(i), GroupName: "none", MaxAge: time.Minute})
		}
		close(gate)
		wg.Wait()
		if n := r.held.members.Held(); n != 0 {
			t.Errorf("want the dropped view to keep nothing, got %d units held", n)
		}
	})
}

// No identity and no region is ever answered with what another one sees, however their runs mix.
func TestTenantsAreIsolated(t *testing.T) {
	type step struct {
		pause          time.Duration
		tenant, region string
		group          string
		maxAge         time.Duration
	}
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			pause:  time.Duration(rapid.SampledFrom([]int{0, 0, 5, 30, 4000}).Draw(t, "pause")) * time.Millisecond,
			tenant: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tenant"),
			region: rapid.SampledFrom([]string{"us-east-1", "eu-central-1"}).Draw(t, "region"),
			group:  rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "group"),
			maxAge: time.Duration(rapid.SampledFrom([]int{0, 5, 60}).Draw(t, "maxAge")) * time.Second,
		}
	}), 1, 25)

	memberOf := func(tenant, region, group string) string {
		sum := sha256.Sum256([]byte(tenant + "/" + region + "/" + group))
		return fmt.Sprintf("i-%x", sum[:8])
	}
	rapid.Check(t, func(rt *rapid.T) {
		args := steps.Draw(rt, "steps")
		broken := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "broken")
		var mu sync.Mutex
		var wrong []string
		synctest.Test(t, func(*testing.T) {
			// Every tenant has groups of the same names. What is in them says whose they are.
			r := NewReader(WithNewClients(func(_ context.Context, id pool.Identity, region string) (Clients, error) {
				f := &fakeAWS{takes: 300 * time.Millisecond}
				for _, g := range []string{"one", "two", "three"} {
					member := memberOf(string(id.SharedCredentials), region, g)
					f.groups = append(f.groups, fakeGroup(g, member))
					f.instances = append(f.instances, fakeInstance(g, member, "running"))
				}
				if string(id.SharedCredentials) == broken {
					f.fail = func(string, []string, int) error { return apiError("UnauthorizedOperation", "no") }
				}
				return f.clients(), nil
			}))
			var wg sync.WaitGroup
			for _, s := range args {
				time.Sleep(s.pause)
				wg.Go(func() {
					got := r.Read(context.Background(), pool.Query{Identity: tenant(s.tenant), Region: s.region, GroupName: s.group, MaxAge: s.maxAge})
					want := memberOf(s.tenant, s.region, s.group)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case s.tenant == broken && (!got.Group.Failed() || !got.Instances.Failed()):
						wrong = append(wrong, fmt.Sprintf("%+v: want a failure, got %+v", s, got))
					case s.tenant != broken && (!got.Group.Known() || !got.Instances.Known()):
						wrong = append(wrong, fmt.Sprintf("%+v: want an answer, got %+v", s, got))
					case s.tenant != broken && (got.Group.Value.Members[0].InstanceID != want || len(got.Instances.Value) != 1 || got.Instances.Value[0].ID != want):
						wrong = append(wrong, fmt.Sprintf("%+v: want %s, got %+v", s, want, got))
					}
				})
			}
			wg.Wait()
		})
		if len(wrong) > 0 {
			rt.Fatal(strings.Join(wrong, "\n"))
		}
	})
}
