package managed

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/capacity"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/crd"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// lookAhead names a directory of the CRDs of another version of the provider.
const lookAhead = "MACHINEPOOL_CRDS"

// crdDirs are the CRDs to hold objects against: those of the provider that go.mod pins, and others when they are there.
func crdDirs(t *testing.T) map[string]*crd.Dir {
	t.Helper()
	pinned, err := crd.PinnedDir(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]*crd.Dir{"Pinned": crd.Open(pinned)}
	if path := os.Getenv(lookAhead); path != "" {
		dirs["LookAhead"] = crd.Open(path)
	}
	return dirs
}

// variants are pools that between them render every field that a rendered resource can have.
func variants() map[string]func(*situation) {
	return map[string]func(*situation){
		"Plain": func(*situation) {},
		"Spot":  spec(func(s *v1alpha1.MachinePoolSpec) { s.Spot = true }),
		"Autoscaled": func(s *situation) {
			s.d.Group.Capacity = capacity.Capacity{Min: 0, Max: 5, Initial: 2}
			s.d.Policy.TargetCPUPercent = 100
		},
		"External": func(s *situation) { s.d.Policy = nil },
		"Hooks": func(s *situation) {
			launching := s.d.Hooks[0]
			launching.Resource = "lifecycle-hook-warm/up"
			launching.Spec = v1alpha1.LifecycleHook{
				Name: "warm/up", Transition: v1alpha1.LifecycleTransitionLaunching, DefaultResult: v1alpha1.LifecycleHookResultContinue,
				NotificationTargetARN: new("arn:aws:sns:us-east-1:123456789012:warm"), RoleARN: new("arn:aws:iam::123456789012:role/notify"),
			}
			s.d.Hooks = append(s.d.Hooks, launching)
		},
		"Ignition": func(s *situation) {
			s.d.Templates[0].UserData = `{"ignition":{"version":"3.0.0","config":{"replace":{"source":"s3://b/k"}}}}`
		},
		"KMS":          spec(chooseEverything),
		"PublicIP":     spec(func(s *v1alpha1.MachinePoolSpec) { s.PublicIP = true }),
		"ZeroReplicas": func(s *situation) { s.d.Group.Capacity = capacity.Capacity{} },
		"KnownIDs": func(s *situation) {
			s.d.Templates[0].ExternalName = "lt-0aaa0000000000001"
		},
		"ManyTags": common(func(c *decision.Common) {
			for k := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST", "") {
				c.Tags[k] = k
			}
		}),
		"OtherProviderConfig": func(s *situation) {
			s.o.Input.ProviderConfigRef = v1beta1.ProviderConfigReference{Kind: v1beta1.KindProviderConfig, Name: "team-a"}
		},
	}
}

// held returns the situation in which everything that was rendered is sent again as observed, payload rotated. What is
// observed has been through an API server, which filled its defaults in.
func held(t *testing.T, s situation) situation {
	t.Helper()
	manifests, err := Render(s.o, s.d)
	if err != nil {
		t.Fatal(err)
	}
	observed := map[string]*pool.Resource{}
	for _, m := range manifests {
		spec := runtime.DeepCopyJSON(plain(t, m.Object))["spec"].(map[string]any)
		if s.o.Scope() == pool.ScopeCluster {
			spec["deletionPolicy"] = "Delete"
		}
		if _, ok := spec["initProvider"]; !ok {
			spec["initProvider"] = map[string]any{}
		}
		observed[m.Resource] = &pool.Resource{
			APIVersion: m.Object["apiVersion"].(string), Kind: m.Object["kind"].(string), Spec: spec,
			Annotations: map[string]string{"machinepool.fn.crossplane.io/inherited-failure-domains": "us-east-1a"},
		}
	}
	d := decision.Decision{}
	for _, t := range s.d.Templates {
		d.Templates = append(d.Templates, decision.Template{Resource: t.Resource, Held: observed[t.Resource], ExternalName: "lt-0"})
	}
	d.Group = &decision.Group{Held: observed["autoscaling-group"], Name: s.d.Group.Name, Capacity: s.d.Group.Capacity}
	d.Object = &decision.Object{Held: observed["bootstrap-object"], Payload: []byte("rotated")}
	if s.d.Policy != nil {
		d.Policy = &decision.Policy{Held: observed["scaling-policy"]}
	}
	for _, h := range s.d.Hooks {
		d.Hooks = append(d.Hooks, decision.Hook{Resource: h.Resource, Held: observed[h.Resource]})
	}
	return situation{o: s.o, d: d}
}

// everySituation is each variant in each scope, rendered anew and held.
func everySituation(t *testing.T) map[string]situation {
	t.Helper()
	all := map[string]situation{}
	for name, variant := range variants() {
		for _, namespace := range []string{"team-a", ""} {
			s := aPool(namespace, variant)
			all[name+"/"+scopeName(namespace)] = s
			all[name+"/"+scopeName(namespace)+"/Held"] = held(t, s)
		}
	}
	return all
}

