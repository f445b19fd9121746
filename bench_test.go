package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// members of the pools that are measured: an empty one, a common one, a large one, and the largest whose members the
// status lists one by one.
var members = []int{0, 3, 100, 1000}

// steadyComposite is a common pool: 3 zones, everything that has a default defaulted.
const steadyComposite = `
apiVersion: aws.machinepool.fn.crossplane.io/v1alpha1
kind: MachinePool
metadata: {name: demo-pool-0, namespace: team-a}
spec:
  cluster:
    exports:
      schema: captf.io/aws-cluster/v1
      region: us-east-1
      kubernetes_cluster_id: demo-1960e37c
      failure_domains:
        us-east-1a: {subnet_id: subnet-0aaa0000000000001}
        us-east-1b: {subnet_id: subnet-0bbb0000000000001}
        us-east-1c: {subnet_id: subnet-0ccc0000000000001}
      security_group_ids: {worker: [sg-0e0000000000000e1]}
      instance_profiles: {worker: demo-worker}
      bootstrap_bucket: demo-bootstrap
  kubernetesVersion: v1.34.1
  bootstrap: {dataSecretRef: {name: demo-pool-0}}
  autoscaling: {minReplicas: 0, maxReplicas: 5000}
  nodeLabels: {team: a, tier: batch}
  additionalTags: {cost-center: "4711"}
`

// steadyRequest is what Crossplane sends for a pool that has nothing left to change, and what AWS says of it then.
func steadyRequest(tb testing.TB, n int) (*fnv1.RunFunctionRequest, AWSReader) {
	tb.Helper()
	req := &fnv1.RunFunctionRequest{
		Meta: &fnv1.RequestMeta{Tag: "steady"},
		Input: structOf(tb, `
apiVersion: machinepool.fn.crossplane.io/v1beta1
kind: Input
aws: {identity: Pod}
`),
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: structOf(tb, steadyComposite)}},
		RequiredResources: map[string]*fnv1.Resources{"bootstrap-data": {Items: []*fnv1.Resource{{Resource: structOf(tb, `
apiVersion: v1
kind: Secret
metadata: {name: demo-pool-0, namespace: team-a}
data: {value: I2Nsb3VkLWNvbmZpZwp7fQo=, format: Y2xvdWQtY29uZmln}
`)}}}},
	}
	reader := membersOf(n)
	return settled(tb, NewFunction(WithAWSReader(reader)), req), reader
}

// free says that AWS has no group of any name that a pool claims.
func free(q pool.Query) map[string]pool.Read[*pool.Claim] {
	claims := map[string]pool.Read[*pool.Claim]{}
	for _, name := range q.Claims {
		claims[name] = pool.Read[*pool.Claim]{Asked: true}
	}
	return claims
}

// membersOf is an AWS in which the pool has n members, all of them as they should be.
func membersOf(n int) AWSReader {
	group := &pool.Group{
		ARN:              "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:1:autoScalingGroupName/mp",
		DesiredCapacity:  int32(n),
		LaunchTemplateID: "lt-0aaa0000000000001",
	}
	instances := make([]pool.Instance, 0, n)
	for i := range n {
		id, zone := fmt.Sprintf("i-0%016x", i), "us-east-1"+string("abc"[i%3])
		group.Members = append(group.Members, pool.GroupMember{
			InstanceID: id, Zone: zone, LifecycleState: "InService",
			LaunchTemplateID: group.LaunchTemplateID,
		})
		instances = append(instances, pool.Instance{ID: id, Zone: zone, State: "running", InternalIPs: []string{fmt.Sprintf("10.0.%d.%d", i/250, i%250)}})
	}
	return AWSReaderFn(func(_ context.Context, q pool.Query) pool.Reading {
		named := *group
		named.Name = q.GroupName
		return pool.Reading{
			Group:     pool.Read[*pool.Group]{Asked: true, Value: &named},
			Instances: pool.Read[[]pool.Instance]{Asked: true, Value: instances},
			Image:     pool.Read[*pool.Image]{Asked: true, Value: &pool.Image{ID: "ami-0123456789abcdef0", Name: "capa-ami-ubuntu-24.04-v1.34.1-1"}},
			Refresh:   pool.Read[*pool.Refresh]{Asked: q.Refresh},
			Claims:    free(q),
		}
	})
}

