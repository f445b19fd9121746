package batch

import (
	"slices"
	"time"
)

// A cache holds the newest answer by key. It is guarded by its Loader.
type cache[K comparable, V any] struct {
	entries  map[K]*entry[V]
	budget   *Budget
	remember time.Duration
	swept    time.Time
	closed   bool
}

// An entry is a kept answer.
type entry[V any] struct {
	// request is what the last caller wanted.
	request

	value V
	// weight is what the payer pays for.
	weight int
	payer  string
	// at is when the batch that answered was started.
	at time.Time
}

// want returns the entry when it is younger than maxAge, and notes that the key was wanted either way.
func (c *cache[K, V]) want(key K, now time.Time, maxAge time.Duration, payer string) *entry[V] {
	e := c.entries[key]
	if e == nil {
		return nil
	}
	e.request = request{wanted: now, maxAge: maxAge, payer: payer}
	if now.Sub(e.at) >= maxAge {
		return nil
	}
	return e
}

// weight of the key by what is known of it, 1 when nothing is.
func (c *cache[K, V]) weight(key K) int {
	if e := c.entries[key]; e != nil {
		return e.weight
	}
	return 1
}

// store keeps a value unless a newer one is there or the budget is spent. A prefetched key has no request: it keeps the
// one of its entry, and is dropped when that was swept meanwhile. Who wanted it last pays, or who did so far.
func (c *cache[K, V]) store(key K, v V, weight int, at time.Time, s *request) {
	e := c.entries[key]
	if c.closed || (e == nil && s == nil) || (e != nil && e.at.After(at)) {
		return
	}
	if e == nil {
		e = &entry[V]{payer: s.payer}
	} else {
		c.drop(key)
	}
	if s != nil && !s.wanted.Before(e.wanted) {
		e.request = *s
	}
	switch {
	case c.budget.take(e.request.payer, weight):
		e.payer = e.request.payer
	case e.payer == e.request.payer || !c.budget.take(e.payer, weight):
		return
	}
	e.value, e.weight, e.at = v, weight, at
	c.entries[key] = e
}

func (c *cache[K, V]) drop(key K) {
	e := c.entries[key]
	c.budget.give(e.payer, e.weight)
	delete(c.entries, key)
}

// ageing returns up to room keys, oldest first, that have used up half of the age their last caller accepts, and that
// weigh no more than weight between them.
func (c *cache[K, V]) ageing(now time.Time, room, weight int, skip func(K) bool) []K {
	var keys []K
	for k, e := range c.entries {
		if e.maxAge > 0 && now.Sub(e.at) > e.maxAge/2 && now.Sub(e.wanted) < c.remember && !skip(k) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b K) int { return c.entries[a].at.Compare(c.entries[b].at) })

	fit := keys[:0]
	for _, k := range keys {
		if len(fit) == room || weight <= 0 {
			break
		}
		if c.entries[k].weight > weight {
			continue
		}
		weight -= c.entries[k].weight
		fit = append(fit, k)
	}
	return fit
}

// sweepNowAndThen sweeps twice in the time that a key is remembered.
func (c *cache[K, V]) sweepNowAndThen(now time.Time) {
	if now.Sub(c.swept) >= c.remember/2 {
		c.sweep(now)
	}
}

func (c *cache[K, V]) sweep(now time.Time) {
	c.swept = now
	for k, e := range c.entries {
		if now.Sub(e.wanted) >= c.remember {
			c.drop(k)
		}
	}
}

func (c *cache[K, V]) close() {
	c.closed = true
	for k := range c.entries {
		c.drop(k)
	}
}
