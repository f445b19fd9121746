//go:build e2e

package e2e

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/controlplane"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/node"
)

// TestDisruption breaks one part of the control plane after the other, each time in the middle of a roll. It holds that
// the roll ends well, that nothing is deleted but the template that was rolled away from, and that the pool stays Ready.
//
// It has a control plane to itself, which runs beside that of all other tests.
func TestDisruption(t *testing.T) { //nolint:tparallel // One step after the other.
	t.Parallel()
	n := ownSuite(t).tenant(t)
	r := record(n)
	n.create("workers", nil)
	xr := n.awaitReady("workers", 3)
	r.judge(xr)
	may := map[string]bool{}
	versions := map[string]string{versionA: versionB, versionB: versionA}

	for _, tc := range []struct {
		name    string
		disturb func(n *tenant)
	}{
		{"FunctionKilled", func(n *tenant) {
			for range 3 {
				n.killFunction()
				time.Sleep(time.Second)
			}
		}},
		{"CertificateRotated", (*tenant).rotateCertificate},
		{"CrossplaneRestarted", func(n *tenant) {
			n.crossplane.Kill()
			time.Sleep(2 * time.Second)
			n.must(n.crossplane.Start(n.ctx))
		}},
		{"APIServerRestarted", func(n *tenant) {
			n.kubernetes.KillAPIServer()
			time.Sleep(2 * time.Second)
			n.must(n.kubernetes.StartAPIServer(n.ctx))
			if !n.crossplane.Running() {
				n.Log("Crossplane ended with the API server, as it may; its pod starts it again")
				n.must(n.crossplane.Start(n.ctx))
			}
		}},
		{"FunctionUpgraded", (*tenant).upgradeFunction},
		{"FunctionRolledBack", (*tenant).rollFunctionBack},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := n.within(t)
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
			tc.disturb(n)
			xr = n.awaitRolled("workers", old)
			if got := n.template(xr); got == old {
				t.Errorf("the pool is still on %s", got)
			}
			n.awaitReady("workers", 3)
			t.Logf("the roll was over after %s", time.Since(began).Round(100*time.Millisecond))
			// The template may be composed again by the next roll.
			r.neverDeleted(t, func(name string) bool { return may[name] })
			r.neverUnready(t, "workers")
		})
	}
}

// killFunction by SIGKILL, every pod of it, and wait until as many run again.
func (n *tenant) killFunction() {
	n.Helper()
	before := map[int]bool{}
	for _, pod := range n.node.Function(functionName) {
		before[pod.PID()] = true
		pod.Kill()
	}
	n.eventually("the function runs again", func() (bool, string) {
		pods := n.node.Function(functionName)
		old := slices.ContainsFunc(pods, func(p *node.Pod) bool { return before[p.PID()] })
		return len(pods) == len(before) && !old, "it does not"
	})
}

// deployment of the function that runs.
func (n *tenant) deployment() string {
	n.Helper()
	pods := n.node.Function(functionName)
	if len(pods) != 2 {
		n.Fatalf("want two pods of the function, got %d", len(pods))
	}
	return pods[0].Deployment
}

// rotateCertificate deletes the function's Secret, so that Crossplane issues another, and restarts the function's pod: it
// reads its certificate when it starts.
func (n *tenant) rotateCertificate() {
	n.Helper()
	const name = functionName + "-tls-server"
	certificate := func() string {
		o, err := n.client.Get(n.ctx, kube.Secrets, controlplane.Namespace, name)
		n.must(err)
		return simulator.Text(o, "data", "tls.crt")
	}
	before := certificate()
	n.must(n.client.Delete(n.ctx, kube.Secrets, controlplane.Namespace, name))
	// Crossplane looks at a revision when that changes, or within a minute.
	revisions, err := n.client.List(n.ctx, kube.FunctionRevs, "", "")
	n.must(err)
	for _, r := range revisions {
		_, err := n.client.Patch(n.ctx, kube.FunctionRevs, "", simulator.Text(r, "metadata", "name"), kube.Object{
			"metadata": kube.Object{"annotations": kube.Object{"e2e": time.Now().String()}},
		})
		n.must(err)
	}
	n.eventually("Crossplane issues another certificate", func() (bool, string) {
		now := certificate()
		return now != "" && now != before, "the Secret has the old one, or none"
	})
	if got := n.served(); got == n.fingerprint(certificate()) {
		n.Error("the function serves the new certificate before it is restarted: docs/operations.md says it has to be")
	}
	n.killFunction()
	if got, want := n.served(), n.fingerprint(certificate()); got != want {
		n.Errorf("the function serves the certificate %s, want the one in its Secret, %s", got, want)
	}
}

