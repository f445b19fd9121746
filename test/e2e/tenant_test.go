//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

// patience with anything that should come about. A busy machine needs most of it, an idle one a few seconds.
const patience = 6 * time.Minute

// A tenant is one test's namespace.
type tenant struct {
	*testing.T
	*suite

	ctx       context.Context
	namespace string
}

// newTenant makes a namespace in the control plane that the tests share, with a cluster in it.
func newTenant(t *testing.T) *tenant {
	t.Helper()
	return shared.tenant(t)
}

// tenant makes a namespace, with a cluster in it.
func (s *suite) tenant(t *testing.T) *tenant {
	t.Helper()
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(strings.TrimPrefix(t.Name(), "Test")), "-")
	n := &tenant{T: t, suite: s, ctx: t.Context(), namespace: name}
	n.must(n.client.Apply(n.ctx, kube.Namespaces, kube.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": kube.Object{"name": name}}))
	n.publish(exports(name))
	return n
}

// within a subtest of the tenant's test.
func (n *tenant) within(t *testing.T) *tenant {
	t.Helper()
	return &tenant{T: t, suite: n.suite, ctx: t.Context(), namespace: n.namespace}
}

func (n *tenant) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// publish the exports of the namespace's cluster.
func (n *tenant) publish(exports kube.Object) {
	n.Helper()
	n.must(n.client.Apply(n.ctx, clusters, cluster(n.namespace, "demo", exports)))
}

// create a pool and its Secret. The patch is of the pool's spec.
func (n *tenant) create(name string, patch kube.Object) {
	n.Helper()
	n.must(n.client.Apply(n.ctx, kube.Secrets, secret(n.namespace, name, "first")))
	_, err := n.client.Create(n.ctx, pools, kube.Object{
		"apiVersion": pools.GroupVersion().String(), "kind": pools.Kind,
		"metadata": kube.Object{"namespace": n.namespace, "name": name},
		"spec":     merge(spec(name), patch),
	}, false)
	n.must(err)
}

// edit a pool's spec.
func (n *tenant) edit(name string, patch kube.Object) {
	n.Helper()
	_, err := n.client.Patch(n.ctx, pools, n.namespace, name, kube.Object{"spec": patch})
	n.must(err)
}

// xr is a pool as it is now; nil when there is none.
func (n *tenant) xr(name string) kube.Object {
	n.Helper()
	o, err := n.client.Get(n.ctx, pools, n.namespace, name)
	n.must(err)
	return o
}

// mrs of a pool by composition resource name, those that are being deleted among them.
func (n *tenant) mrs(pool string) map[string]kube.Object {
	n.Helper()
	all, err := n.composed(n.ctx, n.namespace, pool)
	n.must(err)
	return all
}

// composed resources of a composite, by composition resource name.
func (s *suite) composed(ctx context.Context, namespace, composite string) (map[string]kube.Object, error) {
	out := map[string]kube.Object{}
	for _, k := range provider.Kinds() {
		if k.Namespaced != (namespace != "") {
			continue
		}
		list, err := s.client.List(ctx, k, namespace, "crossplane.io/composite="+composite)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			out[simulator.Text(o, "metadata", "annotations", "crossplane.io/composition-resource-name")] = o
		}
	}
	return out, nil
}

// eventually something is so.
func (n *tenant) eventually(what string, ask func() (bool, string)) {
	n.Helper()
	ctx, cancel := context.WithTimeout(n.ctx, patience)
	defer cancel()
	if err := kube.Poll(ctx, 500*time.Millisecond, ask); err != nil {
		n.Fatalf("%s: it never came about that %s: %v", n.namespace, what, err)
	}
}

// always something is so, for a while.
func (n *tenant) always(d time.Duration, ask func() (bool, string)) {
	n.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if ok, said := ask(); !ok {
			n.Fatalf("%s: %s", n.namespace, said)
		}
	}
}

// awaitReady waits until a pool is Ready and idle, with as many members as are asked for.
func (n *tenant) awaitReady(name string, members int) kube.Object {
	n.Helper()
	var xr kube.Object
	n.eventually(fmt.Sprintf("%s is ready with %d members", name, members), func() (bool, string) {
		xr = n.xr(name)
		ready, synced := simulator.ConditionOf(xr, "Ready"), simulator.ConditionOf(xr, "Synced")
		got := len(simulator.Texts(xr, "status", "providerIDList"))
		return ready.Status == "True" && synced.Status == "True" && got == members &&
			simulator.Text(xr, "status", "rollout", "phase") == "Idle" && isTrue(xr, "status", "health", "healthy"), state(xr)
	})
	return xr
}

// state of a pool in a line, for a failure's message.
func state(xr kube.Object) string {
	var out []string
	list, _ := simulator.Field(xr, "status", "conditions").([]any)
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s=%s %s (%s)", simulator.Text(c, "type"), simulator.Text(c, "status"), simulator.Text(c, "reason"), simulator.Text(c, "message")))
	}
	slices.Sort(out)
	return fmt.Sprintf("phase %q, health %v, %d members; %s", simulator.Text(xr, "status", "rollout", "phase"),
		simulator.Field(xr, "status", "health"), len(simulator.Texts(xr, "status", "providerIDList")), strings.Join(out, "; "))
}

// awaitCondition of a pool.
func (n *tenant) awaitCondition(name, condition, status string, reasons ...string) simulator.Condition {
	n.Helper()
	var c simulator.Condition
	n.eventually(fmt.Sprintf("%s of %s is %s %v", condition, name, status, reasons), func() (bool, string) {
		xr := n.xr(name)
		c = simulator.ConditionOf(xr, condition)
		return c.Status == status && (len(reasons) == 0 || slices.Contains(reasons, c.Reason)), state(xr)
	})
	return c
}

// generations of a pool's managed resources, which move whenever a spec does.
func (n *tenant) generations(pool string) map[string]any {
	n.Helper()
	out := map[string]any{}
	for name, mr := range n.mrs(pool) {
		out[name] = simulator.Field(mr, "metadata", "generation")
	}
	return out
}

// uids of a pool's managed resources, which stay as long as none is deleted.
func (n *tenant) uids(pool string) map[string]string {
	n.Helper()
	out := map[string]string{}
	for name, mr := range n.mrs(pool) {
		out[name] = simulator.Text(mr, "metadata", "uid")
	}
	return out
}

func isTrue(o kube.Object, path ...string) bool {
	v, _ := simulator.Field(o, path...).(bool)
	return v
}

func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
