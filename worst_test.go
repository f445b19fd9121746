package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/bootstrap"
)

// worstMembers is how many members the largest pool has whose status the XRD accepts.
const worstMembers = 5_000

// A worstRequest is one that costs as much as its kind can.
type worstRequest struct {
	reason string
	make   func(tb testing.TB) (*fnv1.RunFunctionRequest, AWSReader)
	// accepted says that the XRD accepts the pool, and so must the function.
	accepted bool
}

var worstRequests = map[string]worstRequest{
	"Accepted": {
		reason:   "The largest pool that the XRD accepts, all of whose fields are as large as they may be, in the middle of a roll.",
		make:     worstPool,
		accepted: true,
	},
	"SecurityGroups": {
		reason: "60,000 security groups of a cluster stand inline; an XR has room for twice as many.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			inlineExports(req)["security_group_ids"] = valueOf(map[string]any{"worker": listOf(60_000, func(i int) any { return fmt.Sprintf("sg-%08x", i) })})
		}),
	},
	"Zones": {
		reason: "25,000 zones of a cluster stand inline.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			inlineExports(req)["failure_domains"] = valueOf(mapOf(25_000, func(i int) (string, any) {
				return fmt.Sprintf("us-east-%da", i), map[string]any{"subnet_id": fmt.Sprintf("subnet-%08x", i)}
			}))
		}),
	},
	"ChosenZones": {
		reason: "A pool chooses 60,000 zones.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			specOf(req)["failureDomains"] = valueOf(listOf(60_000, func(i int) any { return fmt.Sprintf("us-east-%da", i) }))
		}),
	},
	"FewerChosenZones": {
		reason: "A pool chooses as many zones as are decoded at all.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			specOf(req)["failureDomains"] = valueOf(listOf(4_900, func(i int) any { return fmt.Sprintf("us-east-%da", i) }))
		}),
	},
	"Tags": {
		reason: "A pool has as many tags as are decoded at all, all of them wrong.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			specOf(req)["additionalTags"] = valueOf(mapOf(4_900, func(i int) (string, any) { return fmt.Sprintf("aws:\t%d", i), "\t" }))
		}),
	},
	"NodeLabels": {
		reason: "A pool has as many node labels as are decoded at all, all of them wrong.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			specOf(req)["nodeLabels"] = valueOf(mapOf(4_900, func(i int) (string, any) { return fmt.Sprintf("-%d", i), "-" }))
		}),
	},
	"UnknownFields": {
		reason: "Inline exports hold 400,000 empty objects in a field that no pool reads.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			inlineExports(req)["vpc"] = valueOf(listOf(400_000, func(int) any { return map[string]any{} }))
		}),
	},
	"UnknownFieldsOfAnObject": {
		reason: "So does an object that publishes exports.",
		make: publishing(func(exports map[string]*structpb.Value) {
			exports["vpc"] = valueOf(listOf(400_000, func(int) any { return map[string]any{} }))
		}),
	},
	"SecurityGroupsOfAnObject": {
		reason: "An object publishes 100,000 security groups.",
		make: publishing(func(exports map[string]*structpb.Value) {
			exports["security_group_ids"] = valueOf(map[string]any{"worker": listOf(100_000, func(i int) any { return fmt.Sprintf("sg-%08x", i) })})
		}),
	},
	"ZonesOfAnObject": {
		reason: "An object publishes 50,000 zones.",
		make: publishing(func(exports map[string]*structpb.Value) {
			exports["failure_domains"] = valueOf(mapOf(50_000, func(i int) (string, any) {
				return fmt.Sprintf("us-east-%da", i), map[string]any{"subnet_id": fmt.Sprintf("subnet-%08x", i)}
			}))
		}),
	},
	"Status": {
		reason: "Someone wrote 400,000 values into the status.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			statusFields(req)["instances"] = valueOf(listOf(400_000, func(int) any { return map[string]any{} }))
		}),
	},
	"RetiredAttempts": {
		reason: "Someone wrote 100,000 attempts into the status.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			statusFields(req)["rollout"] = valueOf(map[string]any{"retiredAttempts": listOf(100_000, func(i int) any { return fmt.Sprintf("%08x-%d", i, i) })})
		}),
	},
	"Record": {
		reason: "Someone wrote 100,000 zones into the status' record.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			statusFields(req)["inheritedFailureDomains"] = valueOf(listOf(100_000, func(i int) any { return fmt.Sprintf("us-east-%da", i) }))
		}),
	},
	"Input": {
		reason: "An Input holds 400,000 values.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			req.Input.Fields["tags"] = valueOf(mapOf(400_000, func(i int) (string, any) { return fmt.Sprintf("k%d", i), "" }))
		}),
	},
	"LongText": {
		reason: "Every text of a spec is as long as an XR has room for, in all.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			long := structpb.NewStringValue(strings.Repeat("x", 300_000))
			specOf(req)["instanceType"], specOf(req)["kubernetesVersion"], specOf(req)["sshKeyName"] = long, long, long
			inlineExports(req)["schema"] = long
		}),
	},
	"Secret": {
		reason: "A Secret holds as much as one can.",
		make: hostile(func(req *fnv1.RunFunctionRequest) {
			setData(req, "value", []byte("#cloud-config\n"+strings.Repeat("#", 1<<20)))
		}),
	},
}

