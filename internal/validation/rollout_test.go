package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestRollout(t *testing.T) {
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
		"Warmup": {
			reason: "Time does not run backwards.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Rollout.InstanceWarmupSeconds = new(int32(-30))
			}},
			want: want{errs: []string{
				`spec.rollout.instanceWarmupSeconds: Invalid value: -30: spec.rollout.instanceWarmupSeconds in body should be greater than or equal to 0`,
			}},
		},
		"Trigger": {
			reason: "A trigger has a limit.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Rollout.Trigger = strings.Repeat("t", 256)
			}},
			want: want{errs: []string{
				`spec.rollout.trigger: Too long: may not be more than 255 bytes`,
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
