//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/node"
)

const (
	// quietEnv says how long a steady pool is looked at, manyEnv how many pools there are beside it.
	quietEnv = "MACHINEPOOL_E2E_QUIET"
	manyEnv  = "MACHINEPOOL_E2E_POOLS"

	// manyWindow is a third of those pools' time to live.
	manyWindow   = 20 * time.Second
	manyPatience = 15 * time.Minute
	// inFlight is how many pools are being made at a time.
	inFlight = 16
)

// TestSteady holds that nothing is written about a pool to which nothing happens, although the function is asked every four
// seconds and others are busy.
//
// The pool is made before all others, as a pool that settles on a busy machine takes its time.
func TestSteady(t *testing.T) { //nolint:paralleltest // It is, from where it is steady on.
	window := 2 * time.Minute
	if v := os.Getenv(quietEnv); v != "" {
		var err error
		if window, err = time.ParseDuration(v); err != nil {
			t.Fatal(err)
		}
	}
	n := newTenant(t)
	r := record(n)
	n.create("workers", kube.Object{"crossplane": kube.Object{"compositionRef": kube.Object{"name": quick}}})
	n.awaitReady("workers", 3)
	r.judge(n.awaitSettled("workers"))
	before := n.versions("workers")
	t.Parallel()
	began := time.Now()
	time.Sleep(window)
	if diff := cmp.Diff(before, n.versions("workers")); diff != "" {
		t.Errorf("resource versions after %s: -want, +got:\n%s", window, diff)
	}
	r.stoodStill(t, "workers")
	if events := n.eventsSince(began); len(events) > 0 {
		t.Errorf("events within %s: %q", window, events)
	}
}

// awaitSettled waits until nothing has been written about a pool for two times to live of the quick Composition. The last
// of what became ready is written a moment later, and Crossplane sees it another moment later.
func (n *tenant) awaitSettled(pool string) kube.Object {
	n.Helper()
	var xr kube.Object
	var before map[string]string
	var since time.Time
	n.eventually(pool+" is as it was two runs ago", func() (bool, string) {
		xr = n.xr(pool)
		now := n.versions(pool)
		now["pool"] = simulator.Text(xr, "metadata", "resourceVersion")
		if !maps.Equal(before, now) {
			before, since = now, time.Now()
		}
		return time.Since(since) > 8*time.Second, fmt.Sprint(now)
	})
	return xr
}

// versions of a pool's managed resources, which move with every write.
func (n *tenant) versions(pool string) map[string]string {
	n.Helper()
	out := map[string]string{}
	for name, mr := range n.mrs(pool) {
		out[name] = simulator.Text(mr, "metadata", "resourceVersion")
	}
	return out
}

// eventsSince a time, by when they happened: Crossplane writes them when it comes to it.
func (n *tenant) eventsSince(began time.Time) []string {
	n.Helper()
	list, err := n.client.List(n.ctx, kube.Events, n.namespace, "")
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
	before := n.sample()
	n.createMany(many)
	ready := n.sample()
	t.Logf("%d pools were Ready after %s: %s", many, time.Since(began).Round(time.Second), ready.since(before))

	time.Sleep(manyWindow)
	after := n.sample()
	t.Logf("%d steady pools, the function asked every %d seconds for each: %s", many, usualStable, after.since(ready))

	// The counter is of all pools, those that other tests change without pause among them. Crossplane's log tells which.
	opened := n.opened()
	t.Logf("%v circuit breakers opened, of %v", after.opened-before.opened, opened)
	if of := opened[n.namespace]; len(of) > 0 {
		t.Errorf("circuit breakers of %v opened", of)
	}
	// The counter of those has no series before the first one opens. Its sibling's labels are the same.
	if after.events == before.events {
		t.Error("the circuit breakers saw no event, so that none could have opened")
	}
	for _, pod := range n.node.Function(functionName) {
		if n.runs(pod) == 0 {
			t.Errorf("no call went to the pod of the function at %s: calls do not alternate", pod.Address)
		}
	}
	list, err := n.client.List(n.ctx, pools, n.namespace, "")
	n.must(err)
	for _, xr := range list {
		if c := simulator.ConditionOf(xr, "Ready"); c.Status != "True" {
			t.Errorf("%s is not Ready any more: %s", describe(xr), state(xr))
		}
	}
}

// crossplaneLog is all that Crossplane has said so far.
func (n *tenant) crossplaneLog() string {
	n.Helper()
	log, err := os.ReadFile(filepath.Join(n.keeper.Dir, "crossplane.log"))
	n.must(err)
	return string(log)
}

