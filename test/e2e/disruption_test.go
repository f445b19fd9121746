//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/controlplane"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// TestDisruption breaks one part of the control plane after the other, each time in the middle of a roll, and holds that
// the roll ends well and that nothing is deleted but the template that was rolled away from.
//
// It has the control plane to itself: it runs before all tests that run side by side.
func TestDisruption(t *testing.T) {
	n := newTenant(t)
	n.create("workers", nil)
	xr := n.awaitReady("workers", 3)
	r := record(n)
	may := map[string]bool{}
	versions := map[string]string{versionA: versionB, versionB: versionA}

	for _, tc := range []struct {
		name    string
		disturb func(t *testing.T)
	}{
		{"FunctionKilled", func(t *testing.T) {
			for range 3 {
				n.killFunction(t)
				time.Sleep(time.Second)
			}
		}},
		{"CertificateRotated", n.rotateCertificate},
		{"CrossplaneRestarted", func(t *testing.T) {
			s.crossplane.Kill()
			time.Sleep(2 * time.Second)
			if err := s.crossplane.Start(n.ctx); err != nil {
				t.Fatal(err)
			}
		}},
		{"APIServerRestarted", func(t *testing.T) {
			s.kubernetes.KillAPIServer()
			time.Sleep(2 * time.Second)
			if err := s.kubernetes.StartAPIServer(n.ctx); err != nil {
				t.Fatal(err)
			}
			if !s.crossplane.Running() {
				t.Log("Crossplane ended with the API server, as it may; its pod starts it again")
				if err := s.crossplane.Start(n.ctx); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"FunctionUpgraded", n.upgradeFunction},
	} {
		t.Run(tc.name, func(t *testing.T) {
			began := time.Now()
			old := n.template(xr)
			may[old] = true
			n.edit("workers", kube.Object{"kubernetesVersion": versions[simulator.Text(xr, "spec", "kubernetesVersion")]})
			n.eventually("the roll is under way", func() (bool, string) {
				for name, mr := range n.mrs("workers") {
					if strings.HasPrefix(name, templatePrefix) && name != old && simulator.Text(mr, "status", "atProvider", "id") != "" {
						return true, ""
					}
				}
				return false, state(n.xr("workers"))
			})
			t.Logf("disturbed after %s", time.Since(began).Round(100*time.Millisecond))
			tc.disturb(t)
			xr = n.awaitRolled("workers", old)
			if got := n.template(xr); got == old {
				t.Errorf("the pool is still on %s", got)
			}
			n.awaitReady("workers", 3)
			t.Logf("the roll was over after %s", time.Since(began).Round(100*time.Millisecond))
			// The template may be composed again by the next roll.
			r.neverDeleted(t, func(name string) bool { return may[name] })
		})
	}
}

// killFunction by SIGKILL, and wait until it runs again.
func (n *tenant) killFunction(t *testing.T) {
	t.Helper()
	before := s.node.Function().PID()
	s.node.Function().Kill()
	n.eventually("the function runs again", func() (bool, string) {
		return s.node.Function().PID() != before, "it does not"
	})
}

// rotateCertificate deletes the function's Secret, so that Crossplane issues another, and restarts the function's pod: it
// reads its certificate when it starts.
func (n *tenant) rotateCertificate(t *testing.T) {
	t.Helper()
	const name = functionName + "-tls-server"
	certificate := func() string {
		o, err := s.client.Get(n.ctx, kube.Secrets, controlplane.Namespace, name)
		n.must(err)
		return simulator.Text(o, "data", "tls.crt")
	}
	before := certificate()
	n.must(s.client.Delete(n.ctx, kube.Secrets, controlplane.Namespace, name))
	// Crossplane looks at a revision when that changes, or within a minute.
	revisions, err := s.client.List(n.ctx, kube.FunctionRevs, "", "")
	n.must(err)
	for _, r := range revisions {
		_, err := s.client.Patch(n.ctx, kube.FunctionRevs, "", simulator.Text(r, "metadata", "name"), kube.Object{
			"metadata": kube.Object{"annotations": kube.Object{"e2e": time.Now().String()}},
		})
		n.must(err)
	}
	n.eventually("Crossplane issues another certificate", func() (bool, string) {
		now := certificate()
		return now != "" && now != before, "the Secret has the old one, or none"
	})
	n.killFunction(t)
}

// upgradeFunction to a package that differs in its version only.
func (n *tenant) upgradeFunction(t *testing.T) {
	t.Helper()
	const next = "v0.1.1"
	before := s.node.Function().Name
	n.must(s.registry.Republish(n.ctx, functionPackage, packageTag, next))
	_, err := s.client.Patch(n.ctx, kube.Functions, "", functionName, kube.Object{"spec": kube.Object{"package": "xpkg.crossplane.io/" + functionPackage + ":" + next}})
	n.must(err)
	n.eventually("the new revision runs alone", func() (bool, string) {
		pod := s.node.Function()
		return pod != nil && pod.Name != before, "the old one does"
	})
	n.must(s.await(n.ctx, kube.Functions, "", functionName, "Installed", "Healthy"))
}

// TestRefused gives a pool, in the middle of a roll, a spec that can never work, which only the function can know. Nothing
// may change until it is taken back; then the roll goes on.
func TestRefused(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.create("workers", nil)
	old := n.template(n.awaitReady("workers", 3))
	r := record(n)
	n.edit("workers", kube.Object{"kubernetesVersion": versionB})
	n.eventually("the group is sent to another template", func() (bool, string) {
		return n.xr("workers") != nil && len(n.mrs("workers")) == 4, state(n.xr("workers"))
	})

	other := exports(n.namespace)
	other["schema"] = "captf.io/aws-cluster/v2"
	n.publish(other)
	n.awaitCondition("workers", "Synced", "False")
	n.always(5*time.Second, n.unchanged("workers", n.uids("workers"), n.generations("workers")))

	n.publish(exports(n.namespace))
	n.awaitRolled("workers", old)
	n.awaitReady("workers", 3)
	r.neverDeleted(t, only(old))
}
