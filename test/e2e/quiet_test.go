//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

const (
	// quietEnv says how long a steady pool is looked at, manyEnv how many pools there are beside it.
	quietEnv = "MACHINEPOOL_E2E_QUIET"
	manyEnv  = "MACHINEPOOL_E2E_POOLS"

	manyWindow   = 45 * time.Second
	manyPatience = 5 * time.Minute
	// inFlight is how many pools are being made at a time.
	inFlight = 16
)

// TestSteady holds that nothing is written about a pool to which nothing happens, although the function is asked every four
// seconds and others are busy.
func TestSteady(t *testing.T) {
	t.Parallel()
	window := 2 * time.Minute
	if v := os.Getenv(quietEnv); v != "" {
		var err error
		if window, err = time.ParseDuration(v); err != nil {
			t.Fatal(err)
		}
	}
	n := newTenant(t)
	n.create("workers", kube.Object{"crossplane": kube.Object{"compositionRef": kube.Object{"name": quick}}})
	n.awaitReady("workers", 3)
	// The last of what became ready is written a moment later.
	time.Sleep(5 * time.Second)

	r := record(n)
	before := n.versions("workers")
	began := time.Now()
	time.Sleep(window)
	after := n.versions("workers")
	if r.repeated(t, "workers") {
		t.Logf("Crossplane wrote old times of conditions of the pool back and forth, from a cache that lags behind; nothing else changed")
		delete(before, "pool")
		delete(after, "pool")
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("resource versions after %s: -want, +got:\n%s\n%s", window, diff, r.changes())
	}
	if events := n.eventsSince(began); len(events) > 0 {
		t.Errorf("events within %s: %q", window, events)
	}
}

// versions of a pool and its managed resources, which move with every write.
func (n *tenant) versions(pool string) map[string]string {
	n.Helper()
	out := map[string]string{"pool": simulator.Text(n.xr(pool), "metadata", "resourceVersion")}
	for name, mr := range n.mrs(pool) {
		out[name] = simulator.Text(mr, "metadata", "resourceVersion")
	}
	return out
}

// eventsSince a time, by when they happened: Crossplane writes them when it comes to it.
func (n *tenant) eventsSince(began time.Time) []string {
	n.Helper()
	list, err := s.client.List(n.ctx, kube.Events, n.namespace, "")
	n.must(err)
	var out []string
	for _, e := range list {
		if at, err := time.Parse(time.RFC3339, simulator.Text(e, "lastTimestamp")); err == nil && at.After(began) {
			out = append(out, simulator.Text(e, "reason")+": "+simulator.Text(e, "message"))
		}
	}
	return out
}

// TestMany holds that many pools become Ready and no circuit breaker opens, and says what they cost.
func TestMany(t *testing.T) {
	t.Parallel()
	many := 200
	if v := os.Getenv(manyEnv); v != "" {
		var err error
		if many, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	n := newTenant(t)
	began := time.Now()
	before := sample(t)
	n.createMany(many)
	ready := sample(t)
	t.Logf("%d pools were Ready after %s: %s", many, time.Since(began).Round(time.Second), ready.since(before))

	time.Sleep(manyWindow)
	after := sample(t)
	t.Logf("%d steady pools, the function asked every 10 seconds for each: %s", many, after.since(ready))

	if opened := after.opened - before.opened; opened > 0 {
		t.Errorf("%v circuit breakers opened", opened)
	}
	list, err := s.client.List(n.ctx, pools, n.namespace, "")
	n.must(err)
	for _, xr := range list {
		if c := simulator.ConditionOf(xr, "Responsive"); c.Status == "False" {
			t.Errorf("%s: %s: %s", describe(xr), c.Reason, c.Message)
		}
		if c := simulator.ConditionOf(xr, "Ready"); c.Status != "True" {
			t.Errorf("%s is not Ready any more: %s", describe(xr), state(xr))
		}
	}
}

// createMany pools, a few at a time, so that others have their share of the machine.
func (n *tenant) createMany(many int) {
	n.Helper()
	n.must(s.client.Apply(n.ctx, kube.Secrets, secret(n.namespace, "many", "first")))
	ctx, cancel := context.WithTimeout(n.ctx, manyPatience)
	defer cancel()
	queue := make(chan string)
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for name := range queue {
				if err := n.createOne(ctx, name); err != nil {
					n.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	for i := range many {
		queue <- fmt.Sprintf("pool-%03d", i)
	}
	close(queue)
	workers.Wait()
	if n.Failed() {
		n.FailNow()
	}
}

// createOne pool and wait until it is Ready with its members.
func (n *tenant) createOne(ctx context.Context, name string) error {
	_, err := s.client.Create(ctx, pools, kube.Object{
		"apiVersion": pools.GroupVersion().String(), "kind": pools.Kind,
		"metadata": kube.Object{"namespace": n.namespace, "name": name},
		"spec":     spec("many"),
	}, false)
	if err != nil {
		return err
	}
	return kube.Poll(ctx, time.Second, func() (bool, string) {
		xr, err := s.client.Get(ctx, pools, n.namespace, name)
		if err != nil {
			return false, err.Error()
		}
		return simulator.ConditionOf(xr, "Ready").Status == "True" && len(simulator.Texts(xr, "status", "providerIDList")) == 3, state(xr)
	})
}

// A cost is what was used at some time.
type cost struct {
	at time.Time
	// runs of the function, reconciles of pools, calls of AWS, and circuit breakers that opened.
	runs, reconciles, calls, opened float64
	function                        time.Duration
}

func sample(t *testing.T) cost {
	t.Helper()
	pod := s.node.Function()
	used, err := pod.CPU()
	if err != nil {
		t.Fatal(err)
	}
	return cost{
		at: time.Now(), function: used, calls: float64(s.aws.Calls()),
		runs:       scrape(t, "http://"+pod.Metrics+"/metrics", "grpc_server_handled_total", `grpc_method="RunFunction"`),
		reconciles: scrape(t, s.crossplane.MetricsURL, "controller_runtime_reconcile_total", `controller="composite/machinepools.aws.machinepool.fn.crossplane.io"`),
		opened:     scrape(t, s.crossplane.MetricsURL, "crossplane_circuit_breaker_opens_total", "machinepools.aws"),
	}
}

func (c cost) since(before cost) string {
	seconds := c.at.Sub(before.at).Seconds()
	runs := c.runs - before.runs
	cpu := c.function - before.function
	return fmt.Sprintf("%.1f reconciles/s and %.1f runs of the function/s, %.1f%% of a CPU for the function (%.1f ms a run), %.1f AWS calls/s",
		(c.reconciles-before.reconciles)/seconds, runs/seconds, 100*cpu.Seconds()/seconds, 1000*cpu.Seconds()/max(runs, 1), (c.calls-before.calls)/seconds)
}

// scrape the sum of a metric's series that have a label.
func scrape(t *testing.T, url, metric, label string) float64 {
	t.Helper()
	rsp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer rsp.Body.Close()
	sum := 0.0
	lines := bufio.NewScanner(rsp.Body)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, metric+"{") && strings.Contains(line, label) {
			v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
	}
	return sum
}
