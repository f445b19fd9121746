package managed

import (
	"fmt"
	"maps"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// observed is a pool in a namespace whose group exists in AWS.
func observed(namespace string, change func(*pool.Observation)) *pool.Observation {
	composite := &v1alpha1.MachinePool{}
	composite.SetName("demo-pool-0")
	composite.SetNamespace(namespace)
	composite.Spec.MachineImage.ID = new("ami-0123456789abcdef0")
	composite.Spec.Bootstrap.DataSecretRef = v1alpha1.SecretKeyReference{Name: "demo-pool-0", Namespace: "team-a"}
	composite.Spec.Cluster.Exports = &v1alpha1.Exports{
		Schema: v1alpha1.ExportsSchema, Region: "us-east-1", KubernetesClusterID: "demo-1960e37c", BootstrapBucket: "demo-bootstrap",
		FailureDomains:   map[string]v1alpha1.FailureDomain{"us-east-1a": {SubnetID: "subnet-0aaa0000000000001"}},
		SecurityGroupIDs: v1alpha1.SecurityGroupIDs{Worker: []string{"sg-0e0000000000000e2", "sg-0e0000000000000e1"}},
		InstanceProfiles: v1alpha1.InstanceProfiles{Worker: "demo-worker"},
	}
	composite.Default()
	in := &v1beta1.Input{}
	in.Default()
	o := &pool.Observation{
		Composite: composite,
		Input:     in,
		Exports:   pool.Exports{Source: pool.SourceFound, Inline: true, Value: composite.Spec.Cluster.Exports},
		Bootstrap: pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("#cloud-config\n")},
		Managed: pool.Managed{
			Object: &pool.ObservedObject{Resource: pool.Resource{Ready: true, Synced: true}},
			Group:  &pool.ObservedGroup{Resource: pool.Resource{Region: "us-east-1"}, Name: "adopted", ARN: "arn:aws:autoscaling:1", SentTemplateID: "lt-1", TemplateID: "lt-1"},
		},
	}
	change(o)
	return o
}

// What is decided and what is rendered from it meet here: a list or a tag that only one of the two knows of is lost.
func TestRenderDecided(t *testing.T) {
	interfaces := "spec.forProvider.networkInterfaces[0].securityGroups"
	own := map[string]any{
		"kubernetes.io/cluster/demo-1960e37c":    "owned",
		"machinepool.fn.crossplane.io/cluster":   "demo-1960e37c",
		"machinepool.fn.crossplane.io/name":      "demo-pool-0",
		"machinepool.fn.crossplane.io/namespace": "team-a",
	}
	with := func(tags map[string]any, more map[string]any) map[string]any {
		out := map[string]any{}
		for _, m := range []map[string]any{tags, more} {
			maps.Copy(out, m)
		}
		return out
	}
	cases := map[string]struct {
		reason   string
		args     *pool.Observation
		resource string
		path     string
		want     any
	}{
		"SecurityGroups": {
			reason: "The workers' groups come first, in the cluster's order, then the pool's own, each once.",
			args: observed("team-a", func(o *pool.Observation) {
				o.Composite.Spec.AdditionalSecurityGroupIDs = []string{"sg-0f0000000000000f1", "sg-0e0000000000000e1", "sg-0a0000000000000a1", "sg-0f0000000000000f1"}
			}),
			path: interfaces,
			want: []any{"sg-0e0000000000000e2", "sg-0e0000000000000e1", "sg-0f0000000000000f1", "sg-0a0000000000000a1"},
		},
		"SecurityGroupsOfTheCluster": {
			reason: "Without groups of its own a pool has the workers'.",
			args:   observed("team-a", func(*pool.Observation) {}),
			path:   interfaces,
			want:   []any{"sg-0e0000000000000e2", "sg-0e0000000000000e1"},
		},
		"Tags": {
			reason: "The pool's tags win over the Composition's.",
			args: observed("team-a", func(o *pool.Observation) {
				o.Input.Tags = map[string]string{"team": "platform", "cost": "1"}
				o.Composite.Spec.AdditionalTags = map[string]string{"team": "a"}
			}),
			path: "spec.forProvider.tags",
			want: with(own, map[string]any{"team": "a", "cost": "1"}),
		},
		"ObjectTags": {
			reason:   "S3 takes few tags, and the provider adds its own: ours are always among the five, then the first of the user's.",
			resource: "bootstrap-object",
			args: observed("team-a", func(o *pool.Observation) {
				o.Composite.Spec.AdditionalTags = map[string]string{}
				for i := range 30 {
					o.Composite.Spec.AdditionalTags[fmt.Sprintf("tag-%02d", i)] = "x"
				}
			}),
			path: "spec.forProvider.tags",
			want: with(own, map[string]any{"tag-00": "x"}),
		},
		"ZeroReplicas": {
			reason:   "No replicas is a wish, not the absence of one.",
			resource: "autoscaling-group",
			args:     observed("team-a", func(o *pool.Observation) { o.Composite.Spec.Replicas = new(int32(0)) }),
			path:     "spec.forProvider.maxSize",
			want:     float64(0),
		},
		"ObservedNameOfTheGroup": {
			reason:   "A group that exists keeps its name, whatever name would be computed today.",
			resource: "autoscaling-group",
			args:     observed("team-a", func(*pool.Observation) {}),
			path:     "metadata.annotations[crossplane.io/external-name]",
			want:     "adopted",
		},
		"NoNamespaceTag": {
			reason: "A cluster-scoped pool has no namespace to be tagged with.",
			args:   observed("", func(*pool.Observation) {}),
			path:   "spec.forProvider.tags",
			want: map[string]any{
				"kubernetes.io/cluster/demo-1960e37c":  "owned",
				"machinepool.fn.crossplane.io/cluster": "demo-1960e37c",
				"machinepool.fn.crossplane.io/name":    "demo-pool-0",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := situation{o: tc.args, d: decision.Of(tc.args)}
			if len(s.d.Refused) > 0 {
				t.Fatalf("\n%s\nOf(...): refused: %v", tc.reason, s.d.Refused)
			}
			resource := tc.resource
			if resource == "" {
				resource = s.d.Templates[len(s.d.Templates)-1].Resource
			}
			got, err := fieldpath.Pave(plain(t, rendered(t, s, resource).Object)).GetValue(tc.path)
			if err != nil {
				t.Fatalf("\n%s\nRender(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRender(...): %s: -want, +got:\n%s", tc.reason, tc.path, diff)
			}
		})
	}
}
