package aws

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// views holds a view per identity and region, made when it is first needed and dropped when it was not for a while.
type views struct {
	build   func(id pool.Identity, region string) (*view, *failure)
	metrics *metrics

	mu    sync.Mutex
	byKey map[viewKey]*viewEntry
	swept time.Time
}

// A viewEntry is a view that is there or being made. Whoever asks for it meanwhile waits for that one.
type viewEntry struct {
	used time.Time
	// made is closed when view or failure is there.
	made    chan struct{}
	view    *view
	failure *failure
}

// get returns the view of the identity in the region, or fails when the context ends before it is made. A failure is not
// kept: a Secret that is mended works at once.
func (vs *views) get(ctx context.Context, id pool.Identity, region string) (*view, *failure) {
	e := vs.entry(keyOf(id, region), id, region)
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
	switch {
	case vs.byKey[key] != e && v != nil:
		// Dropped meanwhile: it answers those who wait, and keeps nothing.
		v.close()
	case vs.byKey[key] == e && f != nil:
		vs.drop(key)
	}
	close(e.made)
}

func (vs *views) entry(key viewKey, id pool.Identity, region string) *viewEntry {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	now := time.Now()
	if now.Sub(vs.swept) >= sweepTime {
		vs.sweep(now)
	}
	e := vs.byKey[key]
	if e == nil {
		if len(vs.byKey) >= maxViews {
			vs.drop(vs.longestUnused())
		}
		e = &viewEntry{made: make(chan struct{})}
		vs.byKey[key] = e
		vs.metrics.views.Set(float64(len(vs.byKey)))
		go vs.make(key, e, id, region)
	}
	e.used = now
	return e
}

// sweep drops what is idle and lets the rest forget what nobody wants any more.
func (vs *views) sweep(now time.Time) {
	vs.swept = now
	for k, e := range vs.byKey {
		if now.Sub(e.used) >= idleTime {
			vs.drop(k)
		} else if e.view != nil {
			e.view.sweep()
		}
	}
}

func (vs *views) longestUnused() viewKey {
	var out viewKey
	var used time.Time
	for k, e := range vs.byKey {
		if used.IsZero() || e.used.Before(used) {
			out, used = k, e.used
		}
	}
	return out
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
