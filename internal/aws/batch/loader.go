package batch

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrNotAnswered says that a Fetch came back without the key.
var ErrNotAnswered = errors.New("the batch did not answer the key")

// A Result is what a Fetch found for one key.
type Result[V any] struct {
	Value V
	// Keep says that the value may answer later callers too. A failure that can pass must not.
	Keep bool
}

// A Config says how a Loader works. One of Fetch, FetchFor and FetchOne, and Clone, are required.
type Config[K comparable, V any] struct {
	// Fetch reads the keys. It must answer each of them, failures included, and end with the context.
	Fetch func(ctx context.Context, keys []K) map[K]Result[V]
	// FetchFor is a Fetch of the keys of one payer: those of others are other batches.
	FetchFor func(ctx context.Context, keys []K, payer string) map[K]Result[V]
	// FetchOne reads one key, for a payer, where there is no common call for several: each key is a batch then, so that
	// nobody waits for what others want.
	FetchOne func(ctx context.Context, key K, payer string) Result[V]
	// Clone copies a value deeply: each caller gets its own, so that none can change what another sees.
	Clone func(V) V
	// Weigh is how much room a value takes, beside the one unit that each takes anyway. Default: none.
	Weigh func(V) int

	// Gather is how long a batch waits for more keys.
	Gather time.Duration
	// Deadline of a Fetch. It is the batch's own: no caller's context can end what others wait for.
	Deadline time.Duration
	// MaxKeys starts a batch of several keys before Gather is over. Default: one key a batch.
	MaxKeys int
	// MaxAge caps the age that callers accept.
	MaxAge time.Duration

	// AloneWeight is the most that a key may weigh, by what is known of it, to be read with others. One that weighs more has
	// a batch of its own, so that nobody waits for its answer. Default: any weight.
	AloneWeight int
	// NewApart reads keys of which nothing is kept apart from those of which something is, so that these do not wait for what
	// may be large, and do not fail with what may be bad. Default: together.
	NewApart bool

	// Remember is how long after it was last wanted a kept key is still prefetched and takes up room.
	Remember time.Duration
	// PrefetchKeys is up to how many keys a batch is filled with kept ones that will soon be too old, since a call for
	// one key costs as much as one for many. Default: none.
	PrefetchKeys int
	// PrefetchWeight is up to which weight, by what is known of the keys, it is filled.
	PrefetchWeight int

	// Budget bounds what is kept. Default: unbounded.
	Budget *Budget
	// Observer is told what happens. Default: nobody.
	Observer Observer
}

// A Loader reads values by key, batched, shared and kept for a short time. It is safe for concurrent use, and has no
// goroutine while no batch is under way.
type Loader[K comparable, V any] struct {
	cfg Config[K, V]

	mu sync.Mutex
	// open are the batches that still gather keys.
	open map[kind]*batch[K, V]
	// newest holds, by key, the newest batch that reads it.
	newest map[K]*batch[K, V]
	cache  cache[K, V]
}

// New returns a Loader.
func New[K comparable, V any](cfg Config[K, V]) *Loader[K, V] {
	if cfg.Weigh == nil {
		cfg.Weigh = func(V) int { return 0 }
	}
	if cfg.Observer == nil {
		cfg.Observer = nopObserver{}
	}
	cfg.MaxKeys = max(cfg.MaxKeys, 1)

	return &Loader[K, V]{
		cfg:    cfg,
		open:   make(map[kind]*batch[K, V]),
		newest: make(map[K]*batch[K, V]),
		cache:  cache[K, V]{entries: make(map[K]*entry[V]), budget: cfg.Budget, remember: cfg.Remember},
	}
}

// Want asks for a key and returns at once; the answer is awaited with Wait. An answer younger than maxAge, kept or
// under way, will do; with a maxAge of 0 only a batch that has not been started yet does. The payer is for whom it is, and
// who pays for the room that the answer takes.
func (l *Loader[K, V]) Want(key K, maxAge time.Duration, payer string) *Pending[V] {
	maxAge = min(maxAge, l.cfg.MaxAge)
	now := time.Now()

	l.mu.Lock()
	defer l.mu.Unlock()

	if e := l.cache.want(key, now, maxAge, payer); e != nil {
		l.cfg.Observer.Wanted(SourceCache)
		return &Pending[V]{clone: l.cfg.Clone, observer: l.cfg.Observer, at: e.at, value: e.value}
	}

	b, from := l.newest[key], SourceShared
	if b == nil || (b.started && now.Sub(b.at) >= maxAge) {
		b, from = l.enqueue(key, payer), SourceCall
	}
	b.requests[key] = &request{wanted: now, maxAge: maxAge, payer: payer}
	l.cfg.Observer.Wanted(from)
	p := &Pending[V]{clone: l.cfg.Clone, observer: l.cfg.Observer, done: b.done}
	p.take = func() {
		var r Result[V]
		r, p.ok = b.results[key]
		p.value, p.at = r.Value, b.at
	}
	if !b.started && !b.kind.isAlone && len(b.keys) >= l.cfg.MaxKeys {
		l.start(b)
	}
	return p
}

