package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestImage(t *testing.T) {
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
		"Pinned": {
			reason: "An id may be pinned, and have either length.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.MachineImage.ID = new("ami-0abc1234")
			}},
		},
		"BadID": {
			reason: "An id is hexadecimal.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.MachineImage.ID = new("ami-XYZ")
			}},
			want: want{errs: []string{
				`spec.machineImage.id: Invalid value: "ami-XYZ": must be an AMI id such as ami-0123456789abcdef0`,
			}},
		},
		"Version": {
			reason: "A version has three numbers, and may have a suffix.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.KubernetesVersion = new("1.34.1+rke2r1")
			}},
		},
		"BadVersion": {
			reason: "Image names hold all three numbers.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.KubernetesVersion = new("v1.34")
			}},
			want: want{errs: []string{
				`spec.kubernetesVersion: Invalid value: "v1.34": must be a Kubernetes version such as v1.34.1 or v1.34.1+rke2r1`,
			}},
		},
		"Suffix": {
			reason: "A format may ask for the suffix beside the version.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.MachineImage.NameFormat = "rke2-{semver}-{suffix}-*"
			}},
		},
		"SuffixAlone": {
			reason: "A suffix without the version names no kubelet.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.MachineImage.NameFormat = "rke2-{suffix}-*"
			}},
			want: want{errs: []string{
				`spec.machineImage.nameFormat: Invalid value: "rke2-{suffix}-*": must hold {semver} or {version}, where the Kubernetes version goes`,
			}},
		},
		"NoPlaceholder": {
			reason: "Without the version, the newest image would do, whatever its kubelet.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.MachineImage.NameFormat = "my-image"
			}},
			want: want{errs: []string{
				`spec.machineImage.nameFormat: Invalid value: "my-image": must hold {semver} or {version}, where the Kubernetes version goes`,
			}},
		},
		"BadFormat": {
			reason: "Characters that no name has could change what the filter means.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.MachineImage.NameFormat = "{semver}\\*"
			}},
			want: want{errs: []string{
				`spec.machineImage.nameFormat: Invalid value: "{semver}\\*": may hold only what an AMI's name can (letters, digits, spaces and ( ) [ ] . / @ _ - and single quotes), the wildcards * and ?, {semver}, {version} and {suffix}`,
			}},
		},
		"Wildcards": {
			reason: "Every name that AWS answers is held against each wildcard.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.MachineImage.NameFormat = "{semver}*?*?*?*?*?*"
			}},
			want: want{errs: []string{
				`spec.machineImage.nameFormat: Invalid value: "{semver}*?*?*?*?*?*": may hold at most 10 wildcards`,
			}},
		},
		"All": {
			reason: "Everything about an image should be told at once.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.MachineImage = v1alpha1.MachineImage{Owner: "1234", Architecture: "aarch64", RootDeviceName: "sda1"}
			}},
			want: want{errs: []string{
				`spec.machineImage.architecture: Unsupported value: "aarch64": supported values: "x86_64", "arm64"`,
				`spec.machineImage.owner: Invalid value: "1234": must be a 12-digit AWS account id, self, amazon, aws-marketplace or aws-backup-vault`,
				`spec.machineImage.rootDeviceName: Invalid value: "sda1": must be a device such as /dev/sda1 or /dev/xvda`,
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
