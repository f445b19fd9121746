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
				`spec.failureDomains[0]: Invalid value: "": must be the name of an availability zone such as us-east-1a or us-west-2-lax-1a`,
			}},
		},
		"Comma": {
			reason: "The record of zones is a list with commas.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.FailureDomains = []string{"us-east-1a,us-east-1b"}
			}},
			want: want{errs: []string{
				`spec.failureDomains[0]: Invalid value: "us-east-1a,us-east-1b": must be the name of an availability zone such as us-east-1a or us-west-2-lax-1a`,
			}},
		},
		"Many": {
			reason: "A list that is too long should be told by its length alone, before its items are looked at.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.FailureDomains = make([]string, 100_000)
			}},
			want: want{errs: []string{
				`spec.failureDomains: Too many: 100000: must have at most 32 items`,
			}},
		},
		"Unknown": {
			reason: "Whether the cluster has a zone is not for this package to say.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.FailureDomains = []string{"us-east-1z"}
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
