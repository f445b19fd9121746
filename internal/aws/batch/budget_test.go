package batch

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// However much payers want, each next one gets a part of what is left.
func TestBudgetIsShared(t *testing.T) {
	b := NewBudget(1000)
	most := func(payer string) int {
		n := 0
		for b.take(payer, 1) {
			n++
		}
		return n
	}
	for i, want := range []int{750, 187, 47} {
		if got := most(fmt.Sprint("greedy", i)); got != want {
			t.Errorf("greedy payer %d: want %d units, got %d", i, want, got)
		}
	}
	if !b.take("modest", 10) {
		t.Error("want some left for a payer that has none")
	}
	if b.take("greedy0", 1) {
		t.Error("want no more for a payer that has the most")
	}
	b.give("greedy0", 750)
	if got := most("modest"); got < 500 {
		t.Errorf("want what was given back for others, got %d units", got)
	}
}

// A payer that has more than its part loses it as what it pays for is read again, which makes room for others.
func TestBudgetIsGivenUpToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget, b := NewBudget(100), &backend{}
		l := b.loader(func(c *Config[string, answer]) { c.Budget = budget })
		read := func(payer string, n int) {
			for i := range n {
				if _, err := l.Want(fmt.Sprint(payer, i), 0, payer).Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 20 {
			read("a", 90)
			read("b", 90)
			read("c", 5)
		}
		if a, b, c := budget.by["a"], budget.by["b"], budget.by["c"]; a < 35 || b < 35 || c != 5 || a+b+c > 100 {
			t.Errorf("want about as much for a as for b, and all that c wants, got %d, %d and %d", a, b, c)
		}
		time.Sleep(2 * time.Minute)
		l.Sweep()
		if n := budget.Held(); n != 0 || len(budget.by) != 0 {
			t.Errorf("want all given back, got %d held by %v", n, budget.by)
		}
	})
}

// Who asks for what another keeps does not make that go.
func TestBudgetOfASharedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget, b := NewBudget(100), &backend{}
		l := b.loader(func(c *Config[string, answer]) { c.Budget = budget })
		want := func(key, payer string, maxAge time.Duration) {
			if _, err := l.Want(key, maxAge, payer).Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		want("shared", "modest", 0)
		for i := range 100 {
			want(fmt.Sprint("greedy", i), "greedy", 0)
		}
		want("shared", "greedy", 0)
		calls := len(b.calls())
		want("shared", "modest", time.Minute)
		if n := len(b.calls()) - calls; n != 0 {
			t.Errorf("want it kept for who paid for it before, got %d calls more", n)
		}
	})
}

// Whatever is taken and given back, no more is held than there is.
func TestBudgetIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 50).Draw(t, "limit")
		b, has, held := NewBudget(limit), map[string]int{}, 0
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			payer, n := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "payer"), rapid.IntRange(1, 20).Draw(t, "units")
			if rapid.Bool().Draw(t, "give") {
				n = min(n, has[payer])
				b.give(payer, n)
				n = -n
			} else if !b.take(payer, n) {
				n = 0
			}
			has[payer] += n
			held += n
			if held > limit || held != b.Held() {
				t.Fatalf("want at most %d units held, got %d, of which it knows %d", limit, held, b.Held())
			}
		}
	})
}
