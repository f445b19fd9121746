package aws

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// errQueueFull says that as many of a tenant wait as may.
var errQueueFull = errors.New("too many of the tenant wait for a slot")

// Slots are how many may do something at a time. Who waits for one waits behind one of each other tenant, and not behind
// all that another tenant wants.
type slots struct {
	// perTenant is how many one tenant may have at a time, and waiting for how many it may wait beside. 0 is any number.
	perTenant, waiting int

	mu    sync.Mutex
	free  int
	taken map[string]int
	// queues of those that wait, by tenant, and the tenants that have one, the next one first.
	queues map[string][]chan struct{}
	order  []string
}

func newSlots(n, perTenant, waiting int) *slots {
	return &slots{perTenant: perTenant, waiting: waiting, free: n, taken: make(map[string]int), queues: make(map[string][]chan struct{})}
}

// take waits for a slot, which must be given back. It fails with the context's error when that ends first, and at once with
// errQueueFull when as many of the tenant wait as may. Whoever waits behind those has little to hope for, and holds a worker
// of Crossplane's meanwhile.
func (s *slots) take(ctx context.Context, tenant string) error {
	turn := make(chan struct{})
	s.mu.Lock()
	if s.waiting > 0 && len(s.queues[tenant]) >= s.waiting {
		s.mu.Unlock()
		return errQueueFull
	}
	if len(s.queues[tenant]) == 0 {
		s.order = append(s.order, tenant)
	}
	s.queues[tenant] = append(s.queues[tenant], turn)
	s.grant()
	s.mu.Unlock()

	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-turn:
		return nil
	default:
		s.setQueue(tenant, slices.DeleteFunc(s.queues[tenant], func(t chan struct{}) bool { return t == turn }))
		return ctx.Err()
	}
}

// give back a slot of the tenant.
func (s *slots) give(tenant string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	if s.taken[tenant]--; s.taken[tenant] == 0 {
		delete(s.taken, tenant)
	}
	s.grant()
}

// grant what is free to those whose turn it is.
func (s *slots) grant() {
	for s.free > 0 {
		i := slices.IndexFunc(s.order, func(tenant string) bool { return s.taken[tenant] < s.perTenant })
		if i < 0 {
			return
		}
		tenant := s.order[i]
		queue := s.queues[tenant]
		s.free--
		s.taken[tenant]++
		close(queue[0])
		s.order = slices.Delete(s.order, i, i+1)
		if len(queue) > 1 {
			s.order = append(s.order, tenant)
		}
		s.setQueue(tenant, queue[1:])
	}
}

// setQueue of the tenant, who leaves the order with the last of it.
func (s *slots) setQueue(tenant string, queue []chan struct{}) {
	if len(queue) > 0 {
		s.queues[tenant] = queue
		return
	}
	delete(s.queues, tenant)
	s.order = slices.DeleteFunc(s.order, func(t string) bool { return t == tenant })
}
