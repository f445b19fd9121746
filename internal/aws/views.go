package aws

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// views holds a view per identity and region, made when it is first needed and dropped when it was not for a while.
//
// A tenant chooses the region, and so can make views without end. When there are too many, one of the tenant goes that
// has the most of them, and one that AWS has answered well never goes for one that it has not.
type views struct {
	build   func(id pool.Identity, region string) (*view, *failure)
	metrics *metrics

	mu    sync.Mutex
	byKey map[viewKey]*viewEntry
	swept time.Time
}

// A viewEntry is a view that is there or being made. Whoever asks for it meanwhile waits for that one.
type viewEntry struct {
	// used is when it was last asked for, and users by which tenants.
	used  time.Time
	users map[string]time.Time
	// proven says that AWS has answered well.
	proven bool
	// made is closed when view or failure is there.
	made    chan struct{}
	view    *view
	failure *failure
}

// get returns the view of the identity in the region, or fails when the context ends before it is made. A failure is not
// kept: a Secret that is put right works at once.
func (vs *views) get(ctx context.Context, id pool.Identity, region, tenant string) (*view, *failure) {
	e := vs.entry(keyOf(id, region), id, region, tenant)
	select {
	case <-e.made:
	case <-ctx.Done():
		select {
		case <-e.made:
		default:
			return nil, failed(pool.ReadTimedOut, "the clients for AWS were not made in time (%s)", guide)
		}
	}
	return e.view, e.failure
}

// make the view, for whoever waits for it.
func (vs *views) make(key viewKey, e *viewEntry, id pool.Identity, region string) {
	v, f := vs.build(id, region)
	vs.mu.Lock()
	defer vs.mu.Unlock()
	e.view, e.failure = v, f
	if v != nil {
		v.caller.answered = sync.OnceFunc(func() { vs.prove(key, e) })
	}
	switch {
	case vs.byKey[key] != e && v != nil:
		// Dropped meanwhile: it answers those who wait, and keeps nothing.
		v.close()
	case vs.byKey[key] == e && f != nil:
		vs.drop(key)
	}
	close(e.made)
}

func (vs *views) entry(key viewKey, id pool.Identity, region, tenant string) *viewEntry {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	now := time.Now()
	if now.Sub(vs.swept) >= sweepTime {
		vs.sweep(now)
	}
	e := vs.byKey[key]
	if e == nil {
		if len(vs.byKey) >= maxViews {
			vs.drop(vs.leastWorth(false, now, tenant))
		}
		e = &viewEntry{made: make(chan struct{}), users: make(map[string]time.Time)}
		vs.byKey[key] = e
		vs.metrics.views.Set(float64(len(vs.byKey)))
		go vs.make(key, e, id, region)
	}
	e.used = now
	e.users[tenant] = now
	return e
}

// prove says that AWS answered a view well. Those that it did are so few that others have room beside them.
func (vs *views) prove(key viewKey, e *viewEntry) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.byKey[key] != e {
		return
	}
	e.proven = true
	n := 0
	for _, e := range vs.byKey {
		if e.proven {
			n++
		}
	}
	if n > maxViews-maxNewViews {
		vs.drop(vs.leastWorth(true, time.Now()))
	}
}

// leastWorth is the view that goes first, of those that AWS answered well or of the others. That is one that keeps no
// answer any more, else one of the tenant with the most of them, else the longest unused. The tenants of more have one
// more.
func (vs *views) leastWorth(proven bool, now time.Time, more ...string) viewKey {
	has := make(map[string]int)
	for _, tenant := range more {
		has[tenant]++
	}
	for _, e := range vs.byKey {
		for tenant := range e.users {
			if e.proven == proven {
				has[tenant]++
			}
		}
	}
	var out viewKey
	var worst viewRank
	for k, e := range vs.byKey {
		if e.proven != proven {
			continue
		}
		if r := e.rank(has, now); worst.entry == nil || r.before(worst) {
			out, worst = k, r
		}
	}
	return out
}

// A viewRank is what decides which view goes first.
type viewRank struct {
	entry *viewEntry
	empty bool
	// of is how many the tenant has whose view it is.
	of int
}

func (e *viewEntry) rank(has map[string]int, now time.Time) viewRank {
	r := viewRank{entry: e, empty: now.Sub(e.used) >= rememberTime}
	for tenant := range e.users {
		// A view of several tenants is that of the one with the fewest, who is not to lose it for the others.
		if r.of == 0 || has[tenant] < r.of {
			r.of = has[tenant]
		}
	}
	return r
}

func (r viewRank) before(o viewRank) bool {
	switch {
	case r.empty != o.empty:
		return r.empty
	case r.of != o.of:
		return r.of > o.of
	default:
		return r.entry.used.Before(o.entry.used)
	}
}

// sweep drops what is idle and lets the rest forget what nobody wants any more.
func (vs *views) sweep(now time.Time) {
	vs.swept = now
	for k, e := range vs.byKey {
		maps.DeleteFunc(e.users, func(_ string, used time.Time) bool { return now.Sub(used) >= idleTime })
		if now.Sub(e.used) >= idleTime {
			vs.drop(k)
		} else if e.view != nil {
			e.view.sweep()
		}
	}
}

func (vs *views) drop(key viewKey) {
	if e := vs.byKey[key]; e != nil {
		if e.view != nil {
			e.view.close()
		}
		delete(vs.byKey, key)
	}
	vs.metrics.views.Set(float64(len(vs.byKey)))
}
