//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

// settle is how long Crossplane's cache may be behind the API server on a busy machine. Ten seconds were too few once.
const settle = 30 * time.Second

// TestBackupRestore holds that a pool that is restored from a backup takes up its group. The backup has the specs and the
// annotations of the pool and its managed resources, and no status; the cluster has another zone by now.
func TestBackupRestore(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.create("workers", nil)
	before := n.awaitReady("workers", 3)
	xr, mrs := n.xr("workers"), n.mrs("workers")

	n.lose("workers", mrs)
	more := exports(n.namespace)
	simulator.SetField(more, "subnet-0ddd0000000000001", "failure_domains", "us-east-1d", "subnet_id")
	n.publish(more)

	// The composite first, paused, since owners name it by its new uid. Velero restores the old uid, which has to be mended.
	restored, err := n.client.Create(n.ctx, pools, backup(xr, kube.Object{"crossplane.io/paused": "true"}), false)
	n.must(err)
	for _, k := range []kube.Resource{provider.Groups, provider.Templates, provider.Objects} {
		for _, mr := range mrs {
			if mr["kind"] != k.Kind {
				continue
			}
			copied := backup(mr, nil)
			owners, _ := simulator.Clone(simulator.Field(mr, "metadata", "ownerReferences")).([]any)
			simulator.SetField(owners[0].(kube.Object), simulator.Text(restored, "metadata", "uid"), "uid")
			simulator.SetField(copied, owners, "metadata", "ownerReferences")
			_, err := n.client.Create(n.ctx, k, copied, false)
			n.must(err)
		}
	}
	// A composite that is unpaused before Crossplane's cache has its managed resources forgets these: docs/operations.md says to wait.
	time.Sleep(settle)
	_, err = n.client.Patch(n.ctx, pools, n.namespace, "workers", kube.Object{"metadata": kube.Object{"annotations": kube.Object{"crossplane.io/paused": nil}}})
	n.must(err)

	after := n.awaitReady("workers", 3)
	for _, field := range []string{"autoscalingGroupName", "launchTemplateID", "failureDomains", "providerIDList", "imageID", "inheritedFailureDomains"} {
		if diff := cmp.Diff(simulator.Field(before, "status", field), simulator.Field(after, "status", field)); diff != "" {
			t.Errorf("status.%s: -want, +got:\n%s", field, diff)
		}
	}
	if diff := cmp.Diff(names(mrs), names(n.mrs("workers"))); diff != "" {
		t.Errorf("managed resources: -want, +got:\n%s", diff)
	}
	n.provider.AWS(func(a *simulator.AWS) {
		g := a.Groups[simulator.Text(before, "status", "autoscalingGroupName")]
		if g == nil || len(g.Refreshes) > 0 || g.TemplateID != simulator.Text(before, "status", "launchTemplateID") {
			t.Errorf("the group in AWS is not as it was: %+v", g)
		}
		for _, tmpl := range a.Templates {
			if strings.HasPrefix(tmpl.Name, simulator.Text(before, "status", "autoscalingGroupName")) && tmpl.ID != g.TemplateID {
				t.Errorf("another launch template was made: %s", tmpl.Name)
			}
		}
	})
}

// lose a pool and its managed resources, as with the whole control plane: AWS is left alone.
func (n *tenant) lose(pool string, mrs map[string]kube.Object) {
	n.Helper()
	_, err := n.client.Patch(n.ctx, pools, n.namespace, pool, kube.Object{"metadata": kube.Object{"annotations": kube.Object{"crossplane.io/paused": "true"}}})
	n.must(err)
	n.provider.Pause(n.namespace, true)
	for _, k := range provider.Kinds() {
		for _, mr := range mrs {
			group, kind := kube.GroupKind(mr)
			if kind != k.Kind || group != k.Group {
				continue
			}
			name := simulator.Text(mr, "metadata", "name")
			n.must(n.client.Delete(n.ctx, k, n.namespace, name))
			_, err := n.client.Patch(n.ctx, k, n.namespace, name, kube.Object{"metadata": kube.Object{"finalizers": nil}})
			n.must(err)
		}
	}
	n.must(n.client.Delete(n.ctx, pools, n.namespace, pool))
	_, err = n.client.Patch(n.ctx, pools, n.namespace, pool, kube.Object{"metadata": kube.Object{"finalizers": nil}})
	n.must(err)
	n.eventually("all is lost", func() (bool, string) {
		return n.xr(pool) == nil && len(n.mrs(pool)) == 0, strings.Join(names(n.mrs(pool)), " ")
	})
	n.provider.Pause(n.namespace, false)
}

// backup of an object: what a person could have written, and no more than that.
func backup(o kube.Object, annotations kube.Object) kube.Object {
	kept, _ := simulator.Clone(simulator.Field(o, "metadata", "annotations")).(kube.Object)
	if kept == nil {
		kept = kube.Object{}
	}
	merge(kept, annotations)
	labels, _ := simulator.Clone(simulator.Field(o, "metadata", "labels")).(kube.Object)
	return kube.Object{
		"apiVersion": o["apiVersion"], "kind": o["kind"],
		"metadata": kube.Object{
			"namespace": simulator.Text(o, "metadata", "namespace"), "name": simulator.Text(o, "metadata", "name"),
			"annotations": kept, "labels": labels,
		},
		"spec": simulator.Clone(o["spec"]),
	}
}
