//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// A fleet is what a group must not lose to others.
type fleet struct {
	Min, Max, Desired int
	Template          string
	Members           []string
	Settings          kube.Object
}

// fleet of a group in AWS.
func (n *tenant) fleet(group string) *fleet {
	var out *fleet
	n.provider.AWS(func(a *simulator.AWS) {
		g := a.Groups[group]
		if g == nil {
			return
		}
		out = &fleet{Min: g.Min, Max: g.Max, Desired: g.Desired, Template: g.TemplateID, Settings: simulator.Clone(g.Settings)}
		for _, m := range g.Members {
			out.Members = append(out.Members, m.ID)
		}
	})
	return out
}

// TestForgedStatus holds that who may write a pool's status cannot have another pool's group taken over, whether the function
// reads AWS or not. package provider plays the same with the real provider-aws.
func TestForgedStatus(t *testing.T) {
	t.Parallel()
	victim := newTenant(t)
	victim.create("payments", nil)
	group := simulator.Text(victim.awaitReady("payments", 3), "status", "autoscalingGroupName")
	// Nothing of the victim's own may put right what an attacker did.
	victim.provider.Pause(victim.namespace, true)
	t.Cleanup(func() { victim.provider.Pause(victim.namespace, false) })
	before := victim.fleet(group)

	for name, composition := range map[string]string{"Reading": reading, "Blind": shipped} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newTenant(t)
			pool := n.modest("workers", kube.Object{
				"crossplane": kube.Object{"compositionRef": kube.Object{"name": composition}}, "machineImage": kube.Object{"id": imageA}, "replicas": int64(0),
			})
			_, err := n.client.Create(n.ctx, pools, pool, false)
			n.must(err)
			n.awaitCondition("workers", "BootstrapConfigReady", "False")
			if got := names(n.mrs("workers")); len(got) > 0 {
				t.Fatalf("the pool has managed resources already: %v", got)
			}
			_, err = n.client.Patch(n.ctx, pools, n.namespace, "workers", kube.Object{"status": kube.Object{"autoscalingGroupName": group}}, "status")
			n.must(err)
			n.must(n.client.Apply(n.ctx, kube.Secrets, secret(n.namespace, "workers", "first")))

			own := ""
			n.eventually("the pool has a group of its own", func() (bool, string) {
				if diff := cmp.Diff(before, victim.fleet(group)); diff != "" {
					t.Fatalf("the other pool's group was changed: -before, +after:\n%s", diff)
				}
				own = simulator.Text(n.mrs("workers")["autoscaling-group"], "metadata", "annotations", "crossplane.io/external-name")
				return own != "" && own != group && n.fleet(own) != nil, own
			})
			n.always(5*time.Second, func() (bool, string) {
				diff := cmp.Diff(before, victim.fleet(group))
				return diff == "", diff
			})
			if !strings.HasPrefix(own, "mp-"+n.namespace+"-workers-") {
				t.Errorf("the pool's group is called %s", own)
			}
			if got := simulator.Texts(n.xr("workers"), "status", "providerIDList"); len(got) > 0 {
				t.Errorf("the pool's status tells of members: %v", got)
			}
		})
	}
}
