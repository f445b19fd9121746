package observation

import (
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// parse a request that is written as a person would. It came over the wire, so that all numbers are floats.
func parse(t *testing.T, s string) *fnv1.RunFunctionRequest {
	t.Helper()
	j, err := yaml.YAMLToJSONStrict([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	req := &fnv1.RunFunctionRequest{}
	if err := protojson.Unmarshal(j, req); err != nil {
		t.Fatal(err)
	}
	return req
}

// withComposite is a request of nothing but a composite.
func withComposite(t *testing.T, composite string) *fnv1.RunFunctionRequest {
	t.Helper()
	return parse(t, "{observed: {composite: {resource: "+composite+"}}}")
}

func observe(t *testing.T, req *fnv1.RunFunctionRequest) *pool.Observation {
	t.Helper()
	before := proto.CloneOf(req)
	o, err := From(req)
	if err != nil {
		t.Fatalf("From(...): unexpected error: %v", err)
	}
	if !proto.Equal(before, req) {
		t.Error("From(...): changed the request")
	}
	return o
}

func TestFromComposite(t *testing.T) {
	defaulted := func(change func(*v1alpha1.MachinePool)) *v1alpha1.MachinePool {
		p := &v1alpha1.MachinePool{}
		change(p)
		p.Default()
		return p
	}
	cases := map[string]struct {
		reason string
		args   string
		want   *v1alpha1.MachinePool
	}{
		"Empty": {
			reason: "A composite without a spec is all defaults: to refuse it is up to the rules.",
			args:   `{}`,
			want:   defaulted(func(*v1alpha1.MachinePool) {}),
		},
		"Null": {
			reason: "Null is like absent.",
			args:   `{spec: null, status: null, metadata: null}`,
			want:   defaulted(func(*v1alpha1.MachinePool) {}),
		},
		"Given": {
			reason: "What is given wins over defaults; whole floats are integers.",
			args:   `{metadata: {name: a}, spec: {replicas: 0, instanceType: c7g.large, spot: true, rollout: {instanceWarmupSeconds: 0}}, status: {replicas: 3}}`,
			want: defaulted(func(p *v1alpha1.MachinePool) {
				p.SetName("a")
				p.Spec.Replicas = new(int32(0))
				p.Spec.InstanceType = "c7g.large"
				p.Spec.Spot = true
				p.Spec.Rollout.InstanceWarmupSeconds = new(int32(0))
				p.Status.Replicas = new(int32(3))
			}),
		},
		"UnknownFields": {
			reason: "Crossplane's own fields, and those of a newer XRD, are left alone.",
			args:   `{spec: {crossplane: {compositionRef: {name: c}}, fromTheFuture: [1]}, status: {conditions: [{type: Ready}], fromTheFuture: {}}}`,
			want:   defaulted(func(*v1alpha1.MachinePool) {}),
		},
		"NamespaceOfTheComposite": {
			reason: "What a pool refers to is in its own namespace by default.",
			args:   `{metadata: {namespace: team-a}, spec: {cluster: {exportsFrom: {name: c}}, bootstrap: {dataSecretRef: {name: s}}, claimRef: {namespace: other}}}`,
			want: defaulted(func(p *v1alpha1.MachinePool) {
				p.SetNamespace("team-a")
				p.Spec.Cluster.ExportsFrom = &v1alpha1.ExportsReference{Name: "c", Namespace: "team-a"}
				p.Spec.Bootstrap.DataSecretRef = v1alpha1.SecretKeyReference{Name: "s", Namespace: "team-a"}
			}),
		},
		"NamespaceOfTheClaim": {
			reason: "A claimed pool is cluster-scoped, its claim is not.",
			args:   `{spec: {cluster: {exportsFrom: {name: c}}, bootstrap: {dataSecretRef: {name: s}}, claimRef: {namespace: team-b}}}`,
			want: defaulted(func(p *v1alpha1.MachinePool) {
				p.Spec.Cluster.ExportsFrom = &v1alpha1.ExportsReference{Name: "c", Namespace: "team-b"}
				p.Spec.Bootstrap.DataSecretRef = v1alpha1.SecretKeyReference{Name: "s", Namespace: "team-b"}
			}),
		},
		"NamespacesGiven": {
			reason: "A namespace that is given wins.",
			args:   `{metadata: {namespace: team-a}, spec: {cluster: {exportsFrom: {name: c, namespace: x}}, bootstrap: {dataSecretRef: {name: s, namespace: z}}}}`,
			want: defaulted(func(p *v1alpha1.MachinePool) {
				p.SetNamespace("team-a")
				p.Spec.Cluster.ExportsFrom = &v1alpha1.ExportsReference{Name: "c", Namespace: "x"}
				p.Spec.Bootstrap.DataSecretRef = v1alpha1.SecretKeyReference{Name: "s", Namespace: "z"}
			}),
		},
		"NoNamespace": {
			reason: "A cluster-scoped pool without a claim has none to give.",
			args:   `{spec: {bootstrap: {dataSecretRef: {name: s}}}}`,
			want: defaulted(func(p *v1alpha1.MachinePool) {
				p.Spec.Bootstrap.DataSecretRef = v1alpha1.SecretKeyReference{Name: "s"}
			}),
		},
		"StatusOfAnotherShape": {
			reason: "A status that someone edited is as good as lost, and never costs a pool its group.",
			args:   `{status: {replicas: many, providerIDList: [a]}}`,
			want:   defaulted(func(*v1alpha1.MachinePool) {}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, observe(t, withComposite(t, tc.args)).Composite); diff != "" {
				t.Errorf("\n%s\nFrom(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFromTenant(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Namespaced": {
			reason: "The pool's own namespace, whatever its claimRef says.",
			args:   `{metadata: {namespace: team-a}, spec: {bootstrap: {dataSecretRef: {name: s}}, claimRef: {namespace: other}}}`,
			want:   "team-a",
		},
		"Claimed": {
			reason: "A claim's namespace, and never the one that the pool writes into its spec.",
			args:   `{spec: {bootstrap: {dataSecretRef: {name: s, namespace: other}}, claimRef: {namespace: team-b}}}`,
			want:   "team-b",
		},
		"ClusterScoped": {
			reason: "A cluster-scoped pool without a claim is nobody's.",
			args:   `{spec: {bootstrap: {dataSecretRef: {name: s, namespace: other}}}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := observe(t, withComposite(t, tc.args)).Tenant; got != tc.want {
				t.Errorf("\n%s\nFrom(...).Tenant: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestFromError(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *fnv1.RunFunctionRequest
		want   string
	}{
		"WrongType": {
			reason: "The field is named, with what it has and what belongs there.",
			args:   withComposite(t, `{spec: {replicas: three}}`),
			want:   "cannot decode the composite: spec.replicas: Invalid value: got a string where a whole number of 32 bits belongs",
		},
		"WrongTypeDeepInside": {
			reason: "The path is that of the XR.",
			args:   withComposite(t, `{spec: {rootVolume: {sizeGiB: "40"}}}`),
			want:   "spec.rootVolume.sizeGiB: Invalid value: got a string",
		},
		"Fraction": {
			reason: "Half an instance is none.",
			args:   withComposite(t, `{spec: {replicas: 2.5}}`),
			want:   "spec.replicas: Invalid value: got a number 2.5 where a whole number of 32 bits belongs",
		},
		"TooLarge": {
			reason: "A number that does not fit is not cut.",
			args:   withComposite(t, `{spec: {replicas: 3000000000}}`),
			want:   "spec.replicas: Invalid value: got a number 3000000000",
		},
		"SpecOfAnotherShape": {
			reason: "The whole spec can be of the wrong type.",
			args:   withComposite(t, `{spec: [1]}`),
			want:   "spec: Invalid value: got a list",
		},
		"First": {
			reason: "Of several fields the same one is named in every run.",
			args:   withComposite(t, `{spec: {spot: "no", publicIP: "no", replicas: "3", autoscaling: [], instanceType: 1, nodeLabels: 1}}`),
			want:   "spec.autoscaling: Invalid value",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				_, err := From(tc.args)
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("\n%s\nFrom(...): want an error with %q, got %v", tc.reason, tc.want, err)
				}
			}
		})
	}
}

func TestFromUnusableInput(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"UnknownField": {
			reason: "A misspelt field would silently be a default.",
			args:   `{input: {aws: {identity: Pod}, refreshh: {}}}`,
			want:   `input: Forbidden: cannot be decoded: unknown field "refreshh"`,
		},
		"WrongType": {
			reason: "Fields have types.",
			args:   `{input: {aws: {identity: Pod}, refresh: {stableSeconds: often}}}`,
			want:   "input: Forbidden: cannot be decoded: input.refresh.stableSeconds: Invalid value: got a string where a whole number of 32 bits belongs",
		},
		"WrongValue": {
			reason: "A value that cannot be used is not a default either.",
			args:   `{input: {aws: {identity: Pod}, refresh: {stableSeconds: 86401}}}`,
			want:   "refresh.stableSeconds: Invalid value: 86401: refresh.stableSeconds in body should be less than or equal to 86400",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := observe(t, parse(t, tc.args))
			if diff := cmp.Diff(tc.want, o.InputErrors.ToAggregate().Error()); diff != "" {
				t.Errorf("\n%s\nFrom(...).InputErrors: -want, +got:\n%s", tc.reason, diff)
			}
			unusable := &v1beta1.Input{}
			unusable.Default()
			unusable.AWS.Identity = ""
			if diff := cmp.Diff(unusable, o.Input); diff != "" {
				t.Errorf("\n%s\nFrom(...).Input: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFromInput(t *testing.T) {
	defaulted := &v1beta1.Input{}
	defaulted.Default()
	given := &v1beta1.Input{
		ProviderConfigRef: v1beta1.ProviderConfigReference{Kind: "ProviderConfig", Name: "a"},
		AWS:               v1beta1.AWS{Identity: v1beta1.IdentityPod},
		Refresh:           v1beta1.Refresh{StableSeconds: 300},
	}
	given.Default()
	cases := map[string]struct {
		reason string
		args   string
		want   *v1beta1.Input
	}{
		"None":  {reason: "A step without an Input has the defaults.", args: `{}`, want: defaulted},
		"Empty": {reason: "So has one with an empty Input.", args: `{input: {}}`, want: defaulted},
		"Given": {
			reason: "What is given wins; whole floats are integers.",
			args:   `{input: {providerConfigRef: {kind: ProviderConfig, name: a}, aws: {identity: Pod}, refresh: {stableSeconds: 300}}}`,
			want:   given,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, observe(t, parse(t, tc.args)).Input); diff != "" {
				t.Errorf("\n%s\nFrom(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFromCredentials(t *testing.T) {
	secret := `input: {aws: {identity: Secret, credentials: aws-creds}}`
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Key": {
			reason: "The documented key wins over others.",
			args:   `{` + secret + `, credentials: {aws-creds: {credentialData: {data: {credentials: YQ==, other: Yg==}}}}}`,
			want:   "a",
		},
		"OnlyKey": {
			reason: "The only key is the one that is meant.",
			args:   `{` + secret + `, credentials: {aws-creds: {credentialData: {data: {other: Yg==}}}}}`,
			want:   "b",
		},
		"Ambiguous": {
			reason: "Of several others none is guessed.",
			args:   `{` + secret + `, credentials: {aws-creds: {credentialData: {data: {one: YQ==, other: Yg==}}}}}`,
		},
		"OtherCredential": {
			reason: "Only the credential that the Input names counts.",
			args:   `{` + secret + `, credentials: {theirs: {credentialData: {data: {credentials: YQ==}}}}}`,
		},
		"NotAsked": {
			reason: "Credentials that no one asked for are not read.",
			args:   `{input: {aws: {identity: Pod, credentials: aws-creds}}, credentials: {aws-creds: {credentialData: {data: {credentials: YQ==}}}}}`,
		},
		"None": {reason: "There may be none.", args: `{` + secret + `}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(observe(t, parse(t, tc.args)).Credentials)); diff != "" {
				t.Errorf("\n%s\nFrom(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFromConditions(t *testing.T) {
	got := observe(t, withComposite(t, `{status: {conditions: [
		{type: InputsValid, status: "True", reason: Valid, message: m, lastTransitionTime: x},
		{type: RollingOut, status: "False"}]}}`)).Conditions
	want := map[string]condition.Condition{
		"InputsValid": condition.New("InputsValid", condition.True, "Valid", "m"),
		"RollingOut":  condition.New("RollingOut", condition.False, "", ""),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("From(...): -want, +got:\n%s", diff)
	}
}

// What others wrote may have any shape. It must neither panic nor be an error, since either would cost a pool its group.
func TestFromGarbage(t *testing.T) {
	garbage := map[string]*structpb.Value{
		"Nil":      nil,
		"NoKind":   {},
		"Null":     structpb.NewNullValue(),
		"Text":     structpb.NewStringValue("x"),
		"Number":   structpb.NewNumberValue(1e300),
		"Bool":     structpb.NewBoolValue(true),
		"List":     structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{nil, structpb.NewStringValue("x")}}),
		"Object":   structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"x": nil}}),
		"NilList":  {Kind: &structpb.Value_ListValue{}},
		"NilShape": {Kind: &structpb.Value_StructValue{}},
	}
	paths := [][]string{
		{"apiVersion"},
		{"kind"},
		{"metadata"},
		{"metadata", "annotations"},
		{"metadata", "annotations", "crossplane.io/external-name"},
		{"metadata", "annotations", "machinepool.fn.crossplane.io/x"},
		{"metadata", "creationTimestamp"},
		{"spec"},
		{"spec", "forProvider"},
		{"spec", "forProvider", "region"},
		{"spec", "forProvider", "launchTemplate"},
		{"spec", "forProvider", "vpcZoneIdentifier"},
		{"spec", "forProvider", "bucket"},
		{"spec", "forProvider", "name"},
		{"status"},
		{"status", "conditions"},
		{"status", "atProvider"},
		{"status", "atProvider", "id"},
		{"status", "atProvider", "arn"},
		{"status", "atProvider", "desiredCapacity"},
		{"status", "atProvider", "launchTemplate"},
		{"data"},
		{"data", "value"},
		{"data", "format"},
	}
	names := []string{"autoscaling-group", "launch-template-1a2b3c4d", "bootstrap-object", "scaling-policy", "lifecycle-hook-a", "theirs"}
	for shape, v := range garbage {
		t.Run(shape, func(t *testing.T) {
			for _, path := range paths {
				if _, isText := v.GetKind().(*structpb.Value_StringValue); isText && len(path) == 1 && (path[0] == "apiVersion" || path[0] == "kind") {
					// Another kind is another's.
					continue
				}
				s := at0(path, v)
				req := withComposite(t, `{metadata: {namespace: a}, spec: {cluster: {exportsFrom: {name: c, fieldPath: "status.atProvider"}}}}`)
				req.Observed.Resources = map[string]*fnv1.Resource{"nil": nil, "autoscaling-group-2": {}}
				for _, name := range names {
					req.Observed.Resources[name] = &fnv1.Resource{Resource: s}
				}
				req.RequiredResources = map[string]*fnv1.Resources{
					RequiredBootstrap: {Items: []*fnv1.Resource{{Resource: s}}}, RequiredExports: {Items: []*fnv1.Resource{{Resource: s}}},
				}
				o, err := From(req)
				if err != nil {
					t.Fatalf("From(...): %v is %v: unexpected error: %v", path, v, err)
				}
				if o.Managed.Group == nil || o.Managed.Object == nil || o.Managed.Policy == nil || len(o.Managed.Templates) != 1 || len(o.Managed.Hooks) != 1 {
					t.Errorf("From(...): %v is %v: a resource that exists is missing", path, v)
				}
			}
		})
	}
	if _, err := From(nil); err != nil {
		t.Errorf("From(nil): unexpected error: %v", err)
	}
	if _, err := From(&fnv1.RunFunctionRequest{RequiredResources: map[string]*fnv1.Resources{RequiredBootstrap: nil, RequiredExports: {Items: []*fnv1.Resource{nil}}}}); err != nil {
		t.Errorf("From(...): unexpected error: %v", err)
	}
}

// at0 is an object that holds a value at a path and nothing else.
func at0(path []string, v *structpb.Value) *structpb.Struct {
	for i := len(path) - 1; i > 0; i-- {
		v = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{path[i]: v}})
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{path[0]: v}}
}
