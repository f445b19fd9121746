//go:build e2e

package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// TestNamespaced holds that a pool in a namespace becomes Ready, of managed resources in the same namespace.
func TestNamespaced(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.create("workers", nil)
	xr := n.awaitReady("workers", 3)

	if got := simulator.Text(xr, "status", "imageID"); got != imageA {
		t.Errorf("image %s, want %s", got, imageA)
	}
	for name, mr := range n.mrs("workers") {
		if got := simulator.Text(mr, "metadata", "namespace"); got != n.namespace {
			t.Errorf("%s is in namespace %q, want %q", name, got, n.namespace)
		}
		if diff := cmp.Diff("ClusterProviderConfig", simulator.Text(mr, "spec", "providerConfigRef", "kind")); diff != "" {
			t.Errorf("%s: provider config: -want, +got:\n%s", name, diff)
		}
	}
	if simulator.Text(xr, "status", "rollout", "rollKey") == "" || !isTrue(xr, "status", "ready") {
		t.Errorf("status: %s", pretty(xr["status"]))
	}
}
