package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	gather   = 20 * time.Millisecond
	deadline = 4 * time.Second
	fetch1s  = time.Second
)

// A backend stands in for AWS: it answers each key with when it was asked, and records the batches.
type backend struct {
	takes time.Duration
	fails map[string]bool

	mu      sync.Mutex
	batches [][]string
	ctxErrs []error
}

type answer struct {
	key   string
	asked time.Time
	list  []int
}

func (b *backend) fetch(ctx context.Context, keys []string) map[string]Result[answer] {
	asked := time.Now()
	select {
	case <-time.After(b.takes):
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batches = append(b.batches, slices.Clone(keys))
	b.ctxErrs = append(b.ctxErrs, ctx.Err())
	out := make(map[string]Result[answer], len(keys))
	for _, k := range keys {
		if k == "unanswered" {
			continue
		}
		out[k] = Result[answer]{Value: answer{key: k, asked: asked, list: []int{1, 2, 3}}, Keep: !b.fails[k]}
	}
	return out
}

func (b *backend) fetchOne(ctx context.Context, key, _ string) Result[answer] {
	return b.fetch(ctx, []string{key})[key]
}

func (b *backend) loader(mod func(*Config[string, answer])) *Loader[string, answer] {
	cfg := Config[string, answer]{
		Fetch:    b.fetch,
		Clone:    func(a answer) answer { a.list = slices.Clone(a.list); return a },
		Gather:   gather,
		Deadline: deadline,
		MaxKeys:  100,
		MaxAge:   time.Minute,
		Remember: 2 * time.Minute,
	}
	if mod != nil {
		mod(&cfg)
	}
	return New(cfg)
}

func (b *backend) calls() [][]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.batches)
}

func get(t *testing.T, l *Loader[string, answer], key string, maxAge time.Duration) answer {
	t.Helper()
	a, err := l.Want(key, maxAge, "").Wait(context.Background())
	if err != nil {
		t.Fatalf("cannot get %s: %v", key, err)
	}
	return a
}

