//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// TestDeletion holds that all goes with the pool, in the control plane and in AWS.
func TestDeletion(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.create("workers", nil)
	xr := n.awaitReady("workers", 3)

	n.must(n.client.Delete(n.ctx, pools, n.namespace, "workers"))
	n.eventually("all managed resources are gone", func() (bool, string) {
		left := names(n.mrs("workers"))
		return len(left) == 0, strings.Join(left, " ")
	})
	n.eventually("the pool is gone", func() (bool, string) { return n.xr("workers") == nil, "" })
	n.provider.AWS(func(a *simulator.AWS) {
		if a.Groups[simulator.Text(xr, "status", "autoscalingGroupName")] != nil {
			t.Error("the group is left in AWS")
		}
		if a.Templates[simulator.Text(xr, "status", "launchTemplateID")] != nil {
			t.Error("the launch template is left in AWS")
		}
		if a.S3[n.namespace+"-bootstrap/pool/"+n.namespace+"/workers"] != nil {
			t.Error("the bootstrap data is left in S3")
		}
	})
}