// settled plays Crossplane and the provider until a run changes nothing, and returns the request of that run.
func settled(tb testing.TB, f *Function, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionRequest {
	tb.Helper()
	for range 10 {
		rsp, err := f.RunFunction(context.Background(), proto.CloneOf(req))
		if err != nil {
			tb.Fatal(err)
		}
		for _, r := range rsp.GetResults() {
			if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
				tb.Fatalf("the pool is refused: %s", r.GetMessage())
			}
		}
		next := observe(tb, req, rsp)
		if proto.Equal(req, next) {
			return req
		}
		req = next
	}
	tb.Fatal("the pool does not settle within 10 runs")
	return nil
}

// observe a response as Crossplane and the provider do: what is desired exists, and the status and the conditions are
// those of the composite.
func observe(tb testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) *fnv1.RunFunctionRequest {
	tb.Helper()
	next := proto.CloneOf(req)
	next.Observed.Resources = map[string]*fnv1.Resource{}
	for name, r := range rsp.GetDesired().GetResources() {
		next.Observed.Resources[name] = &fnv1.Resource{Resource: provided(tb, name, r.GetResource())}
	}
	status := proto.CloneOf(rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue())
	if status == nil {
		return next
	}
	var conditions []*structpb.Value
	for _, c := range rsp.GetConditions() {
		conditions = append(conditions, structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			"type":               structpb.NewStringValue(c.GetType()),
			"status":             structpb.NewStringValue(conditionStatus[c.GetStatus()]),
			"reason":             structpb.NewStringValue(c.GetReason()),
			"message":            structpb.NewStringValue(c.GetMessage()),
			"lastTransitionTime": structpb.NewStringValue("2026-11-29T12:00:00Z"),
		}}))
	}
	status.Fields["conditions"] = structpb.NewListValue(&structpb.ListValue{Values: conditions})
	next.Observed.Composite.Resource.Fields["status"] = structpb.NewStructValue(status)
	return next
}

var conditionStatus = map[fnv1.Status]string{
	fnv1.Status_STATUS_CONDITION_TRUE:    "True",
	fnv1.Status_STATUS_CONDITION_FALSE:   "False",
	fnv1.Status_STATUS_CONDITION_UNKNOWN: "Unknown",
}

