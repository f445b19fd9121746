package aws

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// BenchmarkRefresh refreshes 1,000 pools of 10 members together, as after a restart of Crossplane: each asks for its
// members and its image, and none accepts an answer that was kept. The Terraform module it replaces makes one call per zone
// and two more, for each pool. An AWS call is taken to last 100 ms.
func BenchmarkRefresh(b *testing.B) {
	for name, image := range map[string]func(p int) *pool.ImageQuery{
		"LookedUp": func(int) *pool.ImageQuery {
			return &pool.ImageQuery{Owner: "819546954734", Name: "capa-ami-ubuntu-24.04-?{semver}-*", Version: "v1.34.1", Architecture: "x86_64"}
		},
		// Each pool has an image of its own, which is the most that can be asked for.
		"Pinned": func(p int) *pool.ImageQuery { return &pool.ImageQuery{ID: fmt.Sprintf("ami-%017x", p)} },
	} {
		b.Run(name, func(b *testing.B) { refresh(b, image) })
	}
}

func refresh(b *testing.B, image func(p int) *pool.ImageQuery) {
	b.Helper()
	const pools, members = 1000, 10
	const atMost = 0.05

	f := fakeFleet(pools, members)
	f.takes = 100 * time.Millisecond
	r := newFakeReader(b, f)
	calls := 0
	for b.Loop() {
		var wg sync.WaitGroup
		for p := range pools {
			wg.Go(func() {
				q := query(fleetPool(p))
				q.Image = image(p)
				if got := r.Read(context.Background(), q); len(got.Instances.Value) != members || !got.Group.Known() || !got.Image.Known() {
					b.Errorf("%s: want %d members, got %+v", q.GroupName, members, got)
				}
			})
		}
		wg.Wait()
	}
	for _, n := range f.ops() {
		calls += n
	}
	perPool := float64(calls) / float64(b.N) / pools
	b.ReportMetric(perPool, "calls/pool")
	if perPool > atMost {
		b.Errorf("want at most %.2f calls per pool, got %.3f", atMost, perPool)
	}
}
