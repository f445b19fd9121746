package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestInstance(t *testing.T) {
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
		"Type": {
			reason: "A family alone is no type.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.InstanceType = "m6i"
			}},
			want: want{errs: []string{
				`spec.instanceType: Invalid value: "m6i": must be an EC2 instance type such as m6i.large`,
			}},
		},
		"Metal": {
			reason: "Every type that AWS has should do.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.InstanceType = "u7i-12tb.224xlarge"
			}},
		},
		"HopLimit": {
			reason: "EC2 has a limit.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.InstanceMetadataHopLimit = 65
			}},
			want: want{errs: []string{
				`spec.instanceMetadataHopLimit: Invalid value: 65: spec.instanceMetadataHopLimit in body should be less than or equal to 64`,
			}},
		},
		"KeyName": {
			reason: "A key pair has a name.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.SSHKeyName = new("")
			}},
			want: want{errs: []string{
				`spec.sshKeyName: Invalid value: "": must be the name of an EC2 key pair: 1 to 255 characters and no control characters`,
			}},
		},
		"KeyNameLong": {
			reason: "Characters count, not bytes.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.SSHKeyName = new(strings.Repeat("ö", 255))
			}},
		},
		"Groups": {
			reason: "A name is no id, and its place should be told.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalSecurityGroupIDs = []string{"sg-0123456789abcdef0", "bastion"}
			}},
			want: want{errs: []string{
				`spec.additionalSecurityGroupIDs[1]: Invalid value: "bastion": must be a security group id such as sg-0123456789abcdef0`,
			}},
		},
		"GroupRepeated": {
			reason: "A group that is named twice is put on once, which is no error.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.AdditionalSecurityGroupIDs = []string{"sg-0abc1234", "sg-0abc1234"}
			}},
		},
		"Volume": {
			reason: "Everything about a volume should be told at once.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.RootVolume = v1alpha1.RootVolume{SizeGiB: 16385, Type: "st1", KMSKeyID: new("alias/aws/ebs")}
			}},
			want: want{errs: []string{
				`spec.rootVolume.kmsKeyID: Invalid value: "alias/aws/ebs": must be the ARN of a KMS key: arn:<partition>:kms:<region>:<account>:key/<id>`,
				`spec.rootVolume.sizeGiB: Invalid value: 16385: spec.rootVolume.sizeGiB in body should be less than or equal to 16384`,
				`spec.rootVolume.type: Unsupported value: "st1": supported values: "gp3", "gp2"`,
			}},
		},
		"KeyOfPartition": {
			reason: "Each partition of AWS has keys.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.RootVolume.KMSKeyID = new("arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/mrk-1234abcd12ab34cd56ef1234567890ab")
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
