package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// derive returns the CRDs that Crossplane makes of each variant of the XRD, by what they are for.
func derive(t *testing.T) map[string]*extv1.CustomResourceDefinition {
	t.Helper()

	crds := map[string]*extv1.CustomResourceDefinition{}
	for name, xrd := range variants(t) {
		var err error
		if crds[name], err = xcrd.ForCompositeResource(xrd); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if xrd.Spec.ClaimNames == nil {
			continue
		}
		if crds[name+" claim"], err = xcrd.ForCompositeResourceClaim(xrd); err != nil {
			t.Fatalf("%s claim: %v", name, err)
		}
	}

	return crds
}

func servers(t *testing.T) map[string]*Server {
	t.Helper()

	all := map[string]*Server{}
	for name, crd := range derive(t) {
		server, err := NewServer(crd)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = server
	}

	return all
}

func TestCRD(t *testing.T) {
	scopes := map[string]extv1.ResourceScope{
		"Namespaced":          extv1.NamespaceScoped,
		"Cluster":             extv1.ClusterScoped,
		"LegacyCluster":       extv1.ClusterScoped,
		"LegacyCluster claim": extv1.NamespaceScoped,
	}

	crds := derive(t)
	if diff := cmp.Diff(len(scopes), len(crds)); diff != "" {
		t.Errorf("CRDs: -want, +got:\n%s", diff)
	}

	for name, scope := range scopes {
		t.Run(name, func(t *testing.T) {
			crd := crds[name]
			if err := Validate(crd); err != nil {
				t.Errorf("Validate(...): an API server refuses the CRD: %v", err)
			}
			if diff := cmp.Diff(scope, crd.Spec.Scope); diff != "" {
				t.Errorf("scope: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestInputCRD(t *testing.T) {
	crd, err := ReadCRD("../../package/input/machinepool.fn.crossplane.io_inputs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(crd); err != nil {
		t.Errorf("Validate(...): an API server refuses the CRD: %v", err)
	}
}

func TestScale(t *testing.T) {
	want := &extv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"}

	crd := derive(t)["Namespaced"]
	if diff := cmp.Diff(want, crd.Spec.Versions[0].Subresources.Scale); diff != "" {
		t.Errorf("scale: -want, +got:\n%s", diff)
	}
}

func TestAdmitsTheDesign(t *testing.T) {
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{}, says(server.Admit(readXR(t, "pool.yaml")))); diff != "" {
				t.Errorf("Admit(...): -want, +got:\n%s", diff)
			}
		})
	}
}

func TestAdmits(t *testing.T) {
	all := servers(t)
	for name, tc := range readCases(t, "accepted.yaml") {
		t.Run(name, func(t *testing.T) {
			for variant, server := range all {
				if diff := cmp.Diff([]string{}, says(server.Admit(patched(t, tc.Spec)))); diff != "" {
					t.Errorf("%s\n%s: Admit(...): -want, +got:\n%s", tc.Reason, variant, diff)
				}
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	all := servers(t)
	for name, tc := range readCases(t, "refused.yaml") {
		t.Run(name, func(t *testing.T) {
			slices.Sort(tc.Says)
			for variant, server := range all {
				if diff := cmp.Diff(tc.Says, says(server.Admit(patched(t, tc.Spec)))); diff != "" {
					t.Errorf("%s\n%s: Admit(...): -want, +got:\n%s", tc.Reason, variant, diff)
				}
			}
		})
	}
}

func TestRefusesUnknownFields(t *testing.T) {
	xr := readXR(t, "sparse.yaml")
	merge(xr, map[string]any{"spec": map[string]any{"instancetype": "m6i.large"}})

	want := []string{"spec.instancetype: Forbidden: unknown field"}
	if diff := cmp.Diff(want, says(servers(t)["Namespaced"].Admit(xr))); diff != "" {
		t.Errorf("Admit(...): -want, +got:\n%s", diff)
	}
}

// Unknown fields have no bound: 460,000 empty objects in one of the exports cost 95 MB in a run. The contract has more fields
// than a pool reads, at every level.
func TestPrunesUnknownExports(t *testing.T) {
	xr, want := readXR(t, "pool.yaml"), readXR(t, "pool.yaml")
	merge(xr, map[string]any{"spec": map[string]any{"cluster": map[string]any{"exports": map[string]any{
		"vpc_id":             "vpc-0123456789abcdef0",
		"api":                map[string]any{"endpoint": "https://example.org"},
		"failure_domains":    map[string]any{"us-east-1a": map[string]any{"zone_id": "use1-az1"}},
		"security_group_ids": map[string]any{"control_plane": []any{"sg-0c0000000000000c1"}},
		"instance_profiles":  map[string]any{"control_plane": "demo-control-plane"},
	}}}})

	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			xr := runtime.DeepCopyJSON(xr)
			pruned := []string{
				"spec.cluster.exports.api: Forbidden: unknown field",
				"spec.cluster.exports.failure_domains.us-east-1a.zone_id: Forbidden: unknown field",
				"spec.cluster.exports.instance_profiles.control_plane: Forbidden: unknown field",
				"spec.cluster.exports.security_group_ids.control_plane: Forbidden: unknown field",
				"spec.cluster.exports.vpc_id: Forbidden: unknown field",
			}
			if diff := cmp.Diff(pruned, says(server.prune(xr))); diff != "" {
				t.Errorf("prune(...): -want, +got:\n%s", diff)
			}

			exports := func(xr map[string]any) any {
				return xr["spec"].(map[string]any)["cluster"].(map[string]any)["exports"]
			}
			if diff := cmp.Diff(exports(want), exports(xr)); diff != "" {
				t.Errorf("exports: -want, +got:\n%s", diff)
			}
		})
	}
}

// A rule's cost is estimated when the CRD is made and counted when an XR is admitted, against budgets of their own.
func TestAdmitsTheLargest(t *testing.T) {
	labels, tags, hooks := map[string]any{}, map[string]any{}, make([]any, 0, 50)
	zones, groups, chosen := map[string]any{}, make([]any, 0, 16), make([]any, 0, 32)
	for i := range 63 { // And the one of pool.yaml.
		name := fmt.Sprintf("us-gov-west-1-%s-%02d", strings.Repeat("z", 46), i)
		zones[name] = map[string]any{"subnet_id": fmt.Sprintf("subnet-%017x", i)}
		if i < 32 {
			chosen = append(chosen, name)
		}
	}
	for i := range 16 {
		groups = append(groups, fmt.Sprintf("sg-%017x", i))
	}
	for i := range 128 {
		labels[fmt.Sprintf("%s.%03d/%s", strings.Repeat("a", 249), i, strings.Repeat("b", 63))] = strings.Repeat("c", 63)
	}
	for i := range 40 {
		tags[fmt.Sprintf("%s%02d", strings.Repeat("ö", 126), i)] = strings.Repeat("ü", 256)
	}
	for i := range 50 {
		hooks = append(hooks, map[string]any{
			"name":                  fmt.Sprintf("%s%02d", strings.Repeat("h", 253), i),
			"transition":            "Launching",
			"notificationTargetARN": "arn:aws:sns:us-east-1:123456789012:" + strings.Repeat("t", 220),
			"roleARN":               "arn:aws:iam::123456789012:role/" + strings.Repeat("r", 224),
		})
	}

	xr := readXR(t, "pool.yaml")
	merge(xr, map[string]any{"spec": map[string]any{
		"nodeLabels": labels, "additionalTags": tags, "lifecycleHooks": hooks, "failureDomains": chosen,
		"cluster": map[string]any{"exports": map[string]any{
			"kubernetes_cluster_id": strings.Repeat("c", 106),
			"bootstrap_bucket":      strings.Repeat("b", 63),
			"instance_profiles":     map[string]any{"worker": strings.Repeat("p", 128)},
			"failure_domains":       zones,
			"security_group_ids":    map[string]any{"worker": groups},
		}},
	}})

	if diff := cmp.Diff([]string{}, says(servers(t)["Namespaced"].Admit(xr))); diff != "" {
		t.Errorf("Admit(...): -want, +got:\n%s", diff)
	}
}