// BenchmarkWorstInput holds the cost of a run, whatever it is asked: under 50 ms of a processor, and under 16 MB.
func BenchmarkWorstInput(b *testing.B) {
	for name, worst := range worstRequests {
		b.Run(name, func(b *testing.B) {
			req, reader := worst.make(b)
			f := NewFunction(WithAWSReader(reader))
			affordable(b, f, req)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.RunFunction(context.Background(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestWorstInput holds that the largest pool is accepted, and that what is larger is refused by its size or counts for nothing.
func TestWorstInput(t *testing.T) {
	for name, worst := range worstRequests {
		t.Run(name, func(t *testing.T) {
			req, reader := worst.make(t)
			rsp, err := NewFunction(WithAWSReader(reader)).RunFunction(context.Background(), proto.CloneOf(req))
			if err != nil {
				t.Fatal(err)
			}
			if worst.accepted && isFatal(rsp) {
				t.Errorf("\n%s\nthe pool is refused: %.500s", worst.reason, strings.Join(said(rsp), "; "))
			}
			for _, text := range said(rsp) {
				if len(text) > 4096 {
					t.Errorf("\n%s\na text has %d bytes: %.100s...", worst.reason, len(text), text)
				}
			}
		})
	}
}

// hostile changes the request of a new pool.
func hostile(change func(*fnv1.RunFunctionRequest)) func(testing.TB) (*fnv1.RunFunctionRequest, AWSReader) {
	return func(tb testing.TB) (*fnv1.RunFunctionRequest, AWSReader) {
		tb.Helper()
		req := attack(tb, "", "{}", readsAWS)
		change(req)
		return req, membersOf(3)
	}
}

// publishing changes the exports that an object publishes for a new pool.
func publishing(change func(map[string]*structpb.Value)) func(testing.TB) (*fnv1.RunFunctionRequest, AWSReader) {
	return hostile(func(req *fnv1.RunFunctionRequest) {
		exports := inlineExports(req)
		specOf(req)["cluster"] = valueOf(map[string]any{"exportsFrom": map[string]any{"apiVersion": "example.org/v1", "kind": "Cluster", "name": "demo"}})
		object := valueOf(map[string]any{
			"apiVersion": "example.org/v1", "kind": "Cluster",
			"metadata": map[string]any{"name": "demo", "namespace": "team-a"},
			"status":   map[string]any{},
		}).GetStructValue()
		object.GetFields()["status"].GetStructValue().Fields = map[string]*structpb.Value{"exports": structpb.NewStructValue(&structpb.Struct{Fields: exports})}
		req.GetRequiredResources()["cluster-exports"] = &fnv1.Resources{Items: []*fnv1.Resource{{Resource: object}}}
		change(exports)
	})
}

func specOf(req *fnv1.RunFunctionRequest) map[string]*structpb.Value {
	return req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue().GetFields()
}

func inlineExports(req *fnv1.RunFunctionRequest) map[string]*structpb.Value {
	return specOf(req)["cluster"].GetStructValue().GetFields()["exports"].GetStructValue().GetFields()
}

// statusFields of a composite that has a status.
func statusFields(req *fnv1.RunFunctionRequest) map[string]*structpb.Value {
	status := req.GetObserved().GetComposite().GetResource().GetFields()["status"].GetStructValue()
	if status.Fields == nil {
		status.Fields = map[string]*structpb.Value{}
	}
	return status.GetFields()
}

func valueOf(v any) *structpb.Value {
	out, err := structpb.NewValue(v)
	if err != nil {
		panic(err) // A test made what is no JSON.
	}
	return out
}

func listOf(n int, item func(int) any) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = item(i)
	}
	return out
}

func mapOf(n int, entry func(int) (string, any)) map[string]any {
	out := make(map[string]any, n)
	for i := range n {
		k, v := entry(i)
		out[k] = v
	}
	return out
}

// worstPool is one at rest with all members that a status has room for, and with every field as large as the XRD lets it
// be; its version changes with this run.
func worstPool(tb testing.TB) (*fnv1.RunFunctionRequest, AWSReader) {
	tb.Helper()
	const longest = 255
	reader := membersOf(worstMembers)
	req := attack(tb, "", "{}", readsAWS)
	spec := specOf(req)
	spec["autoscaling"] = valueOf(map[string]any{"minReplicas": 0, "maxReplicas": worstMembers})
	spec["additionalTags"] = valueOf(mapOf(40, func(i int) (string, any) { return fmt.Sprintf("%0128d", i), strings.Repeat("v", 256) }))
	// User data has no room for more labels of this length.
	spec["nodeLabels"] = valueOf(mapOf(30, func(i int) (string, any) { return fmt.Sprintf("example.com/l%058d", i), strings.Repeat("v", 63) }))
	spec["additionalSecurityGroupIDs"] = valueOf(listOf(15, func(i int) any { return fmt.Sprintf("sg-%017x", i) }))
	spec["lifecycleHooks"] = valueOf(listOf(50, func(i int) any {
		return map[string]any{
			"name": fmt.Sprintf("%0250d", i), "transition": "Terminating",
			"notificationTargetARN": "arn:aws:sns:us-east-1:123456789012:" + strings.Repeat("t", longest-35),
			"roleARN":               "arn:aws:iam::123456789012:role/" + strings.Repeat("r", longest-31),
		}
	}))
	zones := mapOf(64, func(i int) (string, any) {
		return fmt.Sprintf("us-east-%d%c", 1+i/26, 'a'+i%26), map[string]any{"subnet_id": fmt.Sprintf("subnet-%017x", i)}
	})
	zones["us-east-1a"] = map[string]any{"subnet_id": "subnet-0aaa0000000000001"}
	inlineExports(req)["failure_domains"] = valueOf(zones)
	const head = "#cloud-config\n"
	setData(req, "value", []byte(head+strings.Repeat("#", bootstrap.MaxPayloadBytes-len(head))))

	req = settled(tb, NewFunction(WithAWSReader(reader)), req)
	if got := len(statusFields(req)["providerIDList"].GetListValue().GetValues()); got != worstMembers {
		tb.Fatalf("the status lists %d members, want %d", got, worstMembers)
	}
	if got := len(statusFields(req)["instances"].GetListValue().GetValues()); got != v1alpha1.MaxInstances {
		tb.Fatalf("the status shows %d instances, want %d", got, v1alpha1.MaxInstances)
	}
	specOf(req)["kubernetesVersion"] = structpb.NewStringValue("v1.34.2")
	return req, reader
}

// maxSecretBytes is how much a Secret can hold in all.
// https://kubernetes.io/docs/concepts/configuration/secret/#restriction-data-size
const maxSecretBytes = 1 << 20

// TestTheLargestSecretIsTold holds that a Secret as large as there is one neither fails a run nor makes a message that is larger
// than main.go lets gRPC receive. It stands beside the largest pool with as much staged as there can be. What is staged stays.
func TestTheLargestSecretIsTold(t *testing.T) {
	const head = "#cloud-config\n"
	req, reader := worstPool(t)
	object := req.GetObserved().GetResources()["bootstrap-object"].GetResource()
	object.Fields["status"].GetStructValue().Fields["atProvider"] = structpb.NewStructValue(proto.CloneOf(object.GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue()))
	for name, tc := range map[string]struct {
		change func(*fnv1.RunFunctionRequest)
		want   string
	}{
		"Value": {
			change: func(req *fnv1.RunFunctionRequest) {
				setData(req, "value", []byte(head+strings.Repeat("#", maxSecretBytes-len(head))))
			},
			want: "is larger than 524288 bytes (512 KiB)",
		},
		"OtherKeys": {
			change: func(req *fnv1.RunFunctionRequest) {
				setData(req, "value", []byte(head+strings.Repeat("#", bootstrap.MaxPayloadBytes-len(head))))
				setData(req, "other", []byte(strings.Repeat("#", maxSecretBytes-bootstrap.MaxPayloadBytes)))
			},
			want: "the bootstrap data is staged in S3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := proto.CloneOf(req)
			tc.change(req)
			rsp, err := NewFunction(WithAWSReader(reader)).RunFunction(context.Background(), proto.CloneOf(req))
			if err != nil || isFatal(rsp) {
				t.Fatalf("RunFunction(...): %v, %.500s", err, strings.Join(said(rsp), "; "))
			}
			for _, m := range []proto.Message{req, rsp} {
				if got, limit := proto.Size(m), 4<<20; got > limit {
					t.Errorf("%T: want at most %d bytes, got %d", m, limit, got)
				}
			}
			if text := strings.Join(said(rsp), "; "); !strings.Contains(text, tc.want) {
				t.Errorf("RunFunction(...): want %q said, got %.2000s", tc.want, text)
			}
			if rsp.GetDesired().GetResources()["bootstrap-object"] == nil {
				t.Error("RunFunction(...): what is staged is lost")
			}
		})
	}
}