// provided is a managed resource that the provider has made in AWS.
func provided(tb testing.TB, name string, desired *structpb.Struct) *structpb.Struct {
	tb.Helper()
	r := proto.CloneOf(desired)
	kind := r.GetFields()["kind"].GetStringValue()
	atProvider := map[string]any{
		"LaunchTemplate":   map[string]any{"id": "lt-0aaa0000000000001", "latestVersion": 1},
		"AutoscalingGroup": map[string]any{"arn": "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:1:autoScalingGroupName/mp", "desiredCapacity": 3, "launchTemplate": map[string]any{"id": "lt-0aaa0000000000001"}},
	}[kind]
	status, err := structpb.NewStruct(map[string]any{
		"atProvider": atProvider,
		"conditions": []any{
			map[string]any{"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": "2026-11-29T12:00:00Z"},
			map[string]any{"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "lastTransitionTime": "2026-11-29T12:00:00Z"},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	if r.GetFields()["metadata"].GetStructValue() == nil {
		r.Fields["metadata"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{}})
	}
	meta := r.GetFields()["metadata"].GetStructValue().GetFields()
	meta["name"] = structpb.NewStringValue("demo-pool-0-" + name)
	meta["namespace"] = structpb.NewStringValue("team-a")
	meta["uid"] = structpb.NewStringValue("5a3a39c1-0000-0000-0000-000000000000")
	meta["resourceVersion"] = structpb.NewStringValue("4711")
	r.Fields["status"] = structpb.NewStructValue(status)
	return r
}

func structOf(tb testing.TB, object string) *structpb.Struct {
	tb.Helper()
	j, err := yaml.YAMLToJSON([]byte(object))
	if err != nil {
		tb.Fatal(err)
	}
	s := &structpb.Struct{}
	if err := protojson.Unmarshal(j, s); err != nil {
		tb.Fatal(err)
	}
	return s
}

// BenchmarkRunFunction measures a run of a pool in its steady state, AWS's answers at hand.
func BenchmarkRunFunction(b *testing.B) {
	for _, n := range members {
		b.Run(fmt.Sprintf("members=%d", n), func(b *testing.B) {
			req, reader := steadyRequest(b, n)
			f := NewFunction(WithAWSReader(reader))
			rsp, err := f.RunFunction(context.Background(), req)
			if err != nil {
				b.Fatal(err)
			}
			if got := len(rsp.GetDesired().GetResources()); got != 4 {
				b.Fatalf("want the 4 resources of a pool, got %d", got)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.RunFunction(context.Background(), req); err != nil {
					b.Fatal(err)
				}
			}
			// After the loop, which resets metrics.
			b.ReportMetric(float64(proto.Size(req)), "request-B")
			b.ReportMetric(float64(proto.Size(rsp)), "response-B")
		})
	}
}

// An echo answers with the same response each time: what gRPC and its messages cost by themselves.
type echo struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	rsp *fnv1.RunFunctionResponse
}

func (e *echo) RunFunction(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	return e.rsp, nil
}

// serve on loopback, and return a client.
func serve(b *testing.B, s fnv1.FunctionRunnerServiceServer) fnv1.FunctionRunnerServiceClient {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer()
	fnv1.RegisterFunctionRunnerServiceServer(server, s)
	go server.Serve(listener)
	b.Cleanup(server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return fnv1.NewFunctionRunnerServiceClient(conn)
}

// loopback serves the function and an echo of its response.
func loopback(b *testing.B, n int) (req *fnv1.RunFunctionRequest, function, noop fnv1.FunctionRunnerServiceClient) {
	b.Helper()
	req, reader := steadyRequest(b, n)
	f := NewFunction(WithAWSReader(reader))
	rsp, err := f.RunFunction(context.Background(), proto.CloneOf(req))
	if err != nil {
		b.Fatal(err)
	}
	return req, serve(b, f), serve(b, &echo{rsp: rsp})
}

// BenchmarkLoopback measures a call over gRPC, each followed by one to a server that does nothing but answer with as
// large a response, so that both meet the same machine. An iteration is one call of each.
func BenchmarkLoopback(b *testing.B) {
	for _, n := range members {
		b.Run(fmt.Sprintf("members=%d", n), func(b *testing.B) {
			req, function, noop := loopback(b, n)
			call := func(c fnv1.FunctionRunnerServiceClient) time.Duration {
				start := time.Now()
				if _, err := c.RunFunction(context.Background(), req); err != nil {
					b.Fatal(err)
				}
				return time.Since(start)
			}
			for range 50 { // Connections and buffers grow with the first calls.
				call(function)
				call(noop)
			}
			var ours, theirs []time.Duration
			for b.Loop() {
				ours = append(ours, call(function))
				theirs = append(theirs, call(noop))
			}
			b.ReportMetric(float64(median(ours)), "median-ns")
			b.ReportMetric(float64(median(theirs)), "noop-median-ns")
			b.ReportMetric(float64(median(ours))/float64(median(theirs)), "ratio")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// callers is how many pools Crossplane reconciles at once in the benchmark of throughput.
const callers = 8

// BenchmarkCallers measures throughput with callers at once, of the function and of the echo. An iteration is a call of
// each by each caller.
func BenchmarkCallers(b *testing.B) {
	req, function, noop := loopback(b, 3)
	all := func(c fnv1.FunctionRunnerServiceClient) time.Duration {
		var wg sync.WaitGroup
		start := time.Now()
		for range callers {
			wg.Go(func() {
				for range 10 {
					if _, err := c.RunFunction(context.Background(), req); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		return time.Since(start)
	}
	took := map[string]time.Duration{}
	clients := map[string]fnv1.FunctionRunnerServiceClient{"calls/s": function, "noop-calls/s": noop}
	for _, c := range clients {
		all(c)
	}
	rounds := 0
	for b.Loop() {
		for _, name := range slices.Sorted(maps.Keys(clients)) {
			took[name] += all(clients[name])
		}
		rounds++
	}
	for name, d := range took {
		b.ReportMetric(float64(rounds*callers*10)/d.Seconds(), name)
	}
	b.ReportMetric(took["calls/s"].Seconds()/took["noop-calls/s"].Seconds(), "ratio")
}
