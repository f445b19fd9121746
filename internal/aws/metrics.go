package aws

import (
	"context"
	"time"

	"github.com/aws/smithy-go/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/aws/batch"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// resultOK is the result of a call that succeeded. That of another is its pool.ReadReason.
const resultOK = "OK"

// metrics of the reads. No label names a pool, a region or an identity: a fleet would make thousands of series.
type metrics struct {
	calls      *prometheus.CounterVec
	requests   *prometheus.CounterVec
	spares     *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	lookups    *prometheus.CounterVec
	keys       *prometheus.HistogramVec
	prefetched *prometheus.HistogramVec
	age        *prometheus.HistogramVec
	views      prometheus.Gauge
}

// newMetrics registers the metrics, unless r is nil.
func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	m := &metrics{
		calls: f.NewCounterVec(prometheus.CounterOpts{
			Name: "machinepool_aws_calls_total",
			Help: "Calls to AWS by operation and result: OK, or why it failed. The SDK's retries of a call are in machinepool_aws_requests_total.",
		}, []string{"operation", "result"}),
		requests: f.NewCounterVec(prometheus.CounterOpts{
			Name: "machinepool_aws_requests_total",
			Help: "Requests to AWS by operation: calls and the SDK's retries of them.",
		}, []string{"operation"}),
		spares: f.NewCounterVec(prometheus.CounterOpts{
			Name: "machinepool_aws_calls_spared_total",
			Help: "Calls that were not made, by operation and why: the refusal a moment before that answered them, or Throttled where too many of one tenant waited.",
		}, []string{"operation", "result"}),
		seconds: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "machinepool_aws_call_seconds",
			Help:    "How long calls to AWS took, retries included.",
			Buckets: []float64{.025, .05, .1, .2, .4, .8, 1.6, 3.2, 5},
		}, []string{"operation"}),
		lookups: f.NewCounterVec(prometheus.CounterOpts{
			Name: "machinepool_aws_lookups_total",
			Help: "What runs wanted to know, and whether it came from the cache, from a read that another run had begun (shared), or had to be read (call).",
		}, []string{"read", "source"}),
		keys: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "machinepool_aws_batch_keys",
			Help:    "How many pools, images or refreshes were wanted together in a batch.",
			Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200},
		}, []string{"read"}),
		prefetched: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "machinepool_aws_batch_prefetched_keys",
			Help:    "How many more were read ahead with a batch, at no further call.",
			Buckets: []float64{0, 1, 2, 5, 10, 20, 50, 100},
		}, []string{"read"}),
		age: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "machinepool_aws_read_age_seconds",
			Help:    "How old answers were when a run got them.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 60},
		}, []string{"read"}),
		views: f.NewGauge(prometheus.GaugeOpts{
			Name: "machinepool_aws_views",
			Help: "Pairs of identity and region whose clients are held.",
		}),
	}
	// From the start, so that the first refusal is an increase.
	m.spares.WithLabelValues(opGroups, string(pool.ReadThrottled))
	return m
}

func (m *metrics) called(op, result string, took time.Duration) {
	m.calls.WithLabelValues(op, result).Inc()
	m.seconds.WithLabelValues(op).Observe(took.Seconds())
}

// countRequests makes a client count its requests, each attempt for itself.
func (m *metrics) countRequests(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("MachinePoolCountRequests",
		func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
			if op := operation(ctx, stack); op != "" {
				m.requests.WithLabelValues(op).Inc()
			}
			return next.HandleDeserialize(ctx, in)
		}), middleware.Before)
}

func (m *metrics) spared(op, result string) {
	m.spares.WithLabelValues(op, result).Inc()
}

// observer of the loader of one kind of read.
func (m *metrics) observer(read string) batch.Observer {
	return &observer{metrics: m, read: read}
}

type observer struct {
	metrics *metrics
	read    string
}

func (o *observer) Wanted(from batch.Source) {
	o.metrics.lookups.WithLabelValues(o.read, string(from)).Inc()
}

func (o *observer) Started(keys, prefetched int) {
	o.metrics.keys.WithLabelValues(o.read).Observe(float64(keys))
	o.metrics.prefetched.WithLabelValues(o.read).Observe(float64(prefetched))
}

func (o *observer) Answered(age time.Duration) {
	o.metrics.age.WithLabelValues(o.read).Observe(age.Seconds())
}
