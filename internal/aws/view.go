package aws

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/aws/batch"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A view is what one identity sees in one region. Nothing in it is ever shared with another view.
type view struct {
	clients Clients
	caller  *caller
	packing *packing
	// refreshSlots, imageSlots and claimSlots are for calls that the caller's own slots are not for.
	refreshSlots, imageSlots, claimSlots *slots

	memberships *batch.Loader[string, membership]
	claims      *batch.Loader[string, outcome[*pool.Claim]]
	images      *batch.Loader[pool.ImageQuery, outcome[*pool.Image]]
	pins        *batch.Loader[string, outcome[*pool.Image]]
	refreshes   *batch.Loader[string, outcome[*pool.Refresh]]
}

// A membership is a group and its instances. They are read in one batch and kept together, so that they are always of
// one age: the core compares them.
type membership struct {
	group     outcome[*pool.Group]
	instances outcome[[]pool.Instance]
}

// weight is how many members it has, or how many it could have by the text of which it is made.
func (m membership) weight() int {
	var text int
	if g := m.group.value; g != nil {
		text = len(g.ARN) + len(g.Name) + len(g.LaunchTemplateID)
		for _, i := range g.Members {
			text += len(i.InstanceID) + len(i.Zone) + len(i.LifecycleState) + len(i.LaunchTemplateID)
		}
	}
	for _, i := range m.instances.value {
		text += len(i.ID) + len(i.Zone) + len(i.State)
		for _, ip := range i.InternalIPs {
			text += len(ip)
		}
	}
	return max(len(m.instances.value), text/heldBytes)
}

// Budgets are what the caches of all views may hold.
type budgets struct {
	members *batch.Budget
	images  *batch.Budget
}

func newView(c Clients, region string, log logging.Logger, m *metrics, held budgets) *view {
	v := &view{
		clients: c,
		packing: newPacking(),
		// What is read for many tenants in one call is nobody's alone.
		caller:       &caller{region: region, metrics: m, log: log, slots: newSlots(maxCalls, maxCalls, 0), refusals: &refusals{}},
		refreshSlots: newSlots(maxRefreshCalls, maxTenantRefreshCalls, maxWaiting),
		imageSlots:   newSlots(maxImageCalls, maxTenantImageCalls, maxWaiting),
		claimSlots:   newSlots(maxClaimCalls, maxTenantClaimCalls, maxWaiting),
	}
	v.memberships = batch.New(batch.Config[string, membership]{
		Fetch:    v.fetchMemberships,
		Clone:    cloneMembership,
		Weigh:    membership.weight,
		Gather:   gatherTime,
		Deadline: batchDeadline,
		MaxKeys:  valuesPerFilter,
		MaxAge:   maxAge,
		Remember: rememberTime,
		// A group whose members do not fit into a page takes several, one after the other, and one that was never read may be as
		// large, or have a name that AWS refuses.
		AloneWeight: packedInstances,
		NewApart:    true,
		// What fits into one call of either kind costs nothing.
		PrefetchKeys:   groupsPerCall,
		PrefetchWeight: packedInstances,
		Budget:         held.members,
		Observer:       m.observer("membership"),
	})
	v.claims = batch.New(batch.Config[string, outcome[*pool.Claim]]{
		FetchFor: v.fetchClaims,
		Clone:    clonePointer[pool.Claim],
		Gather:   gatherTime,
		Deadline: batchDeadline,
		MaxKeys:  groupsPerCall,
		MaxAge:   maxAge,
		// Nobody asks for a claim again once the group is composed.
		Remember: rememberTime,
		Budget:   held.members,
		Observer: m.observer("claim"),
	})
	v.images = batch.New(batch.Config[pool.ImageQuery, outcome[*pool.Image]]{
		FetchOne: one(v.readImage),
		Clone:    clonePointer[pool.Image],
		Weigh: func(o outcome[*pool.Image]) int {
			if o.value == nil {
				return 0
			}
			return (len(o.value.ID) + len(o.value.Name)) / heldBytes
		},
		Gather:   gatherTime,
		Deadline: batchDeadline,
		MaxAge:   maxAge,
		Remember: rememberTime,
		Budget:   held.images,
		Observer: m.observer("image"),
	})
	v.pins = batch.New(batch.Config[string, outcome[*pool.Image]]{
		Fetch:    v.readPins,
		Clone:    clonePointer[pool.Image],
		Gather:   gatherTime,
		Deadline: batchDeadline,
		MaxKeys:  valuesPerFilter,
		MaxAge:   maxAge,
		Remember: rememberTime,
		// Each key weighs one.
		PrefetchKeys:   valuesPerFilter,
		PrefetchWeight: valuesPerFilter,
		Budget:         held.images,
		Observer:       m.observer("pinned"),
	})
	v.refreshes = batch.New(batch.Config[string, outcome[*pool.Refresh]]{
		FetchOne: one(v.readRefresh),
		Clone:    clonePointer[pool.Refresh],
		Gather:   gatherTime,
		Deadline: batchDeadline,
		MaxAge:   maxAge,
		Remember: rememberTime,
		Budget:   held.members,
		Observer: m.observer("refresh"),
	})
	return v
}

