package bootstrap

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestFilterNodeLabels(t *testing.T) {
	type want struct {
		kept    map[string]string
		dropped []string
	}
	cases := map[string]struct {
		reason string
		args   map[string]string
		want   want
	}{
		"None": {
			reason: "No label is nothing to filter.",
		},
		"Others": {
			reason: "Only Kubernetes' own domains are guarded.",
			args: map[string]string{
				"pool": "a", "example.org/disk": "ssd", "notkubernetes.io/x": "", "k8s.io.example.org/x": "", "myk8s.io/x": "",
			},
			want: want{kept: map[string]string{
				"pool": "a", "example.org/disk": "ssd", "notkubernetes.io/x": "", "k8s.io.example.org/x": "", "myk8s.io/x": "",
			}},
		},
		"WellKnown": {
			reason: "The kubelet lists eleven keys that it may set.",
			args: map[string]string{
				"beta.kubernetes.io/arch": "a", "beta.kubernetes.io/instance-type": "b", "beta.kubernetes.io/os": "c",
				"failure-domain.beta.kubernetes.io/region": "d", "failure-domain.beta.kubernetes.io/zone": "e",
				"kubernetes.io/arch": "f", "kubernetes.io/hostname": "g", "kubernetes.io/os": "h",
				"node.kubernetes.io/instance-type": "i", "topology.kubernetes.io/region": "j",
				"topology.kubernetes.io/zone": "k",
			},
			want: want{kept: map[string]string{
				"beta.kubernetes.io/arch": "a", "beta.kubernetes.io/instance-type": "b", "beta.kubernetes.io/os": "c",
				"failure-domain.beta.kubernetes.io/region": "d", "failure-domain.beta.kubernetes.io/zone": "e",
				"kubernetes.io/arch": "f", "kubernetes.io/hostname": "g", "kubernetes.io/os": "h",
				"node.kubernetes.io/instance-type": "i", "topology.kubernetes.io/region": "j",
				"topology.kubernetes.io/zone": "k",
			}},
		},
		"AllowedPrefixes": {
			reason: "Two prefixes and their subdomains are the kubelet's to use.",
			args: map[string]string{
				"kubelet.kubernetes.io/a": "", "x.kubelet.kubernetes.io/a": "",
				"node.kubernetes.io/a": "", "x.y.node.kubernetes.io/a": "",
			},
			want: want{kept: map[string]string{
				"kubelet.kubernetes.io/a": "", "x.kubelet.kubernetes.io/a": "",
				"node.kubernetes.io/a": "", "x.y.node.kubernetes.io/a": "",
			}},
		},
		"Dropped": {
			reason: "Every other key under the guarded domains would end the kubelet, or be refused by NodeRestriction.",
			args: map[string]string{
				"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "", "k8s.io/x": "", "x.k8s.io/x": "",
				"node.k8s.io/x": "", "notnode.kubernetes.io/x": "", "topology.kubernetes.io/rack": "",
				"node-restriction.kubernetes.io/x": "", "a.node-restriction.kubernetes.io/x": "", "pool": "a",
			},
			want: want{
				kept: map[string]string{"pool": "a"},
				dropped: []string{
					"a.node-restriction.kubernetes.io/x", "k8s.io/x", "kubernetes.io/role", "node-restriction.kubernetes.io/x",
					"node-role.kubernetes.io/worker", "node.k8s.io/x", "notnode.kubernetes.io/x", "topology.kubernetes.io/rack",
					"x.k8s.io/x",
				},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kept, dropped := FilterNodeLabels(tc.args)
			if diff := cmp.Diff(tc.want, want{kept: kept, dropped: dropped}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nFilterNodeLabels(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFilterNodeLabelsParts: each label ends up on one side, with its value, and filtering again drops nothing more.
func TestFilterNodeLabelsParts(t *testing.T) {
	key := rapid.StringMatching(`([a-z]\.|node\.|kubelet\.|node-restriction\.)?(kubernetes\.io|k8s\.io|example\.org)?/?[a-z]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.MapOf(key, rapid.StringMatching(`[a-z]{0,3}`)).Draw(t, "labels")
		kept, dropped := FilterNodeLabels(labels)
		if !slices.IsSorted(dropped) {
			t.Fatalf("dropped keys are not sorted: %v", dropped)
		}
		whole := map[string]string{}
		maps.Copy(whole, kept)
		for _, k := range dropped {
			if _, both := kept[k]; both {
				t.Fatalf("%q is both kept and dropped", k)
			}
			whole[k] = labels[k]
		}
		if diff := cmp.Diff(labels, whole); diff != "" {
			t.Fatalf("kept and dropped together: -want, +got:\n%s", diff)
		}
		again, more := FilterNodeLabels(kept)
		if diff := cmp.Diff(kept, again, cmpopts.EquateEmpty()); diff != "" || len(more) > 0 {
			t.Fatalf("filtered again, dropping %v: -once, +twice:\n%s", more, diff)
		}
	})
}
