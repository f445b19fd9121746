package aws

import (
	"maps"
	"sync"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// refusals remembers, by operation, that AWS refused a view. Each pool asks again in its own time, and a thousand that are
// refused one by one, with the SDK's retries, are what keeps an account throttled. So for a moment one refusal answers
// for all, and then a single call finds out whether it still holds. A rotated credential makes another view, which
// was not refused.
//
// What one tenant is denied, another may be allowed that asks for something else. So where a call is for one tenant, a
// refusal that can depend on what the call asked for answers that tenant alone.
type refusals struct {
	mu    sync.Mutex
	byKey map[refusalKey]*refusal
}

// A refusalKey is whose calls of an operation a refusal answers: the tenant's, or all.
type refusalKey struct {
	op, tenant string
	all        bool
}

type refusal struct {
	failure *failure
	until   time.Time
	// tried says that a call is under way to find out.
	tried bool
}

// keys of the refusals that can answer a tenant's call of the operation.
func refusalKeys(op, tenant string) (all, own refusalKey) {
	return refusalKey{op: op, all: true}, refusalKey{op: op, tenant: tenant}
}

// holds returns the refusal that answers a call, nil when the call is to be made. What comes of it must then be noted. The
// tenant is empty where the call is for many.
func (r *refusals) holds(op, tenant string) *failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, own := refusalKeys(op, tenant)
	now := time.Now()
	for _, key := range []refusalKey{all, own} {
		if held := r.byKey[key]; held != nil && (held.tried || now.Before(held.until)) {
			return held.failure
		}
	}
	for _, key := range []refusalKey{all, own} {
		if held := r.byKey[key]; held != nil {
			held.tried = true
		}
	}
	return nil
}

// note what came of a call.
func (r *refusals) note(op, tenant string, f *failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, own := refusalKeys(op, tenant)
	delete(r.byKey, all)
	delete(r.byKey, own)
	if f == nil || !f.refusal() {
		return
	}
	now := time.Now()
	if r.byKey == nil {
		r.byKey = make(map[refusalKey]*refusal)
	}
	// Of tenants that have not asked since.
	maps.DeleteFunc(r.byKey, func(_ refusalKey, old *refusal) bool { return now.Sub(old.until) >= rememberTime })
	key := own
	if f.ofIdentity {
		key = all
	}
	r.byKey[key] = &refusal{failure: f, until: now.Add(refusalTime)}
}

// refusal reports whether AWS said no to who asked, or to how often.
func (f *failure) refusal() bool {
	switch f.Reason {
	case pool.ReadThrottled, pool.ReadAccessDenied, pool.ReadCredentialsInvalid:
		return true
	case pool.ReadTimedOut, pool.ReadClockSkewed, pool.ReadPartial, pool.ReadFailed:
		return false
	default:
		return false
	}
}
