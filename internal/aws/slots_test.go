package aws

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSlotsAreGivenInTurn(t *testing.T) {
	cases := map[string]struct {
		reason       string
		n, perTenant int
		// args are tenants in the order in which they ask, each for a second.
		args []string
		// want is when each got its slot, in seconds.
		want []int
	}{
		"Free":        {reason: "What is free is not waited for.", n: 2, perTenant: 2, args: []string{"a", "a"}, want: []int{0, 0}},
		"Alone":       {reason: "A tenant waits behind itself.", n: 1, perTenant: 1, args: []string{"a", "a", "a"}, want: []int{0, 1, 2}},
		"Turns":       {reason: "Another tenant waits behind one of them.", n: 1, perTenant: 1, args: []string{"a", "a", "a", "b"}, want: []int{0, 1, 3, 2}},
		"Round":       {reason: "Each has a turn before one has the next.", n: 1, perTenant: 1, args: []string{"a", "a", "a", "b", "b", "c"}, want: []int{0, 1, 4, 2, 5, 3}},
		"OneIsLeft":   {reason: "A tenant that may not have all of them leaves one to others.", n: 3, perTenant: 2, args: []string{"a", "a", "a", "b", "c"}, want: []int{0, 0, 1, 0, 1}},
		"NobodyElse":  {reason: "Also when there is no other.", n: 3, perTenant: 2, args: []string{"a", "a", "a"}, want: []int{0, 0, 1}},
		"PassedOver":  {reason: "Who has as many as it may holds up nobody.", n: 2, perTenant: 1, args: []string{"a", "a", "a", "b", "b"}, want: []int{0, 1, 2, 0, 1}},
		"WithoutName": {reason: "A pool without a namespace is a tenant like any other.", n: 1, perTenant: 1, args: []string{"", "", "", "b"}, want: []int{0, 1, 3, 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSlots(tc.n, tc.perTenant, 0)
				begin := time.Now()
				got := make([]int, len(tc.args))
				var wg sync.WaitGroup
				for i, tenant := range tc.args {
					wg.Go(func() {
						if err := s.take(context.Background(), tenant); err != nil {
							t.Errorf("\n%s\n%v", tc.reason, err)
						}
						got[i] = int(time.Since(begin) / time.Second)
						time.Sleep(time.Second)
						s.give(tenant)
					})
					synctest.Wait()
				}
				wg.Wait()
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// Who has as many waiting as may is told so at once, and so holds no worker of Crossplane's. Others wait as before.
func TestSlotsHaveShortQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1, 2)
		begin := time.Now()
		var wg sync.WaitGroup
		ask := func(tenant string, want error, after time.Duration) {
			wg.Go(func() {
				err := s.take(context.Background(), tenant)
				if !errors.Is(err, want) || time.Since(begin) != after {
					t.Errorf("%s: want %v after %s, got %v after %s", tenant, want, after, err, time.Since(begin))
				}
				if err == nil {
					time.Sleep(time.Second)
					s.give(tenant)
				}
			})
			synctest.Wait()
		}
		ask("greedy", nil, 0)
		ask("greedy", nil, time.Second)
		ask("greedy", nil, 3*time.Second)
		ask("greedy", errQueueFull, 0)
		ask("modest", nil, 2*time.Second)
		ask("greedy", errQueueFull, 0)
		wg.Wait()
	})
}

// However tenants ask, and give up: no more have a slot than there are, none has more than it may, and none is lost.
func TestSlotsAreBounded(t *testing.T) {
	type ask struct {
		pause, patience, takes time.Duration
		tenant                 string
	}
	asks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ask {
		ms := func(name string, of ...int) time.Duration {
			return time.Duration(rapid.SampledFrom(of).Draw(t, name)) * time.Millisecond
		}
		return ask{
			pause: ms("pause", 0, 0, 1, 10), patience: ms("patience", 0, 5, 20, 1000), takes: ms("takes", 0, 1, 10, 30),
			tenant: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "tenant"),
		}
	}), 1, 40)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "slots")
		perTenant := rapid.IntRange(1, n).Draw(rt, "per tenant")
		waiting := rapid.IntRange(0, 4).Draw(rt, "waiting")
		args := asks.Draw(rt, "asks")
		var wrong []string
		synctest.Test(t, func(*testing.T) {
			s := newSlots(n, perTenant, waiting)
			var mu sync.Mutex
			have, all := map[string]int{}, 0
			note := func(tenant string, by int) {
				mu.Lock()
				defer mu.Unlock()
				have[tenant] += by
				all += by
				if have[tenant] > perTenant || all > n {
					wrong = append(wrong, fmt.Sprintf("%q has %d of %d", tenant, have[tenant], all))
				}
			}
			var wg sync.WaitGroup
			for _, a := range args {
				time.Sleep(a.pause)
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), a.patience)
					defer cancel()
					if err := s.take(ctx, a.tenant); err != nil {
						if !errors.Is(err, context.DeadlineExceeded) && (waiting == 0 || !errors.Is(err, errQueueFull)) {
							mu.Lock()
							defer mu.Unlock()
							wrong = append(wrong, err.Error())
						}
						return
					}
					note(a.tenant, 1)
					time.Sleep(a.takes)
					note(a.tenant, -1)
					s.give(a.tenant)
				})
			}
			wg.Wait()
			if s.free != n || len(s.taken)+len(s.queues)+len(s.order) != 0 {
				wrong = append(wrong, fmt.Sprintf("at the end %d of %d are free, %v, %v, %v", s.free, n, s.taken, s.queues, s.order))
			}
		})
		if len(wrong) > 0 {
			rt.Fatal(wrong)
		}
	})
}
