//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// TestExportsLateAndLost holds that a pool waits for its cluster's exports, and keeps all it has when they go.
func TestExportsLateAndLost(t *testing.T) { //nolint:tparallel // One step after the other.
	t.Parallel()
	n := newTenant(t)
	n.must(n.client.Delete(n.ctx, clusters, n.namespace, "demo"))
	r := record(n)
	n.create("workers", nil)
	n.awaitCondition("workers", "ClusterExportsAvailable", "False")
	if got := names(n.mrs("workers")); len(got) > 0 {
		t.Errorf("managed resources without exports: %v", got)
	}

	// It is there, but its cluster is still being made.
	n.publish(kube.Object{})
	n.always(6*time.Second, func() (bool, string) {
		got := names(n.mrs("workers"))
		return len(got) == 0, "managed resources without exports: " + strings.Join(got, " ")
	})
	n.publish(exports(n.namespace))
	r.judge(n.awaitReady("workers", 3))
	uids, generations := n.uids("workers"), n.generations("workers")

	t.Run("FieldLost", func(t *testing.T) {
		n := n.within(t)
		lessened := exports(n.namespace)
		delete(lessened, "bootstrap_bucket")
		n.publish(lessened)
		n.awaitCondition("workers", "ClusterExportsAvailable", "False")
		n.always(6*time.Second, n.unchanged("workers", uids, generations))
	})
	t.Run("Lost", func(t *testing.T) {
		n := n.within(t)
		n.must(n.client.Delete(n.ctx, clusters, n.namespace, "demo"))
		n.awaitCondition("workers", "ClusterExportsAvailable", "False")
		n.always(6*time.Second, n.unchanged("workers", uids, generations))
	})
	t.Run("OtherSchema", func(t *testing.T) {
		n := n.within(t)
		other := exports(n.namespace)
		other["schema"] = "captf.io/aws-cluster/v2"
		n.publish(other)
		n.awaitCondition("workers", "ClusterExportsAvailable", "False", "SchemaNotSupported")
		n.always(6*time.Second, n.unchanged("workers", uids, generations))
	})
	t.Run("Back", func(t *testing.T) {
		n := n.within(t)
		n.publish(exports(n.namespace))
		n.awaitCondition("workers", "ClusterExportsAvailable", "True")
		n.always(6*time.Second, n.unchanged("workers", uids, generations))
	})
	r.neverDeleted(t, nothing)
	r.neverUnready(t, "workers")
}

// unchanged says whether a pool's managed resources and their specs are as they were.
func (n *tenant) unchanged(pool string, uids map[string]string, generations map[string]any) func() (bool, string) {
	return func() (bool, string) {
		diff := cmp.Diff(uids, n.uids(pool)) + cmp.Diff(generations, n.generations(pool))
		return diff == "", diff
	}
}

// TestExportsForbidden shows what a kind does that Crossplane may not read, and that the ClusterRole of docs/operations.md
// is the cure.
func TestExportsForbidden(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	tenants := kube.NewResource("example.com", "v1", "tenants", "Tenant", true)
	n.must(n.apply(n.ctx, crd(tenants)))
	n.must(n.await(n.ctx, kube.CRDs, "", "tenants.example.com", "Established"))
	object := cluster(n.namespace, "demo", exports(n.namespace))
	object["apiVersion"], object["kind"] = "example.com/v1", "Tenant"
	n.must(n.client.Apply(n.ctx, tenants, object))

	n.create("workers", kube.Object{"cluster": kube.Object{"exportsFrom": kube.Object{"apiVersion": "example.com/v1", "kind": "Tenant"}}})
	// Crossplane waits two minutes for its cache of the kind to fill before it says anything, which is too long to wait for
	// here. Its log says at once what is wrong; docs/operations.md says so.
	n.always(10*time.Second, func() (bool, string) {
		return simulator.ConditionOf(n.xr("workers"), "Ready").Status != "True" && len(n.mrs("workers")) == 0, state(n.xr("workers"))
	})
	log, err := os.ReadFile(filepath.Join(n.keeper.Dir, "crossplane.log"))
	n.must(err)
	if !strings.Contains(string(log), `cannot list resource \"tenants\" in API group \"example.com\"`) {
		t.Error("Crossplane's log does not say that it may not list tenants")
	}

	began := time.Now()
	n.must(n.apply(n.ctx, readable(tenants)))
	n.awaitReady("workers", 3)
	t.Logf("Ready %s after the ClusterRole", time.Since(began).Round(time.Second))
}

// TestExportsNotAllowed holds that pools which name a kind that the Input does not list hold up no others, as many as there are.
// Where they are asked for, 120 pools of a kind that Crossplane may not read hold its 100 workers for two minutes each.
func TestExportsNotAllowed(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	listed := composition("listed", pools.GroupVersion().String(), 60, 3)
	step := simulator.Field(listed, "spec", "pipeline").([]any)[0]
	simulator.SetField(step.(kube.Object), []any{kube.Object{"apiVersion": "example.org/v1", "kind": "Cluster"}}, "input", "exportsFrom", "kinds")
	n.must(n.apply(n.ctx, listed))
	use := kube.Object{"compositionRef": kube.Object{"name": "listed"}}

	const many = 120
	for i := range many {
		n.create(fmt.Sprintf("refused-%d", i), kube.Object{
			"crossplane": use, "cluster": kube.Object{"exportsFrom": kube.Object{"apiVersion": "v1", "kind": "Pod"}},
		})
	}
	n.create("workers", kube.Object{"crossplane": use})
	n.awaitReady("workers", 3)
	n.awaitCondition(fmt.Sprintf("refused-%d", many-1), "ClusterExportsAvailable", "False", "Refused")
}

// TestZoneAdded holds that a pool stays in the zones that it started in.
func TestZoneAdded(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.create("workers", nil)
	n.awaitReady("workers", 3)
	uids, generations := n.uids("workers"), n.generations("workers")

	more := exports(n.namespace)
	simulator.SetField(more, "subnet-0ddd0000000000001", "failure_domains", "us-east-1d", "subnet_id")
	n.publish(more)
	n.always(13*time.Second, n.unchanged("workers", uids, generations))
	if diff := cmp.Diff([]string{"us-east-1a", "us-east-1b", "us-east-1c"}, simulator.Texts(n.xr("workers"), "status", "failureDomains")); diff != "" {
		t.Errorf("zones: -want, +got:\n%s", diff)
	}

	// A pool that is made now has all of them.
	n.create("later", nil)
	xr := n.awaitReady("later", 3)
	if diff := cmp.Diff([]string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d"}, simulator.Texts(xr, "status", "failureDomains")); diff != "" {
		t.Errorf("zones of a new pool: -want, +got:\n%s", diff)
	}
}