func TestLoaderCalls(t *testing.T) {
	type step struct {
		wait   time.Duration
		key    string
		maxAge time.Duration
	}

	cases := map[string]struct {
		reason string
		takes  time.Duration
		fails  map[string]bool
		mod    func(*Config[string, answer])
		args   []step
		want   [][]string
		// unordered says that batches are of the same moment, and begin in any order.
		unordered bool
	}{
		"Gathered": {
			reason: "Keys that are wanted while a batch gathers are read in one call.",
			args:   []step{{key: "a"}, {wait: 10 * time.Millisecond, key: "b"}, {wait: 9 * time.Millisecond, key: "a"}},
			want:   [][]string{{"a", "b"}},
		},
		"GatheringIsShort": {
			reason: "A key that comes later than the gathering goes into the next call.",
			args:   []step{{key: "a"}, {wait: 21 * time.Millisecond, key: "b"}},
			want:   [][]string{{"a"}, {"b"}},
		},
		"Full": {
			reason: "A full batch does not wait.",
			mod:    func(c *Config[string, answer]) { c.MaxKeys = 2 },
			args:   []step{{key: "a"}, {key: "b"}, {key: "c"}},
			want:   [][]string{{"a", "b"}, {"c"}},
		},
		"UnderWay": {
			reason: "A call that is under way answers those who accept its age.",
			takes:  fetch1s,
			args:   []step{{key: "a"}, {wait: 500 * time.Millisecond, key: "a", maxAge: 10 * time.Second}},
			want:   [][]string{{"a"}},
		},
		"UnderWayTooOld": {
			reason: "A call that is under way is no answer to those who accept no age.",
			takes:  fetch1s,
			args:   []step{{key: "a"}, {wait: 500 * time.Millisecond, key: "a"}},
			want:   [][]string{{"a"}, {"a"}},
		},
		"Kept": {
			reason: "An answer is kept for those who accept its age, and no longer.",
			args: []step{
				{key: "a"},
				{wait: 9 * time.Second, key: "a", maxAge: 10 * time.Second},
				{wait: 2 * time.Second, key: "a", maxAge: 10 * time.Second},
			},
			want: [][]string{{"a"}, {"a"}},
		},
		"HardMaximum": {
			reason: "No caller can accept more than the loader's own maximum.",
			args:   []step{{key: "a", maxAge: time.Hour}, {wait: 61 * time.Second, key: "a", maxAge: time.Hour}},
			want:   [][]string{{"a"}, {"a"}},
		},
		"FailureIsNotKept": {
			reason: "A failure answers those who waited, nobody later.",
			fails:  map[string]bool{"a": true},
			args:   []step{{key: "a", maxAge: time.Minute}, {wait: time.Second, key: "a", maxAge: time.Minute}},
			want:   [][]string{{"a"}, {"a"}},
		},
		"Prefetched": {
			reason: "A kept key that has used up half of its age is read with the next batch, and then is an answer for longer.",
			mod:    func(c *Config[string, answer]) { c.PrefetchKeys, c.PrefetchWeight = 100, 1000 },
			args: []step{
				{key: "a", maxAge: 10 * time.Second},
				{wait: 6 * time.Second, key: "b", maxAge: 10 * time.Second},
				{wait: 6 * time.Second, key: "a", maxAge: 10 * time.Second},
			},
			want: [][]string{{"a"}, {"b", "a"}},
		},
		"NotPrefetchedWhileFresh": {
			reason: "A kept key that is fresh is not prefetched.",
			mod:    func(c *Config[string, answer]) { c.PrefetchKeys, c.PrefetchWeight = 100, 1000 },
			args:   []step{{key: "a", maxAge: 10 * time.Second}, {wait: 4 * time.Second, key: "b", maxAge: 10 * time.Second}},
			want:   [][]string{{"a"}, {"b"}},
		},
		"PrefetchedOldestFirstAsRoomAllows": {
			reason: "No more keys are prefetched than fit into a call.",
			mod:    func(c *Config[string, answer]) { c.PrefetchKeys, c.PrefetchWeight = 2, 1000 },
			args: []step{
				{key: "a", maxAge: 10 * time.Second},
				{wait: time.Second, key: "b", maxAge: 10 * time.Second},
				{wait: 7 * time.Second, key: "c", maxAge: 10 * time.Second},
			},
			want: [][]string{{"a"}, {"b"}, {"c", "a"}},
		},
		"PrefetchedAsWeightAllows": {
			reason: "No more weight is prefetched than fits into a page.",
			mod: func(c *Config[string, answer]) {
				c.PrefetchKeys, c.PrefetchWeight = 100, 10
				c.Weigh = func(a answer) int { return map[string]int{"big": 9, "small": 4}[a.key] }
			},
			args: []step{
				{key: "big", maxAge: 10 * time.Second},
				{wait: time.Second, key: "small", maxAge: 10 * time.Second},
				{wait: 7 * time.Second, key: "c", maxAge: 10 * time.Second},
			},
			want: [][]string{{"big"}, {"small"}, {"c", "small"}},
		},
		"NotPrefetchedWhenForgotten": {
			reason: "A key that nobody wants any more is not read for ever.",
			mod:    func(c *Config[string, answer]) { c.PrefetchKeys, c.PrefetchWeight = 100, 1000 },
			args:   []step{{key: "a", maxAge: 10 * time.Second}, {wait: 121 * time.Second, key: "b", maxAge: 10 * time.Second}},
			want:   [][]string{{"a"}, {"b"}},
		},
		"NotPrefetchedForThoseWhoAcceptNoAge": {
			reason: "Reading ahead is of no use to those who accept no age.",
			mod:    func(c *Config[string, answer]) { c.PrefetchKeys, c.PrefetchWeight = 100, 1000 },
			args:   []step{{key: "a"}, {wait: 6 * time.Second, key: "b"}},
			want:   [][]string{{"a"}, {"b"}},
		},
		"HeavyIsAlone": {
			reason: "A key that is known to be heavy holds up no other, and takes none along.",
			mod: func(c *Config[string, answer]) {
				c.AloneWeight, c.PrefetchKeys, c.PrefetchWeight = 10, 100, 1000
				c.Weigh = func(a answer) int { return map[string]int{"big": 10, "small": 9}[a.key] }
			},
			args: []step{
				{key: "big", maxAge: 10 * time.Second},
				{key: "small", maxAge: 10 * time.Second},
				{key: "other", maxAge: 10 * time.Second},
				{wait: 11 * time.Second, key: "small", maxAge: 10 * time.Second},
				{key: "other", maxAge: 10 * time.Second},
				{key: "big", maxAge: 10 * time.Second},
			},
			want:      [][]string{{"big"}, {"big", "small", "other"}, {"small", "other"}},
			unordered: true,
		},
		"NewIsApart": {
			reason: "Nobody knows how heavy a new key is: one that is known does not wait for it, nor is it prefetched with it.",
			mod: func(c *Config[string, answer]) {
				c.NewApart, c.PrefetchKeys, c.PrefetchWeight = true, 100, 1000
			},
			args: []step{
				{key: "a", maxAge: 10 * time.Second},
				{key: "b", maxAge: 10 * time.Second},
				{key: "c", maxAge: 10 * time.Second},
				{wait: 11 * time.Second, key: "new", maxAge: 10 * time.Second},
				{key: "a", maxAge: 10 * time.Second},
				{key: "newer", maxAge: 10 * time.Second},
				{key: "b", maxAge: 10 * time.Second},
			},
			want:      [][]string{{"a", "b", "c"}, {"a", "b", "c"}, {"new", "newer"}},
			unordered: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{takes: tc.takes, fails: tc.fails}
				l := b.loader(tc.mod)
				var wg sync.WaitGroup
				for _, s := range tc.args {
					time.Sleep(s.wait)
					synctest.Wait()
					p := l.Want(s.key, s.maxAge, "")
					wg.Go(func() {
						a, err := p.Wait(context.Background())
						if err != nil || a.key != s.key {
							t.Errorf("\n%s\nWant(%q): got %q, %v", tc.reason, s.key, a.key, err)
						}
					})
				}
				wg.Wait()
				got := b.calls()
				if tc.unordered {
					slices.SortFunc(got, slices.Compare[[]string])
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nbatches: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// What is read for one payer holds nobody else's keys, and is one call all the same.
func TestLoaderOfOnePayer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		var mu sync.Mutex
		got := map[string][]string{}
		l := b.loader(func(c *Config[string, answer]) {
			c.Fetch = nil
			c.FetchFor = func(ctx context.Context, keys []string, payer string) map[string]Result[answer] {
				mu.Lock()
				defer mu.Unlock()
				got[payer] = append(got[payer], keys...)
				return b.fetch(ctx, keys)
			}
		})
		var wg sync.WaitGroup
		for _, key := range []string{"a1", "b1", "a2", "b2", "a3"} {
			p := l.Want(key, 0, key[:1])
			wg.Go(func() {
				if a, err := p.Wait(context.Background()); err != nil || a.key != key {
					t.Errorf("Want(%q): got %q, %v", key, a.key, err)
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff(map[string][]string{"a": {"a1", "a2", "a3"}, "b": {"b1", "b2"}}, got); diff != "" || len(b.calls()) != 2 {
			t.Errorf("want a call for each payer, got %v, -want, +got:\n%s", b.calls(), diff)
		}
	})
}

func TestLoaderFirstCallerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{takes: fetch1s}
		l := b.loader(nil)
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		first, second := l.Want("a", 0, ""), l.Want("a", 0, "")
		if _, err := first.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("first: want its own deadline, got %v", err)
		}
		if a, err := second.Wait(context.Background()); err != nil || a.key != "a" {
			t.Errorf("second: want the answer, got %v, %v", a, err)
		}
		if len(b.batches) != 1 || b.ctxErrs[0] != nil {
			t.Errorf("want one undisturbed batch, got %v, %v", b.batches, b.ctxErrs)
		}
	})
}

func TestLoaderOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{takes: time.Hour}
		begin := time.Now()
		get(t, b.loader(nil), "a", 0)
		if got, want := time.Since(begin), gather+deadline; got != want {
			t.Errorf("want the batch to end after %s, got %s", want, got)
		}
	})
}

func TestLoaderNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		if _, err := b.loader(nil).Want("unanswered", 0, "").Wait(context.Background()); !errors.Is(err, ErrNotAnswered) {
			t.Errorf("want ErrNotAnswered, got %v", err)
		}
	})
}

func TestLoaderOlderAnswerNeverReplacesNewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var called atomic.Bool
		b := &backend{}
		l := b.loader(func(c *Config[string, answer]) {
			c.Fetch = func(context.Context, []string) map[string]Result[answer] {
				asked := time.Now()
				if !called.Swap(true) {
					time.Sleep(3 * time.Second)
				}
				return map[string]Result[answer]{"a": {Value: answer{key: "a", asked: asked}, Keep: true}}
			}
		})
		first := l.Want("a", 0, "")
		time.Sleep(time.Second)
		newer := get(t, l, "a", 0)
		if _, err := first.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := get(t, l, "a", time.Minute); !got.asked.Equal(newer.asked) {
			t.Errorf("want the newer answer kept, got the one asked at %s", got.asked)
		}
	})
}

func TestLoaderCallersCannotChangeWhatOthersSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		l := b.loader(nil)
		one, two := l.Want("a", time.Minute, ""), l.Want("a", time.Minute, "")
		a, _ := one.Wait(context.Background())
		a.list[0] = 99
		other, _ := two.Wait(context.Background())
		kept := get(t, l, "a", time.Minute)
		kept.list[1] = 99
		again := get(t, l, "a", time.Minute)
		for name, got := range map[string][]int{"waiting with it": other.list, "from the cache": again.list} {
			if diff := cmp.Diff([]int{1, 2, 3}, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", name, diff)
			}
		}
	})
}

func TestLoaderMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Of which one payer alone may have three quarters.
		budget := NewBudget(12)
		b := &backend{}
		mod := func(c *Config[string, answer]) { c.Budget = budget }
		one, two := b.loader(mod), b.loader(mod)
		for i := range 20 {
			get(t, one, fmt.Sprint(i), time.Minute)
			get(t, two, fmt.Sprint(i), time.Minute)
			if got := budget.Held(); got > 9 {
				t.Fatalf("want at most 9 units held, got %d", got)
			}
		}
		if got := budget.Held(); got != 9 {
			t.Errorf("want the budget used, got %d units held", got)
		}
		one.Close()
		if got := budget.Held(); got != 4 {
			t.Errorf("want a closed loader's units back, got %d held", got)
		}
		get(t, one, "after", time.Minute)
		if got := budget.Held(); got != 4 {
			t.Errorf("want a closed loader to keep nothing, got %d held", got)
		}
		time.Sleep(2 * time.Minute)
		two.Sweep()
		if got := budget.Held(); got != 0 {
			t.Errorf("want forgotten units back, got %d held", got)
		}
		if len(one.newest)+len(two.newest) != 0 {
			t.Errorf("want no batch left, got %d and %d", len(one.newest), len(two.newest))
		}
	})
}

// Where there is no common call, a key that takes long holds up no other, and callers still share a key.
func TestLoaderOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type call struct {
			Key, Payer string
		}
		var mu sync.Mutex
		var calls []call
		l := New(Config[string, string]{
			FetchOne: func(_ context.Context, key, payer string) Result[string] {
				mu.Lock()
				calls = append(calls, call{Key: key, Payer: payer})
				mu.Unlock()
				if key == "slow" {
					time.Sleep(fetch1s)
				}
				return Result[string]{Value: key, Keep: true}
			},
			Clone:    func(s string) string { return s },
			Gather:   gather,
			Deadline: deadline,
			MaxAge:   time.Minute,
			Remember: 2 * time.Minute,
		})
		begin := time.Now()
		var wg sync.WaitGroup
		want := func(key, payer string, took time.Duration) {
			p := l.Want(key, 0, payer)
			wg.Go(func() {
				v, err := p.Wait(context.Background())
				if err != nil || v != key || time.Since(begin) != took {
					t.Errorf("%s: got %q, %v after %s, want it after %s", key, v, err, time.Since(begin), took)
				}
			})
		}
		want("slow", "a", gather+fetch1s)
		want("quick", "a", gather)
		want("quick", "b", gather)
		wg.Wait()
		slices.SortFunc(calls, func(a, b call) int { return strings.Compare(a.Key, b.Key) })
		if diff := cmp.Diff([]call{{Key: "quick", Payer: "b"}, {Key: "slow", Payer: "a"}}, calls); diff != "" {
			t.Errorf("calls: -want, +got:\n%s", diff)
		}
		if l.Want("slow", time.Minute, "c").done != nil || len(l.newest) != 0 {
			t.Errorf("want the answer kept and nothing under way, got %d", len(l.newest))
		}
	})
}

