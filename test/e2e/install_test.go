//go:build e2e

package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/controlplane"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// TestInstall holds that one Configuration brings all there is to it, and that kubectl shows it well.
func TestInstall(t *testing.T) { //nolint:tparallel // They look at one pool.
	t.Parallel()
	n := newTenant(t)

	for _, tc := range []struct {
		resource   kube.Resource
		name       string
		conditions []string
	}{
		{kube.Configurations, configurationName, []string{"Installed", "Healthy"}},
		{kube.Functions, functionName, []string{"Installed", "Healthy"}},
		{kube.Providers, "crossplane-contrib-provider-aws-autoscaling", []string{"Installed", "Healthy"}},
		{kube.Providers, "crossplane-contrib-provider-aws-ec2", []string{"Installed", "Healthy"}},
		{kube.Providers, "crossplane-contrib-provider-aws-s3", []string{"Installed", "Healthy"}},
		{kube.XRDs, "machinepools.aws.machinepool.fn.crossplane.io", []string{"Established"}},
	} {
		if err := n.await(n.ctx, tc.resource, "", tc.name, tc.conditions...); err != nil {
			t.Error(err)
		}
	}
	revisions, err := n.client.List(n.ctx, kube.Revisions, "", "crossplane.io/composition-name="+shipped)
	n.must(err)
	if len(revisions) != 1 || simulator.ConditionOf(revisions[0], "ValidPipeline").Status != "True" {
		t.Errorf("the Composition is not valid: %v", revisions)
	}

	// The shipped Composition as it is: it reads no AWS, so the image has to be pinned.
	n.create("workers", kube.Object{
		"crossplane":   kube.Object{"compositionRef": kube.Object{"name": shipped}},
		"machineImage": kube.Object{"id": imageA},
	})
	n.awaitCondition("workers", "Ready", "True")
	if diff := cmp.Diff([]string{"autoscaling-group", "bootstrap-object"}, slices.DeleteFunc(names(n.mrs("workers")), func(s string) bool { return strings.HasPrefix(s, "launch-template-") })); diff != "" {
		t.Errorf("managed resources: -want, +got:\n%s", diff)
	}

	t.Run("Columns", func(t *testing.T) {
		n := n.within(t)
		out := n.kubectl("get", "awsmp")
		header, row, _ := strings.Cut(strings.TrimSpace(out), "\n")
		if diff := cmp.Diff(strings.Fields("NAME VERSION DESIRED MEMBERS HEALTH HEALTHY ROLLOUT SYNCED READY COMPOSITION AGE"), strings.Fields(header)); diff != "" {
			t.Errorf("columns: -want, +got:\n%s", diff)
		}
		if !strings.HasPrefix(row, "workers ") || !strings.Contains(row, versionA) {
			t.Errorf("the pool's row says: %s", row)
		}
	})
	t.Run("Scale", func(t *testing.T) {
		n := n.within(t)
		n.kubectl("scale", "awsmp/workers", "--replicas=5")
		n.eventually("the group grows", func() (bool, string) {
			group := n.mrs("workers")["autoscaling-group"]
			got, _ := simulator.Number(group, "status", "atProvider", "desiredCapacity")
			return got == 5, string(pretty(group["status"]))
		})
		n.eventually("scale shows what there is", func() (bool, string) {
			out := n.kubectl("get", "awsmp", "workers", "--subresource=scale", "-o", "jsonpath={.spec.replicas} {.status.replicas}")
			return out == "5 5", out
		})
	})
	t.Run("Explain", func(t *testing.T) {
		n := n.within(t)
		out := n.kubectl("explain", "machinepools.spec.replicas", "--api-version=aws.machinepool.fn.crossplane.io/v1alpha1")
		if !strings.Contains(out, "DESCRIPTION") || strings.Contains(out, "<empty>") || !strings.Contains(out, "group") {
			t.Errorf("kubectl explain says: %s", out)
		}
	})
}

// kubectl runs the real one.
func (n *tenant) kubectl(args ...string) string {
	n.Helper()
	program := filepath.Join(controlplane.Cache(n.root), "bin", "kubectl")
	out, err := exec.CommandContext(n.ctx, program, append([]string{"--kubeconfig=" + n.kubernetes.Kubeconfig, "--namespace=" + n.namespace, "--cache-dir=" + n.dir + "/kubectl"}, args...)...).CombinedOutput()
	if err != nil {
		n.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func pretty(v any) []byte {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return []byte(err.Error())
	}
	return out
}
