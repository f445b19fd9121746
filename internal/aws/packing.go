package aws

import (
	"sync"
	"time"
)

// A packing says how many instances are read together. They are fewer for a while after such a read came too late or was
// too large, since one slow page would otherwise fail the same pools each time.
type packing struct {
	mu      sync.Mutex
	size    int
	changed time.Time
}

func newPacking() *packing { return &packing{size: packedInstances} }

func (p *packing) now() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size < packedInstances && time.Since(p.changed) >= packTime {
		p.size, p.changed = min(2*p.size, packedInstances), time.Now()
	}
	return p.size
}

// reduce it after a read of so many. Reads that were under way together reduce it once.
func (p *packing) reduce(used, to int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size == used {
		p.size = to
	}
	p.changed = time.Now()
}
