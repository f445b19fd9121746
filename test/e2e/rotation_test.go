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

// TestRotation holds that new bootstrap data reaches S3 within the time to live and changes nothing else, and that nothing
// is lost with the Secret.
func TestRotation(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	r := record(n)
	n.create("workers", nil)
	r.judge(n.awaitReady("workers", 3))
	before := n.generations("workers")

	rotated := time.Now()
	n.must(n.client.Apply(n.ctx, kube.Secrets, secret(n.namespace, "workers", "second")))
	n.eventually("the Object follows", func() (bool, string) {
		now := n.generations("workers")
		return now["bootstrap-object"] != before["bootstrap-object"], string(pretty(now))
	})
	// Without a time to live Crossplane looks 54 to 66 seconds after it last did, which was when the pool became Ready. All
	// that is in between is left to a busy machine; how long it took is logged.
	took := time.Since(rotated).Round(100 * time.Millisecond)
	t.Logf("the Object followed after %s, with a time to live of %d seconds", took, readingStable)
	if took > 45*time.Second {
		t.Errorf("the Object followed after %s: it is not the time to live, %d seconds, that Crossplane goes by", took, readingStable)
	}
	n.eventually("S3 has the second data", func() (bool, string) {
		var content string
		n.provider.AWS(func(a *simulator.AWS) {
			if o := a.S3[n.namespace+"-bootstrap/pool/"+n.namespace+"/workers"]; o != nil {
				content = string(o.Content)
			}
		})
		return strings.Contains(content, "second"), "it has: " + content
	})

	after := n.generations("workers")
	delete(before, "bootstrap-object")
	delete(after, "bootstrap-object")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("generations of all but the Object: -want, +got:\n%s", diff)
	}

	uids, generations := n.uids("workers"), n.generations("workers")
	n.must(n.client.Delete(n.ctx, kube.Secrets, n.namespace, "workers"))
	n.awaitCondition("workers", "BootstrapConfigReady", "False")
	n.always((readingStable+2)*time.Second, n.unchanged("workers", uids, generations))
	r.neverDeleted(t, nothing)
	r.neverUnready(t, "workers")

	n.must(n.client.Apply(n.ctx, kube.Secrets, secret(n.namespace, "workers", "second")))
	n.awaitCondition("workers", "BootstrapConfigReady", "True")
}
