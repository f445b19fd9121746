package batch

import (
	"context"
	"time"
)

// A batch is read by one call, from its first key to its answer.
type batch[K comparable, V any] struct {
	kind kind
	// keys, requests, started and at are guarded by the Loader, and keys and at do not change once started.
	keys []K
	// requests holds those keys that callers wait for. A prefetched key has none.
	requests map[K]*request
	started  bool
	// at is when it was started. An answer is as old as its question.
	at    time.Time
	timer *time.Timer

	// results is written before done is closed, and only read after.
	results map[K]Result[V]
	done    chan struct{}
}

// A request is what the latest caller of a key wants, and who pays for it.
type request struct {
	wanted time.Time
	maxAge time.Duration
	payer  string
}

// A Pending is an answer that is there or under way. It is for one goroutine.
type Pending[V any] struct {
	clone    func(V) V
	observer Observer

	// done is nil when the answer was kept.
	done <-chan struct{}
	take func()

	value V
	at    time.Time
	ok    bool
}

// At is when the batch that answered was started, once Wait returned without an error. Those who share an answer or get it
// from the cache get the same time.
func (p *Pending[V]) At() time.Time { return p.at }

// Wait returns the caller's own copy of the answer. It fails with the context's error when that ends first, which
// leaves the batch to the others, and with ErrNotAnswered.
func (p *Pending[V]) Wait(ctx context.Context) (V, error) {
	var none V
	if p.done != nil {
		select {
		case <-p.done:
		case <-ctx.Done():
			// An answer that is there wins over a context that ended while nobody looked.
			select {
			case <-p.done:
			default:
				return none, ctx.Err()
			}
		}
		p.take()
		if !p.ok {
			return none, ErrNotAnswered
		}
	}
	p.observer.Answered(time.Since(p.at))
	return p.clone(p.value), nil
}
