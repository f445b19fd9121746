package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
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
				`spec.additionalTags[aWs:team]: Invalid value: "aWs:team": a tag's key must not start with aws:, captf.io/, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/: these are reserved`,
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
				`spec.additionalTags[captf.io/x#]: Invalid value: "captf.io/x#": a tag's key may hold only letters, numbers, spaces and + - = . _ : / @`,
				`spec.additionalTags[captf.io/x#]: Invalid value: "captf.io/x#": a tag's key must not start with aws:, captf.io/, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/: these are reserved`,
				`spec.additionalTags[captf.io/x#]: Invalid value: "y#": a tag's value may hold only letters, numbers, spaces and + - = . _ : / @`,
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