// A provider drops a field that it does not know without a word, and the pool then lacks what the field was for.
func TestRenderedFitsTheCRDs(t *testing.T) {
	situations := everySituation(t)
	for version, dir := range crdDirs(t) {
		for _, name := range slices.Sorted(maps.Keys(situations)) {
			t.Run(version+"/"+name, func(t *testing.T) {
				s := situations[name]
				manifests, err := Render(s.o, s.d)
				if err != nil {
					t.Fatalf("Render(...): unexpected error: %v", err)
				}
				if len(manifests) < 4 {
					t.Fatalf("Render(...): want a resource of at least 4 kinds, got %v", names(manifests))
				}
				for _, m := range manifests {
					problems, err := dir.Check(context.Background(), m.Object)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff([]string(nil), problems); diff != "" {
						t.Errorf("%s is refused: -want, +got:\n%s", m.Resource, diff)
					}
				}
			})
		}
	}
}

// Only the newest versions have the same shape in both scopes. In cluster scope v2.5.0 serves them and stores older
// ones, which the webhook that its packages bring converts; from v2.6.0 on they are stored as they are.
func TestRenderedVersionsAreServed(t *testing.T) {
	for name, dir := range crdDirs(t) {
		for scope, v := range versions {
			for kind, apiVersion := range v.apiVersions {
				t.Run(name+"/"+string(scope)+"/"+kind, func(t *testing.T) {
					gv, err := schema.ParseGroupVersion(apiVersion)
					if err != nil {
						t.Fatal(err)
					}
					def, err := dir.Definition(schema.GroupKind{Group: gv.Group, Kind: kind})
					if err != nil {
						t.Fatal(err)
					}
					if len(def.Served) == 0 || gv.Version != def.Served[0] {
						t.Errorf("%s is rendered as %s, but %v are served, the first of them the newest", kind, gv.Version, def.Served)
					}
					if gv.Version != def.Storage && (scope == pool.ScopeNamespaced || name == "LookAhead") {
						t.Errorf("%s is rendered as %s, but stored as %s", kind, gv.Version, def.Storage)
					}
				})
			}
		}
	}
}

// The check bites: what is wrong with a rendered resource is reported, each time.
func TestCRDsRefuse(t *testing.T) {
	cases := map[string]struct {
		reason   string
		resource string
		wrong    edit
		want     string
	}{
		"UnknownField": {
			reason:   "A misspelt field is unknown.",
			resource: "launch-template-497384ff",
			wrong:    set("spec.forProvider.imageID", "ami-1"),
			want:     "spec.forProvider.imageID: unknown field",
		},
		"UnknownFieldDeepInside": {
			reason:   "A misspelt field is unknown wherever it is.",
			resource: "launch-template-497384ff",
			wrong:    set("spec.forProvider.blockDeviceMappings[0].ebs.kmsKeyID", "k"),
			want:     "spec.forProvider.blockDeviceMappings[0].ebs.kmsKeyID: unknown field",
		},
		"Boolean": {
			reason:   "The booleans of block devices are text.",
			resource: "launch-template-497384ff",
			wrong:    set("spec.forProvider.blockDeviceMappings[0].ebs.encrypted", true),
			want:     "must be of type string",
		},
		"Number": {
			reason:   "The warmup is text.",
			resource: "autoscaling-group",
			wrong:    set("spec.forProvider.instanceRefresh.preferences.instanceWarmup", 300),
			want:     "must be of type string",
		},
		"Required": {
			reason:   "A region is required.",
			resource: "bootstrap-object",
			wrong:    unset("spec.forProvider.region"),
			want:     "spec.forProvider.region: Required value",
		},
		"Enum": {
			reason:   "A management policy is one of a few.",
			resource: "scaling-policy",
			wrong:    set("spec.managementPolicies", []any{"Guess"}),
			want:     "Unsupported value",
		},
		"Rule": {
			reason:   "What is required in forProvider or initProvider is required by a CEL rule.",
			resource: "lifecycle-hook-drain",
			wrong:    unset("spec.forProvider.lifecycleTransition"),
			want:     "spec.forProvider.lifecycleTransition is a required parameter",
		},
	}
	for version, dir := range crdDirs(t) {
		for name, tc := range cases {
			for _, namespace := range []string{"team-a", ""} {
				t.Run(version+"/"+name+"/"+scopeName(namespace), func(t *testing.T) {
					object := fieldpath.Pave(plain(t, rendered(t, aPool(namespace), tc.resource).Object))
					var err error
					if tc.wrong.value == nil {
						err = object.DeleteField(tc.wrong.path)
					} else {
						err = object.SetValue(tc.wrong.path, tc.wrong.value)
					}
					if err != nil {
						t.Fatal(err)
					}
					problems, err := dir.Check(context.Background(), object.UnstructuredContent())
					if err != nil {
						t.Fatal(err)
					}
					if !strings.Contains(strings.Join(problems, "\n"), tc.want) {
						t.Errorf("\n%s\nCheck(...): want %q, got %q", tc.reason, tc.want, problems)
					}
				})
			}
		}
	}
	t.Run("KindOfClusterProviderConfig", func(t *testing.T) {
		for version, dir := range crdDirs(t) {
			object := fieldpath.Pave(plain(t, rendered(t, aPool(""), "scaling-policy").Object))
			if err := object.SetValue("spec.providerConfigRef.kind", "ProviderConfig"); err != nil {
				t.Fatal(err)
			}
			problems, err := dir.Check(context.Background(), object.UnstructuredContent())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"spec.providerConfigRef.kind: unknown field"}, problems); diff != "" {
				t.Errorf("%s: in cluster scope the reference has no kind: -want, +got:\n%s", version, diff)
			}
		}
	})
}
