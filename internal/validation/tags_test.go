package validation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
)

func TestTags(t *testing.T) {
	type args struct {
		change func(*v1alpha1.MachinePoolSpec)
	}

	type want struct {
		errs []string
	}

	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Fine": {
			reason: "Every character that AWS takes should do.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalTags = map[string]string{"Köln 1 + - = . _ : / @": "Köln 1 + - = . _ : / @", "empty": ""}
			}},
		},
		"AWS": {
			reason: "AWS reserves its prefix in any case.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalTags = map[string]string{"aWs:team": "x"}
			}},
			want: want{errs: []string{
				`spec.additionalTags[aWs:team]: Invalid value: "aWs:team": a tag's key must not be KubernetesCluster or start with aws:, captf.io/, crossplane-, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/, in any case: these are reserved`,
			}},
		},
		"Autoscaler": {
			reason: "Cluster Autoscaler's tags should do.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalTags = map[string]string{"k8s.io/cluster-autoscaler/enabled": "true"}
			}},
		},
		"All": {
			reason: "Everything about a tag should be told at once.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalTags = map[string]string{"captf.io/x#": "y#"}
			}},
			want: want{errs: []string{
				`spec.additionalTags[captf.io/x#]: Invalid value: "captf.io/x#": a tag's key may hold only letters, numbers, + - = . _ : / @, and spaces that are not at its ends`,
				`spec.additionalTags[captf.io/x#]: Invalid value: "captf.io/x#": a tag's key must not be KubernetesCluster or start with aws:, captf.io/, crossplane-, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/, in any case: these are reserved`,
				`spec.additionalTags[captf.io/x#]: Invalid value: "y#": a tag's value may hold only letters, numbers, spaces and + - = . _ : / @`,
			}},
		},
		"SpaceAtTheEnd": {
			reason: "Nobody sees that a key ends with a space, and it would be another tag.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalTags = map[string]string{"team ": "x"}
			}},
			want: want{errs: []string{
				`spec.additionalTags[team ]: Invalid value: "team ": a tag's key may hold only letters, numbers, + - = . _ : / @, and spaces that are not at its ends`,
			}},
		},
		"SpaceAtTheStart": {
			reason: "A reserved key must not hide behind a space.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalTags = map[string]string{" aws:x": "x"}
			}},
			want: want{errs: []string{
				`spec.additionalTags[ aws:x]: Invalid value: " aws:x": a tag's key may hold only letters, numbers, + - = . _ : / @, and spaces that are not at its ends`,
			}},
		},
		"Lengths": {
			reason: "Characters count, not bytes.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalTags = map[string]string{strings.Repeat("ö", 128): strings.Repeat("ö", 256)}
			}},
		},
		"Long": {
			reason: "AWS limits both lengths.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalTags = map[string]string{"": strings.Repeat("x", 257)}
			}},
			want: want{errs: []string{
				`spec.additionalTags[]: Invalid value: "": a tag's key must have 1 to 128 characters`,
				`spec.additionalTags[]: Too long: may not be more than 256 bytes`,
			}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want.errs, messages(MachinePool(pool(tc.args.change)))); diff != "" {
				t.Errorf("%s\nMachinePool(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// Provider-aws writes crossplane-kind, crossplane-name and crossplane-providerconfig on what it makes. A second writer of these
// and the provider overwrite each other for ever.
func TestTheProvidersOwnTagsAreReserved(t *testing.T) {
	for _, key := range []string{"crossplane-kind", "crossplane-name", "crossplane-providerconfig", "crossplane-"} {
		wantReserved(t, key)
	}
}

// The keys of IAM's conditions have no case, so a reserved key in another case is as good as the key itself.
func TestReservedTagsInAnyCase(t *testing.T) {
	for _, key := range []string{
		"AWS:x", "aWs:x", "captf.IO/x", "Captf.io/x", "Crossplane-Name", "CROSSPLANE-KIND", "Kubernetes.io/cluster/victim", "kubernetes.io/CLUSTER/victim",
		"Machinepool.fn.crossplane.io/namespace", "MACHINEPOOL.FN.CROSSPLANE.IO/name", "KubernetesCluster", "kubernetescluster", "KUBERNETESCLUSTER",
	} {
		wantReserved(t, key)
	}
	for _, key := range []string{"KubernetesClusters", "my-KubernetesCluster", "crossplane", "kubernetes.io/role", "k8s.io/cluster-autoscaler/enabled", "awsx", "name"} {
		p := pool(func(s *v1alpha1.MachinePoolSpec) { s.AdditionalTags = map[string]string{key: "x"} })
		if got := messages(MachinePool(p)); len(got) > 0 {
			t.Errorf("%s is reserved: %q", key, got)
		}
	}
}

// wantReserved holds that no pool and no Composition can set a tag.
func wantReserved(t *testing.T, key string) {
	t.Helper()

	const words = "a tag's key must not be KubernetesCluster or start with aws:, captf.io/, crossplane-, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/, in any case: these are reserved"
	for path, got := range map[string][]string{
		"spec.additionalTags": messages(MachinePool(pool(func(s *v1alpha1.MachinePoolSpec) { s.AdditionalTags = map[string]string{key: "x"} }))),
		"tags":                messages(Input(input(func(in *v1beta1.Input) { in.Tags = map[string]string{key: "x"} }))),
	} {
		want := []string{fmt.Sprintf("%s[%s]: Invalid value: %q: %s", path, key, key, words)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s of %s: -want, +got:\n%s", key, path, diff)
		}
	}
}
