//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// TestAutoscaling holds that autoscaling goes on, to someone else's hands, and off again without moving the group.
func TestAutoscaling(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.create("workers", nil)
	group := simulator.Text(n.awaitReady("workers", 3), "status", "autoscalingGroupName")
	r := record(n)

	n.edit("workers", kube.Object{"autoscaling": kube.Object{"minReplicas": 2, "maxReplicas": 6}})
	n.eventually("the policy is there and the bounds are set", func() (bool, string) {
		policy := n.mrs("workers")["scaling-policy"]
		bounds := n.bounds(group)
		return simulator.ConditionOf(policy, "Ready").Status == "True" && bounds == "2..6", bounds + ": " + state(n.xr("workers"))
	})

	// The policy, or a person, moves the desired capacity, and it stays there.
	n.provider.AWS(func(a *simulator.AWS) { n.must(a.SetDesired(group, 5)) })
	n.awaitReady("workers", 5)

	n.edit("workers", kube.Object{"autoscaling": kube.Object{"scaler": "External"}})
	n.eventually("the policy is gone", func() (bool, string) {
		policy := n.mrs("workers")["scaling-policy"]
		return policy == nil, describe(policy)
	})
	n.always(4*time.Second, func() (bool, string) {
		desired := 0
		n.provider.AWS(func(a *simulator.AWS) { desired = a.Groups[group].Desired })
		return desired == 5, fmt.Sprintf("desired capacity is %d, want the 5 that someone set", desired)
	})

	n.edit("workers", kube.Object{"autoscaling": nil, "replicas": 4})
	n.eventually("the bounds are replicas", func() (bool, string) {
		bounds := n.bounds(group)
		return bounds == "4..4", bounds
	})
	n.awaitReady("workers", 4)
	r.neverDeleted(t, only("scaling-policy"))
}

// bounds of a group in AWS.
func (n *tenant) bounds(group string) string {
	out := "no group"
	n.provider.AWS(func(a *simulator.AWS) {
		if g := a.Groups[group]; g != nil {
			out = fmt.Sprintf("%d..%d", g.Min, g.Max)
		}
	})
	return out
}

// TestReplicasZero holds that a pool can be emptied and filled again.
func TestReplicasZero(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.create("workers", nil)
	n.awaitReady("workers", 3)
	r := record(n)

	n.edit("workers", kube.Object{"replicas": 0})
	xr := n.awaitReady("workers", 0)
	if got, ok := simulator.Number(xr, "status", "replicas"); !ok || got != 0 {
		t.Errorf("status.replicas is %v, want a 0 that is there", simulator.Field(xr, "status", "replicas"))
	}
	n.edit("workers", kube.Object{"replicas": 2})
	n.awaitReady("workers", 2)
	r.neverDeleted(t, nothing)
}
