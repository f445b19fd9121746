package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestCluster(t *testing.T) {
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
		"Neither": {
			reason: "A pool without exports should be told both ways to get them.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Cluster = v1alpha1.ClusterSource{}
			}},
			want: want{errs: []string{
				`spec.cluster: Invalid value: "": set exportsFrom, exports or both: a pool takes its region, subnets and bucket from its cluster's exports`,
			}},
		},
		"Both": {
			reason: "Inline exports may stand in for a reference that leads to nothing.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Cluster.ExportsFrom = &v1alpha1.ExportsReference{APIVersion: "v1", Kind: "ConfigMap", Name: "demo"}
			}},
		},
		"OtherSchema": {
			reason: "Another schema should be named beside ours.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Cluster.Exports.Schema = "captf.io/aws-cluster/v2"
			}},
			want: want{errs: []string{
				`spec.cluster.exports.schema: Invalid value: "captf.io/aws-cluster/v2": the cluster exports schema "captf.io/aws-cluster/v2", this function reads "captf.io/aws-cluster/v1": point the pool at exports of that schema`,
			}},
		},
		"Incomplete": {
			reason: "Which exports are missing is for the cluster package to say.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Cluster.Exports = &v1alpha1.Exports{Schema: v1alpha1.ExportsSchema, Region: "us-east-1"}
			}},
		},
		"EmptyReference": {
			reason: "Everything that a reference lacks should be named at once.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Cluster = v1alpha1.ClusterSource{ExportsFrom: &v1alpha1.ExportsReference{}}
			}},
			want: want{errs: []string{
				`spec.cluster.exportsFrom.apiVersion: Required value`,
				`spec.cluster.exportsFrom.kind: Required value`,
				`spec.cluster.exportsFrom.name: Required value`,
			}},
		},
		"BadReference": {
			reason: "Each part of a reference should be judged by itself.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.Cluster.ExportsFrom = &v1alpha1.ExportsReference{APIVersion: "example.org", Kind: "clusters", Name: "demo", Namespace: "Team_A"}
			}},
			want: want{errs: []string{
				`spec.cluster.exportsFrom.apiVersion: Invalid value: "example.org": must be an API version such as v1 or example.org/v1`,
				`spec.cluster.exportsFrom.kind: Invalid value: "clusters": must be a kind such as Cluster`,
				`spec.cluster.exportsFrom.namespace: Invalid value: "Team_A": must be the name of a namespace: lower-case letters, digits and -, with a letter or digit first and last`,
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
