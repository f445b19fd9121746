package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestNodeLabels(t *testing.T) {
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
			reason: "Labels with and without a prefix or a value should do.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.NodeLabels = map[string]string{"tier": "web", "example.com/a_b.C-d": ""}
			}},
		},
		"Refused": {
			reason: "A label that a kubelet may not set is left out, and no error.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.NodeLabels = map[string]string{"kubernetes.io/role": "x"}
			}},
		},
		"Quote": {
			reason: "A value cannot break out of the script's quotes.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.NodeLabels = map[string]string{"team": "platform'; reboot; '"}
			}},
			want: want{errs: []string{
				`spec.nodeLabels[team]: Invalid value: "platform'; reboot; '": a node label's value must be empty or at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with a letter or digit first and last`,
			}},
		},
		"Newline": {
			reason: "Nothing may follow a value on another line.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.NodeLabels = map[string]string{"team": "a\n"}
			}},
			want: want{errs: []string{
				`spec.nodeLabels[team]: Invalid value: "a\n": a node label's value must be empty or at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with a letter or digit first and last`,
			}},
		},
		"Keys": {
			reason: "Each key should be named, in order.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.NodeLabels = map[string]string{"b c": "x", "a//b": "x"}
			}},
			want: want{errs: []string{
				`spec.nodeLabels[a//b]: Invalid value: "x": a node label's key must be a name of at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with an optional DNS prefix as in example.com/tier`,
				`spec.nodeLabels[b c]: Invalid value: "x": a node label's key must be a name of at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with an optional DNS prefix as in example.com/tier`,
			}},
		},
		"Ignition": {
			reason: "Ignition has no script that could set labels.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Bootstrap.Format = v1alpha1.BootstrapFormatIgnition
				s.NodeLabels = map[string]string{"tier": "web"}
			}},
			want: want{errs: []string{
				`spec.nodeLabels: Invalid value: "": nodeLabels need bootstrap format cloud-config: with ignition, remove them and set the labels in the Ignition config`,
			}},
		},
		"IgnitionRefused": {
			reason: "Labels that are left out are none.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Bootstrap.Format = v1alpha1.BootstrapFormatIgnition
				s.NodeLabels = map[string]string{"node-restriction.kubernetes.io/x": "y"}
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
