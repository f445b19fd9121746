package aws

import (
	"sync"
	"sync/atomic"
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
	get  func() (*view, *failure)
	made atomic.Pointer[view]
	used time.Time
}

// get returns the view of the identity in the region. A failure is not kept: a Secret that is mended works at once.
func (vs *views) get(id pool.Identity, region string) (*view, *failure) {
	key := keyOf(id, region)
	e := vs.entry(key, id, region)
	v, f := e.get()
	if f != nil {
		vs.mu.Lock()
		defer vs.mu.Unlock()
		if vs.byKey[key] == e {
			vs.drop(key)
		}
		return nil, f
	}
	return v, nil
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
		e = &viewEntry{}
		e.get = sync.OnceValues(func() (*view, *failure) {
			v, f := vs.build(id, region)
			e.made.Store(v)
			return v, f
		})
		vs.byKey[key] = e
		vs.metrics.views.Set(float64(len(vs.byKey)))
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
		} else if v := e.made.Load(); v != nil {
			v.sweep()
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
		if v := e.made.Load(); v != nil {
			v.close()
		}
		delete(vs.byKey, key)
	}
	vs.metrics.views.Set(float64(len(vs.byKey)))
}
