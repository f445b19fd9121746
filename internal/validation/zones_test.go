package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestFailureDomains(t *testing.T) {
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
		"Repeated": {
			reason: "A zone that is named twice should be told with its place.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.FailureDomains = []string{"us-east-1a", "us-east-1b", "us-east-1a"}
			}},
			want: want{errs: []string{
				`spec.failureDomains[2]: Duplicate value: "us-east-1a"`,
			}},
		},
		"Empty": {
			reason: "A zone has a name.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.FailureDomains = []string{""}
			}},
			want: want{errs: []string{
				`spec.failureDomains[0]: Invalid value: "": spec.failureDomains[0] in body should be at least 1 chars long`,
			}},
		},
		"Unknown": {
			reason: "Whether the cluster has a zone is not for this package to say.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.FailureDomains = []string{"mars-1a"}
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
