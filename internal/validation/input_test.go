package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
)

func TestInput(t *testing.T) {
	type args struct {
		input v1beta1.Input
	}

	type want struct {
		errs []string
	}

	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Defaults": {
			reason: "An Input that says nothing should do.",
		},
		"Secret": {
			reason: "Identity Secret should ask for the credential's name.",
			args:   args{input: v1beta1.Input{AWS: v1beta1.AWS{Identity: v1beta1.IdentitySecret}}},
			want:   want{errs: []string{`aws.credentials: Invalid value: "": identity Secret needs the name of a credential of this pipeline step`}},
		},
		"SecretNamed": {
			reason: "A credential that is named should do.",
			args:   args{input: v1beta1.Input{AWS: v1beta1.AWS{Identity: v1beta1.IdentitySecret, Credentials: "aws-creds"}}},
		},
		"Chain": {
			reason: "Roles of each partition, with and without an external id, should do.",
			args: args{input: v1beta1.Input{AWS: v1beta1.AWS{Identity: v1beta1.IdentityPod, AssumeRoleChain: []v1beta1.AssumeRole{
				{RoleARN: "arn:aws-cn:iam::123456789012:role/path/r+=,.@-_", ExternalID: "a:/b"},
				{RoleARN: "arn:aws:iam::123456789012:role/r"},
			}}}},
		},
		"BadChain": {
			reason: "A link's place should be told, and its external id should not be shown.",
			args: args{input: v1beta1.Input{AWS: v1beta1.AWS{AssumeRoleChain: []v1beta1.AssumeRole{
				{},
				{RoleARN: "arn:aws:iam::123456789012:user/u", ExternalID: "s3cr3t!"},
			}}}},
			want: want{errs: []string{
				`aws.assumeRoleChain[0].roleARN: Required value`,
				`aws.assumeRoleChain[1].externalID: Invalid value: "<hidden>": must be 2 to 1224 letters, digits and + = , . @ : / - _`,
				`aws.assumeRoleChain[1].roleARN: Invalid value: "arn:aws:iam::123456789012:user/u": must be the ARN of an IAM role`,
			}},
		},
		"LongChain": {
			reason: "A chain has a limit.",
			args:   args{input: v1beta1.Input{AWS: v1beta1.AWS{AssumeRoleChain: roles(11)}}},
			want:   want{errs: []string{`aws.assumeRoleChain: Too many: 11: must have at most 10 items`}},
		},
		"Refresh": {
			reason: "A response without a time to live would never be asked for again.",
			args:   args{input: v1beta1.Input{Refresh: v1beta1.Refresh{StableSeconds: 86401, ChangingSeconds: -1}}},
			want: want{errs: []string{
				`refresh.changingSeconds: Invalid value: -1: refresh.changingSeconds in body should be greater than or equal to 1`,
				`refresh.stableSeconds: Invalid value: 86401: refresh.stableSeconds in body should be less than or equal to 86400`,
			}},
		},
		"All": {
			reason: "Everything about an Input should be told at once, sorted by path.",
			args: args{input: v1beta1.Input{
				ProviderConfigRef: v1beta1.ProviderConfigReference{Kind: "Config", Name: "Default"},
				Tags:              map[string]string{"machinepool.fn.crossplane.io/name": "x", "owner": "x#1"},
				AWS:               v1beta1.AWS{Identity: "IRSA"},
			}},
			want: want{errs: []string{
				`aws.identity: Unsupported value: "IRSA": supported values: "None", "Secret", "Pod"`,
				`providerConfigRef.kind: Unsupported value: "Config": supported values: "ClusterProviderConfig", "ProviderConfig"`,
				`providerConfigRef.name: Invalid value: "Default": must be the name of a provider configuration: lower-case letters, digits, - and ., with a letter or digit first and last`,
				`tags[machinepool.fn.crossplane.io/name]: Invalid value: "machinepool.fn.crossplane.io/name": a tag's key must not be KubernetesCluster or start with aws:, captf.io/, crossplane-, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/, in any case: these are reserved`,
				`tags[owner]: Invalid value: "x#1": a tag's value may hold only letters, numbers, spaces and + - = . _ : / @`,
			}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := tc.args.input
			in.Default()
			if diff := cmp.Diff(tc.want.errs, messages(Input(&in))); diff != "" {
				t.Errorf("%s\nInput(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func roles(n int) []v1beta1.AssumeRole {
	all := make([]v1beta1.AssumeRole, n)
	for i := range all {
		all[i].RoleARN = "arn:aws:iam::123456789012:role/r"
	}

	return all
}
