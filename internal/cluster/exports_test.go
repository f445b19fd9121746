package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// exports that are complete, changed by each of the given functions.
func exports(change ...func(e *v1alpha1.Exports)) *v1alpha1.Exports {
	e := &v1alpha1.Exports{
		Schema:              "captf.io/aws-cluster/v1",
		Region:              "us-east-1",
		KubernetesClusterID: "demo-1960e37c",
		FailureDomains:      map[string]v1alpha1.FailureDomain{"us-east-1a": {SubnetID: "subnet-a"}, "us-east-1b": {SubnetID: "subnet-b"}},
		SecurityGroupIDs:    v1alpha1.SecurityGroupIDs{Worker: []string{"sg-1"}},
		InstanceProfiles:    v1alpha1.InstanceProfiles{Worker: "demo-worker"},
		BootstrapBucket:     "demo-bootstrap",
	}
	for _, f := range change {
		f(e)
	}
	return e
}

func TestMissing(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *v1alpha1.Exports
		want   []string
	}{
		"Complete":  {reason: "Complete exports lack nothing.", args: exports()},
		"Schema":    {reason: "The contract is needed.", args: exports(func(e *v1alpha1.Exports) { e.Schema = "" }), want: []string{"schema"}},
		"Region":    {reason: "A region is needed.", args: exports(func(e *v1alpha1.Exports) { e.Region = "" }), want: []string{"region"}},
		"ClusterID": {reason: "A cluster id is needed.", args: exports(func(e *v1alpha1.Exports) { e.KubernetesClusterID = "" }), want: []string{"kubernetes_cluster_id"}},
		"Profile":   {reason: "The worker's instance profile is needed.", args: exports(func(e *v1alpha1.Exports) { e.InstanceProfiles.Worker = "" }), want: []string{"instance_profiles.worker"}},
		"Bucket":    {reason: "The bootstrap bucket is needed.", args: exports(func(e *v1alpha1.Exports) { e.BootstrapBucket = "" }), want: []string{"bootstrap_bucket"}},
		"NoZones":   {reason: "A zone is needed.", args: exports(func(e *v1alpha1.Exports) { e.FailureDomains = nil }), want: []string{"failure_domains"}},
		"NoSubnets": {
			reason: "Every zone needs a subnet, and each that lacks one is named.",
			args: exports(func(e *v1alpha1.Exports) {
				e.FailureDomains["us-east-1c"] = v1alpha1.FailureDomain{}
				e.FailureDomains["us-east-1a"] = v1alpha1.FailureDomain{}
			}),
			want: []string{"failure_domains.us-east-1a.subnet_id", "failure_domains.us-east-1c.subnet_id"},
		},
		"NoGroups": {reason: "A security group of the workers is needed.", args: exports(func(e *v1alpha1.Exports) { e.SecurityGroupIDs.Worker = nil }), want: []string{"security_group_ids.worker"}},
		"EmptyGroup": {
			reason: "An empty security group is none.",
			args:   exports(func(e *v1alpha1.Exports) { e.SecurityGroupIDs.Worker = []string{"sg-1", ""} }),
			want:   []string{"security_group_ids.worker"},
		},
		"All": {
			reason: "All that is missing is named, sorted.",
			args:   &v1alpha1.Exports{},
			want:   []string{"bootstrap_bucket", "failure_domains", "instance_profiles.worker", "kubernetes_cluster_id", "region", "schema", "security_group_ids.worker"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Missing(tc.args)); diff != "" {
				t.Errorf("\n%s\nMissing(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckSchema(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *v1alpha1.Exports
		want   string
	}{
		"Supported": {reason: "The one schema is fine.", args: exports()},
		"None":      {reason: "Exports that name no schema are incomplete, not of another one.", args: exports(func(e *v1alpha1.Exports) { e.Schema = "" })},
		"Other": {
			reason: "Another schema is refused, and both are named.",
			args:   exports(func(e *v1alpha1.Exports) { e.Schema = "captf.io/azure-cluster/v1" }),
			want:   `spec.cluster.exportsFrom.schema: Invalid value: "captf.io/azure-cluster/v1": the cluster exports schema "captf.io/azure-cluster/v1", this function reads "captf.io/aws-cluster/v1": point the pool at exports of that schema`,
		},
		"OtherVersion": {
			reason: "Another version of the schema is another schema.",
			args:   exports(func(e *v1alpha1.Exports) { e.Schema = "captf.io/aws-cluster/v2" }),
			want:   `spec.cluster.exportsFrom.schema: Invalid value: "captf.io/aws-cluster/v2": the cluster exports schema "captf.io/aws-cluster/v2", this function reads "captf.io/aws-cluster/v1": point the pool at exports of that schema`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckSchema(tc.args, field.NewPath("spec", "cluster", "exportsFrom")); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckSchema(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckComplete(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *v1alpha1.Exports
		want   string
	}{
		"Complete": {reason: "Complete exports are fine.", args: exports()},
		"Incomplete": {
			reason: "All missing fields are in one message.",
			args: exports(func(e *v1alpha1.Exports) {
				e.Region, e.BootstrapBucket = "", ""
				e.FailureDomains = map[string]v1alpha1.FailureDomain{"us-east-1a": {}}
			}),
			want: "spec.cluster.exports: Required value: the exports lack bootstrap_bucket, failure_domains.us-east-1a.subnet_id, region: add them",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckComplete(tc.args, field.NewPath("spec", "cluster", "exports")); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckComplete(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
