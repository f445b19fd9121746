//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

// The scope of an XRD cannot be changed, so each other scope is an XRD of its own here, in a group of its own.
var (
	clusterPools = kube.NewResource("cluster.machinepool.example.org", "v1alpha1", "machinepools", "MachinePool", false)
	claimedPools = kube.NewResource("claimed.machinepool.example.org", "v1alpha1", "machinepools", "MachinePool", false)
	claims       = kube.NewResource("claimed.machinepool.example.org", "v1alpha1", "machinepoolclaims", "MachinePoolClaim", true)
)

// TestClusterScoped holds that a pool without a namespace becomes Ready, of cluster-scoped managed resources.
func TestClusterScoped(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.offer(clusterPools, kube.Object{"spec": kube.Object{"scope": "Cluster"}})
	n.must(n.client.Apply(n.ctx, kube.Secrets, secret(n.namespace, "workers", "first")))

	_, err := n.client.Create(n.ctx, clusterPools, kube.Object{
		"apiVersion": clusterPools.GroupVersion().String(), "kind": clusterPools.Kind, "metadata": kube.Object{"name": "cluster-workers"},
		"spec": merge(spec("workers"), kube.Object{
			"crossplane": kube.Object{"compositionRef": kube.Object{"name": clusterPools.Group}},
			"cluster":    kube.Object{"exportsFrom": kube.Object{"namespace": n.namespace}},
			"bootstrap":  kube.Object{"dataSecretRef": kube.Object{"namespace": n.namespace}},
		}),
	}, false)
	n.must(err)
	xr := n.awaitComposite(clusterPools, "", "cluster-workers")
	n.clusterScoped(simulator.Text(xr, "metadata", "name"))

	n.must(n.client.Delete(n.ctx, clusterPools, "", "cluster-workers"))
	n.eventually("all managed resources are gone", func() (bool, string) {
		left, err := n.composed(n.ctx, "", "cluster-workers")
		return err == nil && len(left) == 0, strings.Join(names(left), " ")
	})
}

// TestClaim holds that a claim's pool becomes Ready, with the claim's namespace as the default for the Secret's.
func TestClaim(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.offer(claimedPools, kube.Object{
		"apiVersion": "apiextensions.crossplane.io/v1",
		"spec":       kube.Object{"scope": "LegacyCluster", "claimNames": kube.Object{"kind": claims.Kind, "plural": claims.Resource}},
	})
	n.must(n.client.Apply(n.ctx, kube.Secrets, secret(n.namespace, "workers", "first")))

	// Legacy composites, and claims, have Crossplane's own fields at the top of their spec.
	claim := merge(spec("workers"), kube.Object{
		"crossplane": nil, "compositionRef": kube.Object{"name": claimedPools.Group},
	})
	_, err := n.client.Create(n.ctx, claims, kube.Object{
		"apiVersion": claims.GroupVersion().String(), "kind": claims.Kind, "metadata": kube.Object{"namespace": n.namespace, "name": "workers"},
		"spec": claim,
	}, false)
	n.must(err)
	bound := n.awaitComposite(claims, n.namespace, "workers")
	n.clusterScoped(simulator.Text(bound, "spec", "resourceRef", "name"))
	if len(simulator.Texts(bound, "status", "providerIDList")) != 3 {
		t.Errorf("the claim's status has no members: %s", pretty(bound["status"]))
	}

	n.must(n.client.Delete(n.ctx, claims, n.namespace, "workers"))
	n.eventually("all managed resources are gone", func() (bool, string) {
		left, err := n.composed(n.ctx, "", simulator.Text(bound, "spec", "resourceRef", "name"))
		return err == nil && len(left) == 0, strings.Join(names(left), " ")
	})
}

// offer pools of another scope: configuration/machinepools.yaml with the patch of configuration/README.md.
func (n *tenant) offer(r kube.Resource, patch kube.Object) {
	n.Helper()
	data, err := os.ReadFile(filepath.Join(n.root, "configuration", "machinepools.yaml"))
	n.must(err)
	xrd := kube.Object{}
	n.must(yaml.Unmarshal(data, &xrd))
	merge(xrd, patch)
	merge(xrd, kube.Object{
		"metadata": kube.Object{"name": r.Resource + "." + r.Group},
		"spec":     kube.Object{"group": r.Group, "names": kube.Object{"shortNames": nil, "categories": nil}},
	})
	version := "v2"
	if xrd["apiVersion"] == "apiextensions.crossplane.io/v1" {
		version = "v1"
	}
	n.must(n.client.Apply(n.ctx, kube.NewResource("apiextensions.crossplane.io", version, "compositeresourcedefinitions", "CompositeResourceDefinition", false), xrd))
	n.must(n.await(n.ctx, kube.XRDs, "", r.Resource+"."+r.Group, "Established"))
	offered := composition(r.Group, r.GroupVersion().String(), 10, 3)
	// A cluster-scoped pool has no namespace of its own whose objects it may name.
	step := simulator.Field(offered, "spec", "pipeline").([]any)[0]
	simulator.SetField(step.(kube.Object), []any{n.namespace}, "input", "exportsFrom", "namespaces")
	n.must(n.apply(n.ctx, offered))
}

// awaitComposite waits for a pool of another scope, or a claim of one, to be Ready with its members.
func (n *tenant) awaitComposite(r kube.Resource, namespace, name string) kube.Object {
	n.Helper()
	var o kube.Object
	n.eventually(name+" is ready", func() (bool, string) {
		var err error
		o, err = n.client.Get(n.ctx, r, namespace, name)
		n.must(err)
		return simulator.ConditionOf(o, "Ready").Status == "True" && len(simulator.Texts(o, "status", "providerIDList")) == 3, state(o)
	})
	return o
}

// clusterScoped holds that a composite is made of cluster-scoped managed resources.
func (n *tenant) clusterScoped(composite string) {
	n.Helper()
	mrs, err := n.composed(n.ctx, "", composite)
	n.must(err)
	groups := map[string]bool{}
	for _, mr := range mrs {
		group, _ := kube.GroupKind(mr)
		groups[group] = true
	}
	want := []string{provider.ClusterGroups.Group, provider.ClusterTemplates.Group, provider.ClusterObjects.Group}
	if diff := cmp.Diff(want, names(groups)); diff != "" {
		n.Errorf("groups of managed resources: -want, +got:\n%s", diff)
	}
}
