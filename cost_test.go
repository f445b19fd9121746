package main

import (
	"context"
	"runtime"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// What any request may cost a run, whoever wrote what is in it: Crossplane has 100 workers, and all tenants share the
// function. The decoding of the request by gRPC comes on top, and is bounded by the size of a message.
const (
	maxRunTime  = 50 * time.Millisecond
	maxRunBytes = 16 << 20
)

// A cost of one run: the time of its thread on a processor, so that a busy machine does not count, and what it allocates.
type cost struct {
	took      time.Duration
	allocated uint64
}

// costOf runs the function once.
func costOf(tb testing.TB, f *Function, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, cost) {
	tb.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := threadTime()
	rsp, err := f.RunFunction(context.Background(), req)
	took := threadTime() - start
	runtime.ReadMemStats(&after)
	if err != nil {
		tb.Fatalf("RunFunction(...): %v", err)
	}
	return rsp, cost{took: took, allocated: after.TotalAlloc - before.TotalAlloc}
}

// affordable fails for a request that costs more than any may. The cheapest of several runs counts, as a run may pay for the
// collection of what others left, and shares the caches of its processor with what else the machine does.
func affordable(tb testing.TB, f *Function, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	tb.Helper()
	rsp, least := costOf(tb, f, req)
	for i := 0; i < 20 && (least.took > maxRunTime || least.allocated > maxRunBytes); i++ {
		_, again := costOf(tb, f, req)
		least.took, least.allocated = min(least.took, again.took), min(least.allocated, again.allocated)
	}
	if least.took > maxRunTime {
		tb.Errorf("a run takes %s of a processor, more than %s", least.took, maxRunTime)
	}
	if least.allocated > maxRunBytes {
		tb.Errorf("a run allocates %d bytes, more than %d", least.allocated, maxRunBytes)
	}
	return rsp
}