// Kept returns the caller's own copy of the newest answer that is kept, if that is not older than age, and when it was asked for.
func (l *Loader[K, V]) Kept(key K, age time.Duration) (V, time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.cache.entries[key]
	if e == nil || time.Since(e.at) > age {
		var none V
		return none, time.Time{}, false
	}
	return l.cfg.Clone(e.value), e.at, true
}

// Sweep forgets what nobody wanted for as long as Remember. A Loader sweeps by itself while it is used.
func (l *Loader[K, V]) Sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.sweep(time.Now())
}

// Close forgets everything and keeps nothing any more. Whoever waits is still answered.
func (l *Loader[K, V]) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.close()
}

// enqueue adds the key to the batch that gathers such keys, and begins one when there is none or when the key has its own.
func (l *Loader[K, V]) enqueue(key K, payer string) *batch[K, V] {
	of := l.kindOf(key, payer)
	b := l.open[of]
	if b == nil || of.isAlone {
		b = &batch[K, V]{kind: of, requests: make(map[K]*request), done: make(chan struct{})}
		b.timer = time.AfterFunc(l.cfg.Gather, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.start(b)
		})
		if !of.isAlone {
			l.open[of] = b
		}
	}
	b.keys = append(b.keys, key)
	l.newest[key] = b
	return b
}

// A kind is what the keys of a batch have in common.
type kind struct {
	// payer of a FetchFor.
	payer string
	isNew bool
	// isAlone says that the batch has one key.
	isAlone bool
}

func (l *Loader[K, V]) kindOf(key K, payer string) kind {
	e := l.cache.entries[key]
	of := kind{
		isNew:   l.cfg.NewApart && e == nil,
		isAlone: l.cfg.FetchOne != nil || l.cfg.AloneWeight > 0 && e != nil && e.weight > l.cfg.AloneWeight,
	}
	if l.cfg.FetchFor != nil {
		of.payer = payer
	}
	return of
}

// start ends the gathering of a batch and reads it.
func (l *Loader[K, V]) start(b *batch[K, V]) {
	if b.started {
		return
	}
	b.started, b.at = true, time.Now()
	b.timer.Stop()
	if l.open[b.kind] == b {
		delete(l.open, b.kind)
	}
	l.cache.sweepNowAndThen(b.at)

	wanted := len(b.keys)
	more := l.prefetched(b)
	b.keys = append(b.keys, more...)
	for _, k := range more {
		l.newest[k] = b
	}
	l.cfg.Observer.Started(wanted, len(more))
	payer := b.requests[b.keys[0]].payer
	go l.run(b, func(ctx context.Context) map[K]Result[V] {
		switch {
		case l.cfg.FetchOne != nil:
			return map[K]Result[V]{b.keys[0]: l.cfg.FetchOne(ctx, b.keys[0], payer)}
		case l.cfg.FetchFor != nil:
			return l.cfg.FetchFor(ctx, b.keys, b.kind.payer)
		}
		return l.cfg.Fetch(ctx, b.keys)
	})
}

// prefetched are kept keys that fit into a batch without another call and will soon be too old to be an answer. None is where a key
// is read alone, since nobody would answer those who then wait for them, nor where new keys are read apart.
func (l *Loader[K, V]) prefetched(b *batch[K, V]) []K {
	room, weight := l.cfg.PrefetchKeys-len(b.keys), l.cfg.PrefetchWeight
	if room <= 0 || b.kind.isAlone || b.kind.isNew {
		return nil
	}
	for _, k := range b.keys {
		weight -= l.cache.weight(k)
	}
	return l.cache.ageing(b.at, room, weight, func(k K) bool { return l.newest[k] != nil })
}

func (l *Loader[K, V]) run(b *batch[K, V], fetch func(context.Context) map[K]Result[V]) {
	// Detached on purpose: the first caller may go away while others wait for the same batch.
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Deadline)
	defer cancel()
	results := fetch(ctx)

	l.mu.Lock()
	for _, k := range b.keys {
		if r, ok := results[k]; ok && r.Keep {
			l.cache.store(k, r.Value, l.cfg.Weigh(r.Value)+1, b.at, b.requests[k])
		}
		if l.newest[k] == b {
			delete(l.newest, k)
		}
	}
	b.results = results
	l.mu.Unlock()
	close(b.done)
}