// opened are the pools, by namespace, of which Crossplane says that it found the circuit breaker open.
func (n *tenant) opened() map[string][]string {
	n.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(n.crossplaneLog()) {
		m := openBreaker.FindStringSubmatch(line)
		if len(m) == 3 && !slices.Contains(out[m[2]], m[1]) {
			out[m[2]] = append(out[m[2]], m[1])
		}
	}
	return out
}

var openBreaker = regexp.MustCompile(`Circuit breaker is open.*"request": \{"name":"([^"]*)","namespace":"([^"]*)"\}`)

// createMany pools, a few at a time, so that others have their share of the machine.
func (n *tenant) createMany(many int) {
	n.Helper()
	n.must(n.client.Apply(n.ctx, kube.Secrets, secret(n.namespace, "many", "first")))
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
	_, err := n.client.Create(ctx, pools, kube.Object{
		"apiVersion": pools.GroupVersion().String(), "kind": pools.Kind,
		"metadata": kube.Object{"namespace": n.namespace, "name": name},
		"spec":     merge(spec("many"), kube.Object{"crossplane": kube.Object{"compositionRef": kube.Object{"name": usual}}}),
	}, false)
	if err != nil {
		return err
	}
	return kube.Poll(ctx, time.Second, func() (bool, string) {
		xr, err := n.client.Get(ctx, pools, n.namespace, name)
		if err != nil {
			return false, err.Error()
		}
		return simulator.ConditionOf(xr, "Ready").Status == "True" && len(simulator.Texts(xr, "status", "providerIDList")) == 3, state(xr)
	})
}

// A cost is what was used at some time.
type cost struct {
	at time.Time
	// runs of the function, reconciles of pools and the seconds they took, calls of AWS, circuit breakers that opened and
	// the events that they let through.
	runs, reconciles, seconds, calls, opened, events float64
	// CPU that was used.
	function, crossplane, apiServer time.Duration
}

// poolController is the label of Crossplane's metrics that are about pools.
const poolController = `controller="composite/machinepools.aws.machinepool.fn.crossplane.io"`

// runs that a pod of the function has served.
func (n *tenant) runs(pod *node.Pod) float64 {
	n.Helper()
	return n.scrape("http://"+pod.Metrics+"/metrics", "grpc_server_handled_total", `grpc_method="RunFunction"`)
}

func (n *tenant) sample() cost {
	n.Helper()
	out := cost{at: time.Now(), calls: float64(n.aws.Calls())}
	for _, pod := range n.node.Function(functionName) {
		used, err := pod.CPU()
		n.must(err)
		out.function += used
		out.runs += n.runs(pod)
	}
	for of, used := range map[*time.Duration]func() (time.Duration, error){
		&out.crossplane: n.crossplane.CPU, &out.apiServer: n.kubernetes.CPU,
	} {
		var err error
		*of, err = used()
		n.must(err)
	}
	for metric, of := range map[string]*float64{
		"controller_runtime_reconcile_total":            &out.reconciles,
		"controller_runtime_reconcile_time_seconds_sum": &out.seconds,
		"circuit_breaker_opens_total":                   &out.opened,
		"circuit_breaker_events_total":                  &out.events,
	} {
		*of = n.scrape(n.crossplane.MetricsURL, metric, poolController)
	}
	return out
}

func (c cost) since(before cost) string {
	seconds := c.at.Sub(before.at).Seconds()
	runs, reconciles := c.runs-before.runs, c.reconciles-before.reconciles
	share := func(now, then time.Duration) float64 { return 100 * (now - then).Seconds() / seconds }
	return fmt.Sprintf("%.1f reconciles/s of %.2f s each and %.1f runs of the function/s, %.1f AWS calls/s; CPU: function %.1f%% (%.1f ms a run), Crossplane %.0f%%, API server %.0f%%",
		reconciles/seconds, (c.seconds-before.seconds)/max(reconciles, 1), runs/seconds, (c.calls-before.calls)/seconds,
		share(c.function, before.function), 1000*(c.function-before.function).Seconds()/max(runs, 1),
		share(c.crossplane, before.crossplane), share(c.apiServer, before.apiServer))
}

// scrape the sum of a metric's series that have a label.
func (n *tenant) scrape(url, metric, label string) float64 {
	n.Helper()
	rsp, err := http.Get(url)
	n.must(err)
	defer rsp.Body.Close()
	sum := 0.0
	lines := bufio.NewScanner(rsp.Body)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, metric+"{") && strings.Contains(line, label) {
			v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			n.must(err)
			sum += v
		}
	}
	return sum
}
