package aws

import (
	"sync"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// refusals remembers, by operation, that AWS refused a view. Each pool asks again in its own time, and a thousand that are
// refused one by one, with the SDK's retries, are what keeps an account throttled. So for a moment one refusal answers
// for all, and then a single call finds out whether it still holds. A rotated credential makes another view, which
// was not refused.
type refusals struct {
	mu   sync.Mutex
	byOp map[string]*refusal
}

type refusal struct {
	failure *failure
	until   time.Time
	// tried says that a call is under way to find out.
	tried bool
}

// holds returns the refusal that answers a call, nil when the call is to be made. What comes of it must then be noted.
func (r *refusals) holds(op string) *failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.byOp[op]
	if held == nil {
		return nil
	}
	if !held.tried && !time.Now().Before(held.until) {
		held.tried = true
		return nil
	}
	return held.failure
}

// note what came of a call.
func (r *refusals) note(op string, f *failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f == nil || !f.refusal() {
		delete(r.byOp, op)
		return
	}
	if r.byOp == nil {
		r.byOp = make(map[string]*refusal)
	}
	r.byOp[op] = &refusal{failure: f, until: time.Now().Add(refusalTime)}
}

// refusal says that the same call of any other pool would fail alike.
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