// Whatever callers do, an answer is for the key that was asked and no older than was accepted.
func TestLoaderAnswersAreAsAsked(t *testing.T) {
	type step struct {
		pause  time.Duration
		key    string
		maxAge time.Duration
	}
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			pause:  time.Duration(rapid.SampledFrom([]int{0, 1, 15, 40, 900, 5000}).Draw(t, "pause")) * time.Millisecond,
			key:    rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "key"),
			maxAge: time.Duration(rapid.SampledFrom([]int{0, 1, 10, 3600}).Draw(t, "maxAge")) * time.Second,
		}
	}), 1, 30)

	rapid.Check(t, func(rt *rapid.T) {
		b := &backend{takes: time.Duration(rapid.IntRange(0, 3000).Draw(rt, "takes")) * time.Millisecond}
		mod := func(c *Config[string, answer]) {
			if rapid.Bool().Draw(rt, "one by one") {
				c.FetchOne = b.fetchOne
			}
			c.MaxKeys = rapid.IntRange(1, 4).Draw(rt, "maxKeys")
			c.PrefetchKeys = rapid.IntRange(0, 4).Draw(rt, "rideKeys")
			c.PrefetchWeight = rapid.IntRange(0, 8).Draw(rt, "rideWeight")
			c.Budget = NewBudget(rapid.IntRange(0, 5).Draw(rt, "budget"))
		}
		l := b.loader(mod)
		args := steps.Draw(rt, "steps")

		// The bubble is another goroutine, which must not end the test: it only notes what is wrong.
		var mu sync.Mutex
		var wrong []string
		note := func(format string, a ...any) {
			mu.Lock()
			defer mu.Unlock()
			wrong = append(wrong, fmt.Sprintf(format, a...))
		}
		wanted := map[string]bool{}
		synctest.Test(t, func(*testing.T) {
			var wg sync.WaitGroup
			for _, s := range args {
				time.Sleep(s.pause)
				wanted[s.key] = true
				now, p := time.Now(), l.Want(s.key, s.maxAge, "")
				wg.Go(func() {
					a, err := p.Wait(context.Background())
					if err != nil || a.key != s.key {
						note("Want(%q): got %q, %v", s.key, a.key, err)
					}
					if age := now.Sub(a.asked); age > 0 && age >= min(s.maxAge, time.Minute) {
						note("Want(%q, %s): got an answer %s old", s.key, s.maxAge, age)
					}
					if late := a.asked.Sub(now); late > gather {
						note("Want(%q): gathered for %s", s.key, late)
					}
				})
			}
			wg.Wait()
		})
		for _, keys := range b.calls() {
			seen := map[string]bool{}
			for _, k := range keys {
				if seen[k] || !wanted[k] {
					note("want each key once and none unasked, got batch %v", keys)
				}
				seen[k] = true
			}
		}
		if len(wrong) > 0 {
			rt.Fatal(wrong)
		}
	})
}
