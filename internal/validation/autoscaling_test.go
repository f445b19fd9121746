package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestAutoscaling(t *testing.T) {
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
		"Off": {
			reason: "A pool may have a fixed size.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Replicas = new(int32(0))
			}},
		},
		"Negative": {
			reason: "A pool cannot have fewer members than none.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Replicas = new(int32(-1))
			}},
			want: want{errs: []string{
				`spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0`,
			}},
		},
		"Equal": {
			reason: "Bounds may be equal, and 0.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Autoscaling = &v1alpha1.Autoscaling{}
			}},
		},
		"Crossed": {
			reason: "A minimum above the maximum leaves no size.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: 5, MaxReplicas: 2}
			}},
			want: want{errs: []string{
				`spec.autoscaling.minReplicas: Invalid value: 5: minReplicas must not be greater than maxReplicas`,
			}},
		},
		"Target": {
			reason: "A target is a percentage.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Autoscaling = &v1alpha1.Autoscaling{TargetCPUPercent: 101}
			}},
			want: want{errs: []string{
				`spec.autoscaling.targetCPUPercent: Invalid value: 101: spec.autoscaling.targetCPUPercent in body should be less than or equal to 100`,
			}},
		},
		"Scaler": {
			reason: "There are two scalers.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Autoscaling = &v1alpha1.Autoscaling{Scaler: "Karpenter"}
			}},
			want: want{errs: []string{
				`spec.autoscaling.scaler: Unsupported value: "Karpenter": supported values: "Native", "External"`,
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
