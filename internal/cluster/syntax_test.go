package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestCheckSyntax(t *testing.T) {
	good := func() *v1alpha1.Exports {
		return &v1alpha1.Exports{
			Region:              "us-gov-west-1",
			KubernetesClusterID: "demo-1960e37c",
			FailureDomains:      map[string]v1alpha1.FailureDomain{"us-gov-west-1a": {SubnetID: "subnet-0aaa0000000000001"}},
			SecurityGroupIDs:    v1alpha1.SecurityGroupIDs{Worker: []string{"sg-0e0000000000000e1"}},
			InstanceProfiles:    v1alpha1.InstanceProfiles{Worker: "demo-worker"},
			BootstrapBucket:     "demo-bootstrap",
		}
	}
	cases := map[string]struct {
		reason string
		args   func(*v1alpha1.Exports)
		want   []string
	}{
		"Good": {
			reason: "Exports as AWS takes them pass, in every partition.",
			args:   func(*v1alpha1.Exports) {},
		},
		"Region": {
			reason: "A region becomes part of the host names that signed requests go to.",
			args:   func(e *v1alpha1.Exports) { e.Region = `us east"; rm` },
			want:   []string{`spec.cluster.exports.region: Invalid value: "us east\"; rm": must be an AWS region such as us-east-1`},
		},
		"ClusterID": {
			reason: "A tag's key has 128 characters at most, 22 of which come before the id.",
			args:   func(e *v1alpha1.Exports) { e.KubernetesClusterID = strings.Repeat("c", 107) },
			want:   []string{`spec.cluster.exports.kubernetes_cluster_id: Invalid value: "` + strings.Repeat("c", 107) + `": must be 1 to 106 letters, digits and + - = . _ : / @`},
		},
		"Profile": {
			reason: "A launch template takes a name here, and an ARN elsewhere.",
			args: func(e *v1alpha1.Exports) {
				e.InstanceProfiles.Worker = "arn:aws:iam::123456789012:instance-profile/demo"
			},
			want: []string{`spec.cluster.exports.instance_profiles.worker: Invalid value: "arn:aws:iam::123456789012:instance-profile/demo": must be the name of an instance profile, not its ARN`},
		},
		"Bucket": {
			reason: "A slash would move the key.",
			args:   func(e *v1alpha1.Exports) { e.BootstrapBucket = "a/b" },
			want:   []string{`spec.cluster.exports.bootstrap_bucket: Invalid value: "a/b": must be the name of an S3 bucket`},
		},
		"Many": {
			reason: "Every fault is named, by its path.",
			args: func(e *v1alpha1.Exports) {
				e.FailureDomains["us-gov-west-1b"] = v1alpha1.FailureDomain{SubnetID: "vpc-1"}
				e.SecurityGroupIDs.Worker = append(e.SecurityGroupIDs.Worker, "web")
			},
			want: []string{
				`spec.cluster.exports.failure_domains[us-gov-west-1b].subnet_id: Invalid value: "vpc-1": must be a subnet id such as subnet-0123456789abcdef0`,
				`spec.cluster.exports.security_group_ids.worker[1]: Invalid value: "web": must be a security group id such as sg-0123456789abcdef0`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := good()
			tc.args(e)
			var got []string
			for _, err := range CheckSyntax(e, field.NewPath("spec", "cluster", "exports")) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckSyntax(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckSecurityGroups(t *testing.T) {
	path := field.NewPath("spec", "additionalSecurityGroupIDs")
	if err := CheckSecurityGroups(make([]string, 16), path); err != nil {
		t.Errorf("CheckSecurityGroups(16): unexpected error: %v", err)
	}
	const want = "spec.additionalSecurityGroupIDs: Invalid value: 18: with the cluster's worker groups these are 18 security groups, a network interface has 16 at most: remove 2"
	if diff := cmp.Diff(want, CheckSecurityGroups(make([]string, 18), path).Error()); diff != "" {
		t.Errorf("CheckSecurityGroups(18): -want, +got:\n%s", diff)
	}
}
