package managed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/capacity"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A situation is what is rendered: an observed pool and what is decided of it.
type situation struct {
	o *pool.Observation
	d decision.Decision
}

// aPool is the smallest decided pool with a resource of each kind, everything else defaulted.
func aPool(namespace string, changes ...func(*situation)) situation {
	composite := &v1alpha1.MachinePool{}
	composite.SetName("demo-pool-0")
	composite.SetNamespace(namespace)
	composite.Default()
	in := &v1beta1.Input{}
	in.Default()

	s := situation{
		o: &pool.Observation{Composite: composite, Input: in},
		d: decision.Decision{
			Common: &decision.Common{
				Region:           "us-east-1",
				InstanceProfile:  "demo-worker",
				SecurityGroupIDs: []string{"sg-0e0000000000000e1"},
				Tags:             map[string]string{"kubernetes.io/cluster/demo-1960e37c": "owned", "team": "a"},
				ObjectTags:       map[string]string{"kubernetes.io/cluster/demo-1960e37c": "owned"},
			},
			Templates: []decision.Template{{
				Resource:   "launch-template-497384ff",
				Name:       "mp-team-a-demo-pool-0-1a2b3c4d-497384ff",
				ImageID:    "ami-0123456789abcdef0",
				RootDevice: "/dev/sda1",
				UserData:   "#cloud-boothook\n",
			}},
			Group: &decision.Group{
				Name:           "mp-team-a-demo-pool-0-1a2b3c4d",
				TemplateID:     "lt-0aaa0000000000001",
				Capacity:       capacity.Capacity{Min: 3, Max: 3, Initial: 3},
				Subnets:        []string{"subnet-0aaa0000000000001", "subnet-0bbb0000000000001"},
				InheritedZones: []string{"us-east-1a", "us-east-1b"},
			},
			Object: &decision.Object{Bucket: "demo-bootstrap", Key: "pool/demo-pool-0", Payload: []byte("#cloud-config\n")},
			Policy: &decision.Policy{GroupName: "mp-team-a-demo-pool-0-1a2b3c4d", TargetCPUPercent: 60},
			Hooks: []decision.Hook{{
				Resource:  "lifecycle-hook-drain",
				GroupName: "mp-team-a-demo-pool-0-1a2b3c4d",
				Spec: v1alpha1.LifecycleHook{
					Name:                    "drain",
					Transition:              v1alpha1.LifecycleTransitionTerminating,
					HeartbeatTimeoutSeconds: new(int32(3600)),
					DefaultResult:           v1alpha1.LifecycleHookResultAbandon,
				},
			}},
		},
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// spec returns a change of the composite's spec.
func spec(change func(*v1alpha1.MachinePoolSpec)) func(*situation) {
	return func(s *situation) { change(&s.o.Composite.Spec) }
}

// common returns a change of what the resources share.
func common(change func(*decision.Common)) func(*situation) {
	return func(s *situation) { change(s.d.Common) }
}

// rendered returns a situation's manifest of one composed resource.
func rendered(t *testing.T, s situation, resource string) Manifest {
	t.Helper()
	manifests, err := Render(s.o, s.d)
	if err != nil {
		t.Fatalf("Render(...): unexpected error: %v", err)
	}
	i := slices.IndexFunc(manifests, func(m Manifest) bool { return m.Resource == resource })
	if i < 0 {
		t.Fatalf("Render(...): no %q in %v", resource, names(manifests))
	}
	return manifests[i]
}

func names(manifests []Manifest) []string {
	out := make([]string, 0, len(manifests))
	for _, m := range manifests {
		out = append(out, m.Resource)
	}
	return out
}

// An edit of an expected object: a value at a field path, or none.
type edit struct {
	path  string
	value any
}

func set(path string, value any) edit { return edit{path: path, value: value} }
func unset(path string) edit          { return edit{path: path} }

// inClusterScope is what differs there, whatever the kind.
func inClusterScope(apiVersion string) []edit {
	return []edit{set("apiVersion", apiVersion), unset("spec.providerConfigRef.kind")}
}

// expect parses an object that is written as a person would, and edits it. To compare whole objects also says what is
// not there, and an edit that it changes nothing else.
func expect(t *testing.T, object string, edits ...edit) map[string]any {
	t.Helper()
	m := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(object), &m); err != nil {
		t.Fatal(err)
	}
	p := fieldpath.Pave(m)
	for _, e := range edits {
		if e.value == nil {
			if _, err := p.GetValue(e.path); err != nil {
				t.Fatalf("the expected object has no %s to leave out", e.path)
			}
			if err := p.DeleteField(e.path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := p.SetValue(e.path, e.value); err != nil {
			t.Fatal(err)
		}
	}
	return plain(t, m)
}

// plain gives an object the types that JSON has.
func plain(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	b, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A renderCase is a pool and the object that it is rendered to.
type renderCase struct {
	reason string
	args   situation
	// want is the kind's plain object with these edits.
	want []edit
}

func testRender(t *testing.T, resource, object string, cases map[string]renderCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := expect(t, object, tc.want...)
			if diff := cmp.Diff(want, plain(t, rendered(t, tc.args, resource).Object)); diff != "" {
				t.Errorf("\n%s\nRender(...): -want, +got:\n%s", tc.reason, diff)
			}
			if tc.args.o.Composite.GetNamespace() == "" {
				return
			}
			// The same pool in cluster scope: every field again, but for what differs by scope.
			composite := tc.args.o.Composite.DeepCopy()
			composite.SetNamespace("")
			o := *tc.args.o
			o.Composite = composite
			if diff := cmp.Diff(clusterScoped(want), plain(t, rendered(t, situation{o: &o, d: tc.args.d}, resource).Object)); diff != "" {
				t.Errorf("\n%s\nRender(...) in cluster scope: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// clusterScoped is what an object is in cluster scope: of another version, without a kind of provider configuration, and
// without a namespace in its description.
func clusterScoped(object map[string]any) map[string]any {
	object["apiVersion"] = map[string]string{
		"LaunchTemplate":   "ec2.aws.upbound.io/v1beta2",
		"AutoscalingGroup": "autoscaling.aws.upbound.io/v1beta3",
		"Policy":           "autoscaling.aws.upbound.io/v1beta2",
		"LifecycleHook":    "autoscaling.aws.upbound.io/v1beta1",
		"Object":           "s3.aws.upbound.io/v1beta2",
	}[object["kind"].(string)]
	p := fieldpath.Pave(object)
	_ = p.DeleteField("spec.providerConfigRef.kind")
	if d, err := p.GetString("spec.forProvider.description"); err == nil {
		_ = p.SetString("spec.forProvider.description", strings.ReplaceAll(d, "team-a/", ""))
	}
	return object
}

func TestRenderAll(t *testing.T) {
	all := []string{"launch-template-497384ff", "autoscaling-group", "bootstrap-object", "scaling-policy", "lifecycle-hook-drain"}
	healthy := func(s *situation) {
		s.d.Templates[0].Healthy = true
		s.d.Group.Healthy = true
		s.d.Object.Healthy = true
		s.d.Policy.Healthy = true
		s.d.Hooks[0].Healthy = true
	}
	cases := map[string]struct {
		reason string
		args   situation
		want   map[string]bool
	}{
		"Nothing": {
			reason: "A decision without resources renders none, even while nothing is known of the cluster.",
			args:   aPool("team-a", func(s *situation) { s.d = decision.Decision{} }),
			want:   map[string]bool{},
		},
		"NotHealthy": {
			reason: "Every resource of the decision is rendered, and none is ready because it was asked for.",
			args:   aPool("team-a"),
			want:   map[string]bool{all[0]: false, all[1]: false, all[2]: false, all[3]: false, all[4]: false},
		},
		"Healthy": {
			reason: "A resource whose managed resource is Ready and Synced is ready.",
			args:   aPool("team-a", healthy),
			want:   map[string]bool{all[0]: true, all[1]: true, all[2]: true, all[3]: true, all[4]: true},
		},
		"OneHealthy": {
			reason: "Each resource has its own readiness.",
			args:   aPool("team-a", func(s *situation) { s.d.Object.Healthy = true }),
			want:   map[string]bool{all[0]: false, all[1]: false, all[2]: true, all[3]: false, all[4]: false},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			manifests, err := Render(tc.args.o, tc.args.d)
			if err != nil {
				t.Fatalf("\n%s\nRender(...): unexpected error: %v", tc.reason, err)
			}
			got := map[string]bool{}
			for _, m := range manifests {
				if _, twice := got[m.Resource]; twice {
					t.Errorf("\n%s\nRender(...): %q twice", tc.reason, m.Resource)
				}
				got[m.Resource] = m.Ready
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRender(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// What every managed resource has in common is said once, here, for all kinds and both scopes.
func TestRenderCommon(t *testing.T) {
	other := func(s *situation) {
		s.o.Input.ProviderConfigRef = v1beta1.ProviderConfigReference{Kind: v1beta1.KindProviderConfig, Name: "team-a"}
		s.d.Common.Region = "eu-central-1"
	}
	cases := map[string]struct {
		reason     string
		args       situation
		wantConfig map[string]any
		wantRegion string
	}{
		"Namespaced": {
			reason:     "A namespaced resource's provider configuration is one of two kinds.",
			args:       aPool("team-a"),
			wantConfig: map[string]any{"kind": "ClusterProviderConfig", "name": "default"},
			wantRegion: "us-east-1",
		},
		"NamespacedOfInput": {
			reason:     "The Input chooses the provider configuration, the exports the region.",
			args:       aPool("team-a", other),
			wantConfig: map[string]any{"kind": "ProviderConfig", "name": "team-a"},
			wantRegion: "eu-central-1",
		},
		"Cluster": {
			reason:     "A cluster-scoped resource's provider configuration is of one kind, so that the reference has none.",
			args:       aPool(""),
			wantConfig: map[string]any{"name": "default"},
			wantRegion: "us-east-1",
		},
		"ClusterOfInput": {
			reason:     "The Input's kind is ignored where the reference has none.",
			args:       aPool("", other),
			wantConfig: map[string]any{"name": "team-a"},
			wantRegion: "eu-central-1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			manifests, err := Render(tc.args.o, tc.args.d)
			if err != nil {
				t.Fatalf("\n%s\nRender(...): unexpected error: %v", tc.reason, err)
			}
			if len(manifests) != 5 {
				t.Fatalf("\n%s\nRender(...): want one resource of each of the 5 kinds, got %v", tc.reason, names(manifests))
			}
			for _, m := range manifests {
				object := plain(t, m.Object)
				got, _ := object["spec"].(map[string]any)
				forProvider, _ := got["forProvider"].(map[string]any)
				if diff := cmp.Diff([]any{"Observe", "Create", "Update", "Delete"}, got["managementPolicies"]); diff != "" {
					t.Errorf("\n%s\n%s: managementPolicies: -want, +got:\n%s", tc.reason, m.Resource, diff)
				}
				if diff := cmp.Diff(tc.wantConfig, got["providerConfigRef"]); diff != "" {
					t.Errorf("\n%s\n%s: providerConfigRef: -want, +got:\n%s", tc.reason, m.Resource, diff)
				}
				if diff := cmp.Diff(tc.wantRegion, forProvider["region"]); diff != "" {
					t.Errorf("\n%s\n%s: region: -want, +got:\n%s", tc.reason, m.Resource, diff)
				}
				// A name of the Kubernetes object is Crossplane's to give, and a status the provider's to write.
				meta, _ := object["metadata"].(map[string]any)
				for _, field := range []string{"name", "generateName", "namespace", "creationTimestamp"} {
					if v, ok := meta[field]; ok {
						t.Errorf("\n%s\n%s: want no metadata.%s, got %v", tc.reason, m.Resource, field, v)
					}
				}
				if v, ok := object["status"]; ok {
					t.Errorf("\n%s\n%s: want no status, got %v", tc.reason, m.Resource, v)
				}
				// A provider reads a key that stands in both as a change of mind in every run.
				init, _ := got["initProvider"].(map[string]any)
				for key := range init {
					if _, both := forProvider[key]; both {
						t.Errorf("\n%s\n%s: %s stands in forProvider and in initProvider", tc.reason, m.Resource, key)
					}
				}
			}
		})
	}
}

// Equal decisions give equal bytes, however often: maps are shuffled in each run, and a status that churns trips
// Crossplane's circuit breaker.
func TestRenderIsCanonical(t *testing.T) {
	many := func(s *situation) {
		for i := range 40 {
			s.d.Common.Tags[fmt.Sprintf("tag-%02d", i)] = strings.Repeat("x", i)
		}
	}
	render := func() []Manifest {
		s := aPool("team-a", many)
		manifests, err := Render(s.o, s.d)
		if err != nil {
			t.Fatalf("Render(...): unexpected error: %v", err)
		}
		return manifests
	}
	first := render()
	for range 20 {
		// The manifests' own order counts as well as that of the lists in them.
		if diff := cmp.Diff(first, render()); diff != "" {
			t.Fatalf("Render(...): equal decisions rendered differently: -first, +then:\n%s", diff)
		}
	}
}

// A spec as an API server hands it back, with what others than the function have put into it.
func observedSpec() map[string]any {
	return map[string]any{
		"deletionPolicy": "Delete",
		"forProvider": map[string]any{
			"region":        "us-east-1",
			"contentBase64": "b2xk",
			"someoneElses":  []any{"field", float64(1), true, nil},
		},
		"initProvider": map[string]any{},
	}
}

func TestRenderHeld(t *testing.T) {
	held := func(kind, externalName string, annotations map[string]string) decision.Held {
		return &pool.Resource{APIVersion: "example.org/v9", Kind: kind, ExternalName: externalName, Annotations: annotations, Spec: observedSpec()}
	}
	want := func(kind string, spec map[string]any, annotations map[string]any) map[string]any {
		o := map[string]any{"apiVersion": "example.org/v9", "kind": kind, "spec": spec}
		if annotations != nil {
			o["metadata"] = map[string]any{"annotations": annotations}
		}
		return o
	}
	// Nothing is known but what is observed: the situation in which resources are held.
	only := func(change func(*decision.Decision)) func(*situation) {
		return func(s *situation) {
			s.d = decision.Decision{}
			change(&s.d)
		}
	}
	record := map[string]string{"machinepool.fn.crossplane.io/inherited-failure-domains": "us-east-1a"}
	onTemplate := func(id string, size float64) map[string]any {
		return map[string]any{"forProvider": map[string]any{"minSize": size, "maxSize": size, "launchTemplate": map[string]any{"id": id, "version": "$Latest"}}}
	}
	sized := observedSpec()
	sized["forProvider"].(map[string]any)["minSize"], sized["forProvider"].(map[string]any)["maxSize"] = 1.0, 9.0
	rotated := observedSpec()
	rotated["forProvider"].(map[string]any)["contentBase64"] = "bmV3"

	cases := map[string]struct {
		reason   string
		resource string
		change   func(*decision.Decision)
		want     map[string]any
	}{
		"Template": {
			reason:   "A template goes out as it came in, whatever its version and whoever set a field of it.",
			resource: "launch-template-1",
			change: func(d *decision.Decision) {
				d.Templates = []decision.Template{{Resource: "launch-template-1", Held: held("LaunchTemplate", "", nil), Name: "n", ImageID: "ami-1", UserData: "u"}}
			},
			want: want("LaunchTemplate", observedSpec(), nil),
		},
		"TemplateWithID": {
			reason:   "The provider does not persist a template's id by itself, so a held one is sent its id too.",
			resource: "launch-template-1",
			change: func(d *decision.Decision) {
				d.Templates = []decision.Template{{Resource: "launch-template-1", Held: held("LaunchTemplate", "", nil), ExternalName: "lt-1"}}
			},
			want: want("LaunchTemplate", observedSpec(), map[string]any{"crossplane.io/external-name": "lt-1"}),
		},
		"Group": {
			reason:   "A held group keeps its record of zones and its name. Its size is sent: it needs nothing of what is missing.",
			resource: "autoscaling-group",
			change: func(d *decision.Decision) {
				d.Group = &decision.Group{Held: held("AutoscalingGroup", "mp-1", record), Name: "mp-1", TemplateID: "lt-9", Capacity: capacity.Capacity{Min: 1, Max: 9, Initial: 3}}
			},
			want: want("AutoscalingGroup", sized, map[string]any{
				"crossplane.io/external-name":                            "mp-1",
				"machinepool.fn.crossplane.io/inherited-failure-domains": "us-east-1a",
			}),
		},
		"GroupOnItsTemplate": {
			reason:   "A held group stays on the template that it was last told to use, which what is observed may be older than.",
			resource: "autoscaling-group",
			change: func(d *decision.Decision) {
				h := held("AutoscalingGroup", "mp-1", nil)
				h.Spec = onTemplate("lt-old", 2)
				d.Group = &decision.Group{Held: h, TemplateID: "lt-9", Capacity: capacity.Capacity{Min: 3, Max: 3}}
			},
			want: want("AutoscalingGroup", onTemplate("lt-9", 3), map[string]any{"crossplane.io/external-name": "mp-1"}),
		},
		"GroupKnownByItsAnnotationOnly": {
			reason:   "The external name that a resource has is sent again when the decision has none.",
			resource: "autoscaling-group",
			change: func(d *decision.Decision) {
				d.Group = &decision.Group{Held: held("AutoscalingGroup", "mp-1", nil), Capacity: capacity.Capacity{Min: 1, Max: 9}}
			},
			want: want("AutoscalingGroup", sized, map[string]any{"crossplane.io/external-name": "mp-1"}),
		},
		"Object": {
			reason:   "An object whose payload is gone keeps the one that is staged.",
			resource: "bootstrap-object",
			change: func(d *decision.Decision) {
				d.Object = &decision.Object{Held: held("Object", "demo-bootstrap/pool/demo", nil), Bucket: "other", Key: "other"}
			},
			want: want("Object", observedSpec(), map[string]any{"crossplane.io/external-name": "demo-bootstrap/pool/demo"}),
		},
		"ObjectRotated": {
			reason:   "A payload that rotates while the exports are missing still reaches the object, and only the payload does.",
			resource: "bootstrap-object",
			change: func(d *decision.Decision) {
				d.Object = &decision.Object{Held: held("Object", "", nil), Payload: []byte("new")}
			},
			want: want("Object", rotated, nil),
		},
		"ObjectWithoutParameters": {
			reason:   "An object of an unexpected shape is sent as it is rather than given parameters that no one knows.",
			resource: "bootstrap-object",
			change: func(d *decision.Decision) {
				h := held("Object", "", nil)
				h.Spec = map[string]any{"forProvider": "strange"}
				d.Object = &decision.Object{Held: h, Payload: []byte("new")}
			},
			want: want("Object", map[string]any{"forProvider": "strange"}, nil),
		},
		"Policy": {
			reason:   "A held policy is still known to AWS by its name.",
			resource: "scaling-policy",
			change: func(d *decision.Decision) {
				d.Policy = &decision.Policy{Held: held("Policy", "", nil), TargetCPUPercent: 9}
			},
			want: want("Policy", observedSpec(), map[string]any{"crossplane.io/external-name": "cpu-target-tracking"}),
		},
		"Hook": {
			reason:   "A held hook keeps its name.",
			resource: "lifecycle-hook-drain",
			change: func(d *decision.Decision) {
				d.Hooks = []decision.Hook{{Resource: "lifecycle-hook-drain", Held: held("LifecycleHook", "drain", nil)}}
			},
			want: want("LifecycleHook", observedSpec(), map[string]any{"crossplane.io/external-name": "drain"}),
		},
	}
	for name, tc := range cases {
		for _, namespace := range []string{"team-a", ""} {
			t.Run(name+"/"+scopeName(namespace), func(t *testing.T) {
				s := aPool(namespace, only(tc.change))
				if diff := cmp.Diff(tc.want, rendered(t, s, tc.resource).Object); diff != "" {
					t.Errorf("\n%s\nRender(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// The observation outlives the rendering: health and conditions are taken from it, and an object that is held again in
// the next test of a property must not remember the payload of this one.
func TestRenderHeldLeavesTheObservedAsItIs(t *testing.T) {
	held := &pool.Resource{Kind: "Object", Spec: observedSpec()}
	s := aPool("team-a", func(s *situation) { s.d.Object = &decision.Object{Held: held, Payload: []byte("new")} })
	rendered(t, s, "bootstrap-object")
	if diff := cmp.Diff(&pool.Resource{Kind: "Object", Spec: observedSpec()}, held); diff != "" {
		t.Errorf("Render(...): changed what it was given: -want, +got:\n%s", diff)
	}
}

func scopeName(namespace string) string {
	if namespace == "" {
		return "Cluster"
	}
	return "Namespaced"
}
