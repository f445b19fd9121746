package report

import (
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/managed"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// message parses a message that is written as a person would.
func message[M proto.Message](t *testing.T, s string, into M) M {
	t.Helper()
	j, err := yaml.YAMLToJSONStrict([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(j, into); err != nil {
		t.Fatal(err)
	}
	return into
}

func TestRequirements(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   v1alpha1.MachinePoolSpec
		// exports and bootstrap say how far the objects have come.
		exports, bootstrap pool.Source
		allowed            v1beta1.ExportsSources
		want               string
	}{
		"Both": {
			reason: "Both objects are asked for by name, where they are.",
			args: v1alpha1.MachinePoolSpec{
				Bootstrap: v1alpha1.Bootstrap{DataSecretRef: v1alpha1.SecretKeyReference{Name: "s", Namespace: "team-a"}},
				Cluster:   v1alpha1.ClusterSource{ExportsFrom: &v1alpha1.ExportsReference{APIVersion: "example.org/v1", Kind: "Cluster", Name: "c", Namespace: "team-b"}},
			},
			want: `{resources: {
				bootstrap-data: {apiVersion: v1, kind: Secret, matchName: s, namespace: team-a},
				cluster-exports: {apiVersion: example.org/v1, kind: Cluster, matchName: c, namespace: team-b}}}`,
		},
		"InlineExports": {
			reason: "Inline exports need no object.",
			args: v1alpha1.MachinePoolSpec{
				Bootstrap: v1alpha1.Bootstrap{DataSecretRef: v1alpha1.SecretKeyReference{Name: "s", Namespace: "team-a"}},
				Cluster:   v1alpha1.ClusterSource{Exports: &v1alpha1.Exports{}},
			},
			want: `{resources: {bootstrap-data: {apiVersion: v1, kind: Secret, matchName: s, namespace: team-a}}}`,
		},
		"ClusterScopedExports": {
			reason: "A cluster-scoped object is asked for without a namespace, whatever the pool's is.",
			args: v1alpha1.MachinePoolSpec{
				Cluster: v1alpha1.ClusterSource{ExportsFrom: &v1alpha1.ExportsReference{APIVersion: "example.org/v1", Kind: "Cluster", Name: "c", Namespace: "team-a"}},
			},
			allowed: v1beta1.ExportsSources{ClusterKinds: []v1beta1.Kind{{APIVersion: "example.org/v1", Kind: "Cluster"}}},
			want:    `{resources: {cluster-exports: {apiVersion: example.org/v1, kind: Cluster, matchName: c}}}`,
		},
		"RefusedExports": {
			reason: "An object that the pool may not name is not asked for.",
			args: v1alpha1.MachinePoolSpec{
				Bootstrap: v1alpha1.Bootstrap{DataSecretRef: v1alpha1.SecretKeyReference{Name: "s", Namespace: "team-a"}},
				Cluster:   v1alpha1.ClusterSource{ExportsFrom: &v1alpha1.ExportsReference{APIVersion: "v1", Kind: "ConfigMap", Name: "c", Namespace: "team-b"}},
			},
			exports: pool.SourceRefused,
			want:    `{resources: {bootstrap-data: {apiVersion: v1, kind: Secret, matchName: s, namespace: team-a}}}`,
		},
		"RefusedSecret": {
			reason: "A Secret that the pool may not name is not asked for.",
			args: v1alpha1.MachinePoolSpec{
				Bootstrap: v1alpha1.Bootstrap{DataSecretRef: v1alpha1.SecretKeyReference{Name: "s", Namespace: "team-b"}},
			},
			bootstrap: pool.SourceRefused,
			want:      `{}`,
		},
		"NoNames": {
			reason: "An object without a name cannot be asked for.",
			args:   v1alpha1.MachinePoolSpec{Cluster: v1alpha1.ClusterSource{ExportsFrom: &v1alpha1.ExportsReference{}}},
			want:   `{}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := &fnv1.RunFunctionResponse{}
			Requirements(rsp, &pool.Observation{
				Composite: &v1alpha1.MachinePool{Spec: tc.args},
				Input:     &v1beta1.Input{ExportsFrom: tc.allowed},
				Exports:   pool.Exports{Source: tc.exports},
				Bootstrap: pool.BootstrapData{Source: tc.bootstrap},
			})
			if diff := cmp.Diff(message(t, tc.want, &fnv1.Requirements{}), rsp.GetRequirements(), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nRequirements(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func anObservation() *pool.Observation {
	return &pool.Observation{Input: &v1beta1.Input{Refresh: v1beta1.Refresh{StableSeconds: 61, ChangingSeconds: 16}}}
}

func TestPool(t *testing.T) {
	cases := map[string]struct {
		reason    string
		desired   string
		decision  decision.Decision
		manifests []managed.Manifest
		want      string
	}{
		"First": {
			reason:   "The first step of a pipeline desires what it renders. A status is written as far as it is known.",
			desired:  `{}`,
			decision: decision.Decision{Changing: true, Status: v1alpha1.MachinePoolStatus{Replicas: new(int32(0)), ProviderIDList: []string{"a", "b"}}},
			manifests: []managed.Manifest{
				{Resource: "ready", Object: map[string]any{"kind": "A", "spec": map[string]any{"zero": float64(0), "no": false, "l": []any{"x"}}}, Ready: true},
				{Resource: "not-ready", Object: map[string]any{"kind": "B"}},
			},
			want: `
meta: {ttl: 16s}
desired:
  composite: {resource: {status: {replicas: 0, providerIDList: [a, b]}}, ready: READY_FALSE}
  resources:
    ready: {resource: {kind: A, spec: {zero: 0, "no": false, l: [x]}}, ready: READY_TRUE}
    not-ready: {resource: {kind: B}, ready: READY_FALSE}
`,
		},
		"Later": {
			reason: "What earlier steps desire stays: their resources, the composite's connection details, and every field of its status that is not ours.",
			desired: `
composite:
  resource: {apiVersion: v1, metadata: {labels: {theirs: kept}}, status: {theirs: {deep: kept}, replicas: 9}}
  connectionDetails: {k: dg==}
resources:
  theirs: {resource: {kind: T}, ready: READY_TRUE, connectionDetails: {k: dg==}}
  ours: {resource: {kind: Old, spec: {gone: true}}, ready: READY_FALSE}
`,
			decision:  decision.Decision{Ready: true, Status: v1alpha1.MachinePoolStatus{Replicas: new(int32(3))}},
			manifests: []managed.Manifest{{Resource: "ours", Object: map[string]any{"kind": "New"}, Ready: true}},
			want: `
meta: {ttl: 61s}
desired:
  composite:
    resource: {apiVersion: v1, metadata: {labels: {theirs: kept}}, status: {theirs: {deep: kept}, replicas: 3}}
    connectionDetails: {k: dg==}
  resources:
    theirs: {resource: {kind: T}, ready: READY_TRUE, connectionDetails: {k: dg==}}
    ours: {resource: {kind: New}, ready: READY_TRUE}
`,
		},
		"StatusOfAnotherShape": {
			reason:   "A status of another shape, from an earlier step, gives way.",
			desired:  `{composite: {resource: {status: strange}}}`,
			decision: decision.Decision{Status: v1alpha1.MachinePoolStatus{ImageID: "ami-1"}},
			want: `
meta: {ttl: 61s}
desired: {composite: {resource: {status: {imageID: ami-1}}, ready: READY_FALSE}}
`,
		},
		"EarlierStepNotReady": {
			reason:   "What an earlier step says of the composite's readiness stays, and no resource of another step is made ready.",
			desired:  `{composite: {ready: READY_FALSE}, resources: {theirs: {resource: {kind: T}, ready: READY_FALSE}}}`,
			decision: decision.Decision{Ready: true},
			want: `
meta: {ttl: 61s}
desired:
  composite: {resource: {status: {}}, ready: READY_FALSE}
  resources: {theirs: {resource: {kind: T}, ready: READY_FALSE}}
`,
		},
		"NotReady": {
			reason:   "A pool that does not work is not ready, whatever an earlier step says.",
			desired:  `{composite: {ready: READY_TRUE}}`,
			decision: decision.Decision{},
			want: `
meta: {ttl: 61s}
desired: {composite: {resource: {status: {}}, ready: READY_FALSE}}
`,
		},
		"ConditionsAndEvents": {
			reason:  "Conditions and events keep their order and reach the claim as well. The resources of a pool that works are ready, whatever they say, and whether the composite is ready is for Crossplane to count.",
			desired: `{}`,
			decision: decision.Decision{
				Ready: true,
				Conditions: []condition.Condition{
					condition.New("B", condition.True, "Because", "b"),
					condition.New("A", condition.False, "Why", ""),
					condition.New("C", condition.Unknown, "WhoKnows", "c"),
				},
				Events: []decision.Event{{Warning: true, Reason: "Bad", Message: "look"}, {Reason: "Good", Message: "fine"}},
			},
			manifests: []managed.Manifest{{Resource: "old-template", Object: map[string]any{"kind": "A"}}},
			want: `
meta: {ttl: 61s}
desired:
  composite: {resource: {status: {}}}
  resources: {old-template: {resource: {kind: A}, ready: READY_TRUE}}
conditions:
- {type: B, status: STATUS_CONDITION_TRUE, reason: Because, message: b, target: TARGET_COMPOSITE_AND_CLAIM}
- {type: A, status: STATUS_CONDITION_FALSE, reason: Why, message: "", target: TARGET_COMPOSITE_AND_CLAIM}
- {type: C, status: STATUS_CONDITION_UNKNOWN, reason: WhoKnows, message: c, target: TARGET_COMPOSITE_AND_CLAIM}
results:
- {severity: SEVERITY_WARNING, message: look, reason: Bad, target: TARGET_COMPOSITE_AND_CLAIM}
- {severity: SEVERITY_NORMAL, message: fine, reason: Good, target: TARGET_COMPOSITE_AND_CLAIM}
`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &fnv1.RunFunctionRequest{Desired: message(t, tc.desired, &fnv1.State{})}
			before := proto.CloneOf(req)
			rsp := response.To(req, DefaultTTL)
			if err := Pool(rsp, anObservation(), tc.decision, tc.manifests); err != nil {
				t.Fatalf("\n%s\nPool(...): unexpected error: %v", tc.reason, err)
			}
			if diff := cmp.Diff(message(t, tc.want, &fnv1.RunFunctionResponse{}), rsp, protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nPool(...): -want, +got:\n%s", tc.reason, diff)
			}
			// A caller that sends its request again must get the same answer.
			if diff := cmp.Diff(before, req, protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nPool(...): changed the request: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// A resource that cannot be encoded leaves everything as it is: half of the desired state would delete the other half.
func TestPoolError(t *testing.T) {
	earlier := message(t, `{resources: {theirs: {resource: {kind: T}}}}`, &fnv1.State{})
	rsp := response.To(&fnv1.RunFunctionRequest{Desired: proto.CloneOf(earlier)}, DefaultTTL)
	err := Pool(rsp, anObservation(), decision.Decision{}, []managed.Manifest{
		{Resource: "good", Object: map[string]any{"kind": "A"}},
		{Resource: "bad", Object: map[string]any{"spec": struct{}{}}},
	})
	if err == nil {
		t.Fatal("Pool(...): want an error for a resource that is no JSON")
	}
	if diff := cmp.Diff(earlier, rsp.GetDesired(), protocmp.Transform()); diff != "" {
		t.Errorf("Pool(...): -want, +got:\n%s", diff)
	}
}

func TestRefusal(t *testing.T) {
	req := &fnv1.RunFunctionRequest{
		Meta:    &fnv1.RequestMeta{Tag: "t"},
		Desired: message(t, `{composite: {resource: {status: {theirs: kept}}}, resources: {theirs: {resource: {kind: T}}}}`, &fnv1.State{}),
	}
	rsp := response.To(proto.CloneOf(req), DefaultTTL)
	o := anObservation()
	o.Composite = &v1alpha1.MachinePool{Spec: v1alpha1.MachinePoolSpec{Bootstrap: v1alpha1.Bootstrap{DataSecretRef: v1alpha1.SecretKeyReference{Name: "s"}}}}
	Requirements(rsp, o)
	Refusal(rsp, decision.Decision{
		Refused: field.ErrorList{
			field.Invalid(field.NewPath("spec", "a"), "x", "must be y"),
			field.Required(field.NewPath("spec", "b"), "set it"),
		},
		Conditions: []condition.Condition{condition.New("InputsValid", condition.False, "Refused", "m"), condition.New("RollingOut", condition.True, "Kept", "n")},
		// What must not be reported with a refusal, were it there.
		Ready:  true,
		Status: v1alpha1.MachinePoolStatus{ImageID: "ami-1"},
		Events: []decision.Event{{Reason: "Good"}},
	})
	want := message(t, `
meta: {tag: t}
requirements: {resources: {bootstrap-data: {apiVersion: v1, kind: Secret, matchName: s}}}
conditions:
- {type: InputsValid, status: STATUS_CONDITION_FALSE, reason: Refused, message: m, target: TARGET_COMPOSITE_AND_CLAIM}
- {type: RollingOut, status: STATUS_CONDITION_TRUE, reason: Kept, message: "n", target: TARGET_COMPOSITE_AND_CLAIM}
results:
- severity: SEVERITY_FATAL
  message: 'spec.a: Invalid value: "x": must be y; spec.b: Required value: set it'
  target: TARGET_COMPOSITE
`, &fnv1.RunFunctionResponse{})
	want.Meta.Ttl = durationpb.New(15 * time.Second)
	want.Desired = req.GetDesired()
	if diff := cmp.Diff(want, rsp, protocmp.Transform()); diff != "" {
		t.Errorf("Refusal(...): all errors in one fatal result, every known condition, and nothing desired but what earlier steps desire: -want, +got:\n%s", diff)
	}
}
