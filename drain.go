package main

import (
	"context"
	"sync"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// How long a function that is told to stop goes on. Kubernetes kills a pod 30 seconds after that, unless the pod says otherwise:
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination.
const (
	// leaveTime is how long every run is still served: Kubernetes takes the pod out of its Service at the same time, and Crossplane
	// learns of that later.
	leaveTime = 5 * time.Second
	// quietTime is how long no run may be on its way before the process ends. The response of a run is sent after it has ended.
	quietTime = 200 * time.Millisecond
	// drainTime is how long runs are waited for at most.
	drainTime = 20 * time.Second
)

// A drain serves a Function, and knows when no run of it is on its way. The server of function-sdk-go, which serves it in turn,
// cannot be stopped other than with its process.
type drain struct {
	fnv1.FunctionRunnerServiceServer

	mu      sync.Mutex
	running int
	// quiet is since when no run is on its way, while none is.
	quiet time.Time
}

func newDrain(f fnv1.FunctionRunnerServiceServer) *drain {
	return &drain{FunctionRunnerServiceServer: f, quiet: time.Now()}
}

// RunFunction counts the run while it is on its way.
func (d *drain) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	d.count(1)
	defer d.count(-1)
	return d.FunctionRunnerServiceServer.RunFunction(ctx, req)
}

func (d *drain) count(runs int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running += runs
	if d.running == 0 {
		d.quiet = time.Now()
	}
}

// wait until the process may end: the leave time is over, and no run is on its way, or the drain time is over too.
func (d *drain) wait() {
	began := time.Now()
	time.Sleep(leaveTime)
	for time.Since(began) < drainTime && !d.isQuiet() {
		time.Sleep(quietTime / 4)
	}
}

func (d *drain) isQuiet() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running == 0 && time.Since(d.quiet) >= quietTime
}