// fingerprint of a certificate in a Secret. Its serial would tell nothing: Crossplane gives all of them the same.
func (n *tenant) fingerprint(encoded string) string {
	n.Helper()
	data, err := base64.StdEncoding.DecodeString(encoded)
	n.must(err)
	block, _ := pem.Decode(data)
	if block == nil {
		n.Fatal("the Secret has no certificate")
	}
	return fmt.Sprintf("%x", sha256.Sum256(block.Bytes))
}

// served is the fingerprint of the certificate that the function serves now, to a client that Crossplane's certificates
// make welcome.
func (n *tenant) served() string {
	n.Helper()
	dir := filepath.Join(n.dir, "crossplane-tls-client")
	client, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	n.must(err)
	authority, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	n.must(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	conn, err := tls.Dial("tcp", n.node.Function(functionName)[0].Address, &tls.Config{
		RootCAs: roots, Certificates: []tls.Certificate{client}, ServerName: functionName + "." + controlplane.Namespace, NextProtos: []string{"h2"},
	})
	n.must(err)
	defer conn.Close()
	return fmt.Sprintf("%x", sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw))
}

// nextTag is of a package that differs from the first in its version only.
const nextTag = "v0.1.1"

// setFunction to a version.
func (n *tenant) setFunction(tag, policy string) {
	n.Helper()
	_, err := n.client.Patch(n.ctx, kube.Functions, "", functionName, kube.Object{"spec": kube.Object{
		"package": "xpkg.crossplane.io/" + functionPackage + ":" + tag, "revisionActivationPolicy": policy,
	}})
	n.must(err)
}

// awaitFunction to run alone, in another pod than before.
func (n *tenant) awaitFunction(before string) {
	n.Helper()
	n.eventually("the other revision runs alone", func() (bool, string) {
		pods := n.node.Function(functionName)
		old := slices.ContainsFunc(pods, func(p *node.Pod) bool { return p.Deployment == before })
		return len(pods) > 0 && !old, "it does not"
	})
	n.must(n.await(n.ctx, kube.Functions, "", functionName, "Installed", "Healthy"))
}

// upgradeFunction to another version.
func (n *tenant) upgradeFunction() {
	n.Helper()
	before := n.deployment()
	n.must(n.registry.Republish(n.ctx, functionPackage, packageTag, nextTag))
	n.setFunction(nextTag, "Automatic")
	n.awaitFunction(before)
}

// rollFunctionBack to the first version, by hand: no revision is active until someone says which.
func (n *tenant) rollFunctionBack() {
	n.Helper()
	before := n.deployment()
	n.setFunction(packageTag, "Manual")
	n.eventually("no function runs", func() (bool, string) {
		return len(n.node.Function(functionName)) == 0, "one does"
	})
	var older string
	n.eventually("the older revision is the current one", func() (bool, string) {
		f, err := n.client.Get(n.ctx, kube.Functions, "", functionName)
		n.must(err)
		older = simulator.Text(f, "status", "currentRevision")
		return older != "" && older != before, older
	})
	_, err := n.client.Patch(n.ctx, kube.FunctionRevs, "", older, kube.Object{"spec": kube.Object{"desiredState": "Active"}})
	n.must(err)
	n.awaitFunction(before)
}

// TestRefused gives a pool, in the middle of a roll, a spec that can never work, which only the function can know. Nothing
// may change until it is taken back; then the roll goes on.
func TestRefused(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.create("workers", nil)
	xr := n.awaitReady("workers", 3)
	old := n.template(xr)
	r := record(n)
	n.edit("workers", kube.Object{"kubernetesVersion": versionB})
	n.eventually("the group is sent to another template", func() (bool, string) {
		sent := simulator.Text(n.mrs("workers")["autoscaling-group"], "spec", "forProvider", "launchTemplate", "id")
		return sent != "" && sent != simulator.Text(xr, "status", "launchTemplateID"), sent + ": " + state(n.xr("workers"))
	})

	n.edit("workers", kube.Object{"bootstrap": kube.Object{"dataSecretRef": kube.Object{"namespace": "elsewhere"}}})
	n.awaitCondition("workers", "Synced", "False")
	n.always(5*time.Second, n.unchanged("workers", n.uids("workers"), n.generations("workers")))

	n.edit("workers", kube.Object{"bootstrap": kube.Object{"dataSecretRef": kube.Object{"namespace": nil}}})
	n.awaitRolled("workers", old)
	n.awaitReady("workers", 3)
	r.neverDeleted(t, only(old))
}
