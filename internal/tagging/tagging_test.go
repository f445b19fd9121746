package tagging

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"
)

func TestOwn(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   Pool
		want   map[string]string
	}{
		"Namespaced": {
			reason: "A pool's resources say whose they are.",
			args:   Pool{ClusterID: "demo-1960e37c", Namespace: "team-a", Name: "demo-pool-0"},
			want: map[string]string{
				"kubernetes.io/cluster/demo-1960e37c":    "owned",
				"machinepool.fn.crossplane.io/cluster":   "demo-1960e37c",
				"machinepool.fn.crossplane.io/namespace": "team-a",
				"machinepool.fn.crossplane.io/name":      "demo-pool-0",
			},
		},
		"ClusterScoped": {
			reason: "A cluster-scoped pool has no namespace to tell.",
			args:   Pool{ClusterID: "demo-1960e37c", Name: "demo-pool-0"},
			want: map[string]string{
				"kubernetes.io/cluster/demo-1960e37c":  "owned",
				"machinepool.fn.crossplane.io/cluster": "demo-1960e37c",
				"machinepool.fn.crossplane.io/name":    "demo-pool-0",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Own(tc.args)); diff != "" {
				t.Errorf("\n%s\nOwn(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []map[string]string
		want   map[string]string
	}{
		"None": {
			reason: "No layer makes no tag.",
			want:   map[string]string{},
		},
		"Order": {
			reason: "A later layer's value wins, whatever the layers in between lack.",
			args: []map[string]string{
				{"input": "1", "both": "1", "all": "1", "first-and-last": "1"},
				{"pool": "2", "both": "2", "all": "2"},
				{"own": "3", "all": "3", "first-and-last": "3"},
			},
			want: map[string]string{"input": "1", "pool": "2", "own": "3", "both": "2", "all": "3", "first-and-last": "3"},
		},
		"NilLayers": {
			reason: "A layer that is not there changes nothing.",
			args:   []map[string]string{nil, {"a": "1"}, nil},
			want:   map[string]string{"a": "1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := make([]map[string]string, 0, len(tc.args))
			for _, l := range tc.args {
				before = append(before, maps.Clone(l))
			}
			if diff := cmp.Diff(tc.want, Merge(tc.args...)); diff != "" {
				t.Errorf("\n%s\nMerge(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, append([]map[string]string{}, tc.args...)); diff != "" {
				t.Errorf("\n%s\nMerge(...) changed its arguments: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOnObject(t *testing.T) {
	own := Own(Pool{ClusterID: "c", Namespace: "n", Name: "p"})
	type args struct {
		own, user map[string]string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   map[string]string
	}{
		"OwnAlone": {
			reason: "Our own tags are there without any of the user's.",
			args:   args{own: own},
			want:   own,
		},
		"First": {
			reason: "The user's tags fill what room is left, in the order of their keys.",
			args:   args{own: own, user: map[string]string{"c": "3", "a": "1", "b": "2"}},
			want:   Merge(own, map[string]string{"a": "1"}),
		},
		"ClusterScoped": {
			reason: "One tag fewer of ours is room for one more of the user's.",
			args:   args{own: Own(Pool{ClusterID: "c", Name: "p"}), user: map[string]string{"c": "3", "a": "1", "b": "2"}},
			want:   Merge(Own(Pool{ClusterID: "c", Name: "p"}), map[string]string{"a": "1", "b": "2"}),
		},
		"OursWin": {
			reason: "A user's tag with a key of ours is neither sent nor counted.",
			args:   args{own: own, user: map[string]string{KeyPool: "theirs", "z": "1"}},
			want:   Merge(own, map[string]string{"z": "1"}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := maps.Clone(tc.args.own)
			if diff := cmp.Diff(tc.want, OnObject(tc.args.own, tc.args.user)); diff != "" {
				t.Errorf("\n%s\nOnObject(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.args.own); diff != "" {
				t.Errorf("\n%s\nOnObject(...) changed our own tags: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOnObjectAlways holds that S3's few tags always hold ours, and only what was asked for.
func TestOnObjectAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own := Own(Pool{ClusterID: "c", Namespace: rapid.SampledFrom([]string{"", "n"}).Draw(t, "namespace"), Name: "p"})
		user := rapid.MapOf(rapid.OneOf(rapid.StringMatching(`[a-z]{1,3}`), rapid.Just(KeyCluster)), rapid.StringMatching(`[a-z]{0,3}`)).Draw(t, "user")
		got := OnObject(own, user)
		if len(got) > 5 {
			t.Errorf("OnObject(...): %d tags, more than 5", len(got))
		}
		for k, v := range own {
			if got[k] != v {
				t.Errorf("OnObject(...): our tag %s has value %q, want %q", k, got[k], v)
			}
		}
		for k, v := range got {
			if want, ours := own[k]; !ours && user[k] != v || ours && v != want {
				t.Errorf("OnObject(...): tag %s=%s was not asked for", k, v)
			}
		}
	})
}

func TestCheckCount(t *testing.T) {
	tags := func(n int) map[string]string {
		m := map[string]string{}
		for i := range n {
			m[fmt.Sprint(i)] = ""
		}
		return m
	}
	path := field.NewPath("spec", "additionalTags")
	cases := map[string]struct {
		reason string
		args   map[string]string
		want   string
	}{
		"Fits": {
			reason: "47 tags and the provider's 3 are the 50 that AWS takes.",
			args:   tags(47),
		},
		"OneTooMany": {
			reason: "One more is refused, with how many there are and how many may be.",
			args:   tags(48),
			want:   "spec.additionalTags: Invalid value: 48: the Composition's tags, additionalTags and the function's own make 48 tags, AWS takes 50 on one resource, of which provider-aws sets 3: remove 1",
		},
		"Many": {
			reason: "It says how many to remove.",
			args:   tags(80),
			want:   "spec.additionalTags: Invalid value: 80: the Composition's tags, additionalTags and the function's own make 80 tags, AWS takes 50 on one resource, of which provider-aws sets 3: remove 33",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckCount(tc.args, path); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckCount(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
