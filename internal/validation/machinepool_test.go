package validation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestMachinePoolTellsAllAtOnce(t *testing.T) {
	errs := MachinePool(pool(func(s *v1alpha1.MachinePoolSpec) {
		s.Replicas = new(int32(-1))
		s.InstanceType = "m6i"
		s.AdditionalTags = map[string]string{"d#": "", "c#": "", "b#": "", "a#": ""}
	}))

	paths := make([]string, 0, len(errs))
	for _, err := range errs {
		paths = append(paths, err.Field)
	}

	want := []string{
		"spec.additionalTags[a#]", "spec.additionalTags[b#]", "spec.additionalTags[c#]", "spec.additionalTags[d#]",
		"spec.instanceType", "spec.replicas",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("MachinePool(...): -want, +got:\n%s", diff)
	}
	if !slices.IsSorted(paths) {
		t.Errorf("MachinePool(...): want errors sorted by path, got %q", paths)
	}
}

func TestNamespaces(t *testing.T) {
	type args struct {
		secret    string
		namespace string
	}

	type want struct {
		errs []string
	}

	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Namespaced": {
			reason: "The namespace of a pool, or of its claim, should be that of its Secret.",
			args:   args{namespace: "team-a"},
		},
		"Named": {
			reason: "It can be said as well.",
			args:   args{namespace: "team-a", secret: "team-a"},
		},
		"OfAnother": {
			reason: "Who may create a pool in a namespace should not get at another's Secrets.",
			args:   args{namespace: "team-a", secret: "kube-system"},
			want: want{errs: []string{
				`spec.bootstrap.dataSecretRef.namespace: Invalid value: "kube-system": a pool takes its bootstrap data from its own namespace, team-a: leave this out, and put the Secret there`,
			}},
		},
		"ClusterScoped": {
			reason: "A cluster-scoped pool should do when it names its Secret's namespace.",
			args:   args{secret: "team-a"},
		},
		"Neither": {
			reason: "A cluster-scoped pool should be told that nothing says where its Secret is.",
			want: want{errs: []string{
				`spec.bootstrap.dataSecretRef.namespace: Required value: a cluster-scoped pool has no namespace of its own: name the Secret's`,
			}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := pool(func(s *v1alpha1.MachinePoolSpec) { s.Bootstrap.DataSecretRef.Namespace = tc.args.secret })
			if diff := cmp.Diff(tc.want.errs, messages(Namespaces(p, tc.args.namespace))); diff != "" {
				t.Errorf("%s\nNamespaces(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
