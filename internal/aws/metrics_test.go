package aws

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestMetricsAndLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry, log := prometheus.NewPedanticRegistry(), &recorder{}
		f := demoAWS()
		f.takes = 300 * time.Millisecond
		f.fail = failing(opInstances, nil)
		r := newFakeReader(t, f, WithRegisterer(registry), WithLogger(log))
		q := query("demo")
		q.MaxAge = 10 * time.Second

		var wg sync.WaitGroup
		wg.Go(func() { r.Read(context.Background(), q) })
		wg.Go(func() { r.Read(context.Background(), q) })
		wg.Go(func() { r.Read(context.Background(), query("other")) })
		wg.Wait()
		r.Read(context.Background(), q)
		f.fail = failing(opInstances, apiError("UnauthorizedOperation", "no"))
		r.Read(context.Background(), query("other"))

		want := `
# HELP machinepool_aws_calls_total Calls to AWS by operation and result: OK, or why it failed. The SDK's retries of a call are in machinepool_aws_requests_total.
# TYPE machinepool_aws_calls_total counter
machinepool_aws_calls_total{operation="autoscaling:DescribeAutoScalingGroups",result="OK"} 2
machinepool_aws_calls_total{operation="ec2:DescribeInstances",result="AccessDenied"} 1
machinepool_aws_calls_total{operation="ec2:DescribeInstances",result="OK"} 1
# HELP machinepool_aws_lookups_total What runs wanted to know, and whether it came from the cache, from a read that another run had begun (shared), or had to be read (call).
# TYPE machinepool_aws_lookups_total counter
machinepool_aws_lookups_total{read="membership",source="cache"} 1
machinepool_aws_lookups_total{read="membership",source="call"} 3
machinepool_aws_lookups_total{read="membership",source="shared"} 1
# HELP machinepool_aws_views Pairs of identity and region whose clients are held.
# TYPE machinepool_aws_views gauge
machinepool_aws_views 1
# HELP machinepool_aws_batch_keys How many pools, images or refreshes were wanted together in a batch.
# TYPE machinepool_aws_batch_keys histogram
machinepool_aws_batch_keys_bucket{read="membership",le="1"} 1
machinepool_aws_batch_keys_bucket{read="membership",le="2"} 2
machinepool_aws_batch_keys_bucket{read="membership",le="5"} 2
machinepool_aws_batch_keys_bucket{read="membership",le="10"} 2
machinepool_aws_batch_keys_bucket{read="membership",le="20"} 2
machinepool_aws_batch_keys_bucket{read="membership",le="50"} 2
machinepool_aws_batch_keys_bucket{read="membership",le="100"} 2
machinepool_aws_batch_keys_bucket{read="membership",le="200"} 2
machinepool_aws_batch_keys_bucket{read="membership",le="+Inf"} 2
machinepool_aws_batch_keys_sum{read="membership"} 3
machinepool_aws_batch_keys_count{read="membership"} 2
`
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "machinepool_aws_calls_total", "machinepool_aws_lookups_total", "machinepool_aws_views", "machinepool_aws_batch_keys"); err != nil {
			t.Error(err)
		}
		lines := `debug Called AWS [operation autoscaling:DescribeAutoScalingGroups region us-east-1 keys 2 result OK milliseconds 300]
debug Called AWS [operation ec2:DescribeInstances region us-east-1 keys 2 result OK milliseconds 300]
debug Called AWS [operation autoscaling:DescribeAutoScalingGroups region us-east-1 keys 1 result OK milliseconds 300]
debug Called AWS [operation ec2:DescribeInstances region us-east-1 keys 1 result AccessDenied milliseconds 300]`
		if diff := cmp.Diff(lines, log.all()); diff != "" {
			t.Errorf("logs: -want, +got:\n%s", diff)
		}
	})
}
