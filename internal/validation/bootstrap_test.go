package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestBootstrap(t *testing.T) {
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
		"Secret": {
			reason: "Each part of the reference should be judged by itself.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Bootstrap = v1alpha1.Bootstrap{DataSecretRef: v1alpha1.SecretKeyReference{Name: "Demo_Pool", Namespace: "team.a", Key: "a/b"}}
			}},
			want: want{errs: []string{
				`spec.bootstrap.dataSecretRef.key: Invalid value: "a/b": must be a Secret's key: letters, digits, -, _ and ., not . alone and not .. first`,
				`spec.bootstrap.dataSecretRef.name: Invalid value: "Demo_Pool": must be the name of a Secret: lower-case letters, digits, - and ., with a letter or digit first and last`,
				`spec.bootstrap.dataSecretRef.namespace: Invalid value: "team.a": must be the name of a namespace: lower-case letters, digits and -, with a letter or digit first and last`,
			}},
		},
		"None": {
			reason: "An instance without bootstrap data never joins.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Bootstrap = v1alpha1.Bootstrap{}
			}},
			want: want{errs: []string{
				`spec.bootstrap.dataSecretRef.name: Required value`,
			}},
		},
		"Format": {
			reason: "There are two formats.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Bootstrap.Format = "cloud-init"
			}},
			want: want{errs: []string{
				`spec.bootstrap.format: Unsupported value: "cloud-init": supported values: "cloud-config", "ignition"`,
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