// fetchMemberships reads the groups first. Their sizes say how many of them fit into one read of instances, and a member
// that is launched in between is then seen in the instances, where the other order would miss it. The instances of a
// group that could not be read are not read: nothing can be made of them alone, and AWS that is in trouble is asked no
// more than need be.
func (v *view) fetchMemberships(ctx context.Context, names []string) map[string]batch.Result[membership] {
	groups := readGroups(ctx, v, v.caller, names, group)
	known := make([]string, 0, len(names))
	for _, n := range names {
		if groups[n].failure == nil {
			known = append(known, n)
		}
	}
	instances := v.readInstances(ctx, known, func(name string) int {
		if g := groups[name].value; g != nil {
			return max(1, len(g.Members))
		}
		return 1
	})

	out := make(map[string]batch.Result[membership], len(names))
	for _, n := range names {
		m := membership{group: groups[n], instances: instances[n]}
		if m.group.failure != nil {
			m.instances = outcome[[]pool.Instance]{failure: m.group.failure}
		}
		out[n] = batch.Result[membership]{Value: m, Keep: m.group.failure == nil && m.instances.failure == nil}
	}
	return out
}

func (v *view) fetchClaims(ctx context.Context, names []string, tenant string) map[string]batch.Result[outcome[*pool.Claim]] {
	out := make(map[string]batch.Result[outcome[*pool.Claim]], len(names))
	for name, o := range readGroups(ctx, v, v.caller.of(v.claimSlots, tenant), names, claim) {
		out[name] = batch.Result[outcome[*pool.Claim]]{Value: o, Keep: o.failure == nil}
	}
	return out
}

// one reads a key that AWS has no common call for, for a tenant.
func one[K comparable, T any](read func(context.Context, K, string) outcome[T]) func(context.Context, K, string) batch.Result[outcome[T]] {
	return func(ctx context.Context, key K, tenant string) batch.Result[outcome[T]] {
		o := read(ctx, key, tenant)
		return batch.Result[outcome[T]]{Value: o, Keep: o.failure == nil || o.failure.lasting}
	}
}

// sweep gives back the room of what nobody wants any more.
func (v *view) sweep() {
	v.memberships.Sweep()
	v.claims.Sweep()
	v.images.Sweep()
	v.pins.Sweep()
	v.refreshes.Sweep()
}

// close gives back all room. Runs that wait are still answered.
func (v *view) close() {
	v.memberships.Close()
	v.claims.Close()
	v.images.Close()
	v.pins.Close()
	v.refreshes.Close()
}

func cloneMembership(m membership) membership {
	m.group = clonePointer(m.group)
	if m.group.value != nil {
		m.group.value.Members = slices.Clone(m.group.value.Members)
	}
	m.instances.value = slices.Clone(m.instances.value)
	for i := range m.instances.value {
		m.instances.value[i].InternalIPs = slices.Clone(m.instances.value[i].InternalIPs)
	}
	return m
}

func clonePointer[T any](o outcome[*T]) outcome[*T] {
	if o.value != nil {
		c := *o.value
		o.value = &c
	}
	return o
}
