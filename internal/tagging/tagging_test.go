package tagging

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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

// with returns one map of all the layers, in which a later layer's value wins.
func with(layers ...map[string]string) map[string]string {
	merged := map[string]string{}
	for _, l := range layers {
		maps.Copy(merged, l)
	}
	return merged
}

func TestAll(t *testing.T) {
	own := Own(Pool{ClusterID: "c", Namespace: "n", Name: "p"})
	type args struct {
		composition, pool map[string]string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   map[string]string
	}{
		"OwnAlone": {reason: "Our own tags are there without any other.", want: own},
		"PoolWins": {
			reason: "A pool's tag replaces the Composition's of the same key.",
			args:   args{composition: map[string]string{"a": "1", "b": "1"}, pool: map[string]string{"b": "2", "c": "2"}},
			want:   with(own, map[string]string{"a": "1", "b": "2", "c": "2"}),
		},
		"OursWin": {
			reason: "No one replaces ours.",
			args:   args{composition: map[string]string{KeyPool: "theirs"}, pool: map[string]string{KeyCluster: "theirs"}},
			want:   own,
		},
		"OtherCase": {
			reason: "IAM does not tell a key from one in another case, so there is one tag of both, and which it is does not depend on how it is written.",
			args:   args{composition: map[string]string{"data-class": "restricted", "a": "1"}, pool: map[string]string{"Data-Class": "public"}},
			want:   with(own, map[string]string{"Data-Class": "public", "a": "1"}),
		},
		"OtherCaseInUnicode": {
			reason: "Letters of Unicode that are one in another case are one here.",
			args:   args{composition: map[string]string{"class": "restricted"}, pool: map[string]string{"cla\u017fs": "public"}},
			want:   with(own, map[string]string{"cla\u017fs": "public"}),
		},
		"OtherCaseOfOurs": {
			reason: "Nor is there a second tag beside ours.",
			args:   args{pool: map[string]string{"Kubernetes.io/cluster/C": "shared", "MachinePool.fn.crossplane.io/name": "theirs"}},
			want:   own,
		},
		"CasesOfOneLayer": {
			reason: "Two keys that one author wrote are left as they are.",
			args:   args{pool: map[string]string{"a": "1", "A": "2"}},
			want:   with(own, map[string]string{"a": "1", "A": "2"}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := maps.Clone(own)
			if diff := cmp.Diff(tc.want, All(tc.args.composition, tc.args.pool, own)); diff != "" {
				t.Errorf("\n%s\nAll(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, own); diff != "" {
				t.Errorf("\n%s\nAll(...) changed our own tags: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   map[string]string
		want   map[string]string
	}{
		"Name":      {reason: "An instance has the pool's name.", args: map[string]string{"a": "1"}, want: map[string]string{"a": "1", "Name": "demo"}},
		"Theirs":    {reason: "No one gives it another one.", args: map[string]string{"Name": "theirs"}, want: map[string]string{"Name": "demo"}},
		"OtherCase": {reason: "Nor a second one, which IAM does not tell from the first.", args: map[string]string{"nAME": "theirs"}, want: map[string]string{"Name": "demo"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Named(tc.args, "demo")); diff != "" {
				t.Errorf("\n%s\nNamed(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOnObject(t *testing.T) {
	own := Own(Pool{ClusterID: "c", Namespace: "n", Name: "p"})
	clusterScoped := Own(Pool{ClusterID: "c", Name: "p"})
	type args struct {
		composition, pool, own map[string]string
	}
	type want struct {
		tags    map[string]string
		leftOut []string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"OwnAlone": {
			reason: "Our own tags are there without any of the user's.",
			args:   args{own: own},
			want:   want{tags: own},
		},
		"First": {
			reason: "The pool's tags fill what room is left, in the order of their keys, and those that do not fit are told.",
			args:   args{own: own, pool: map[string]string{"c": "3", "a": "1", "b": "2"}},
			want:   want{tags: with(own, map[string]string{"a": "1"}), leftOut: []string{"b", "c"}},
		},
		"CompositionFirst": {
			reason: "The Composition's tags come before the pool's, whatever their keys.",
			args:   args{own: clusterScoped, composition: map[string]string{"z": "1"}, pool: map[string]string{"a": "2", "b": "2"}},
			want:   want{tags: with(clusterScoped, map[string]string{"z": "1", "a": "2"}), leftOut: []string{"b"}},
		},
		"CompositionCut": {
			reason: "If even the Composition's do not fit, that is told too.",
			args:   args{own: own, composition: map[string]string{"y": "1", "z": "1"}, pool: map[string]string{"a": "2", "Z": "2"}},
			want:   want{tags: with(own, map[string]string{"y": "1"}), leftOut: []string{"a", "z"}},
		},
		"CompositionWins": {
			reason: "Here the Composition's value wins, in whatever case the pool writes the key, and nothing is left out.",
			args:   args{own: clusterScoped, composition: map[string]string{"data-class": "restricted"}, pool: map[string]string{"data-class": "public", "Data-Class": "public"}},
			want:   want{tags: with(clusterScoped, map[string]string{"data-class": "restricted"})},
		},
		"ClusterScoped": {
			reason: "One tag fewer of ours is room for one more of the user's.",
			args:   args{own: clusterScoped, pool: map[string]string{"c": "3", "a": "1", "b": "2"}},
			want:   want{tags: with(clusterScoped, map[string]string{"a": "1", "b": "2"}), leftOut: []string{"c"}},
		},
		"OursWin": {
			reason: "A user's tag with a key of ours is neither sent nor counted.",
			args:   args{own: own, pool: map[string]string{KeyPool: "theirs", "z": "1"}},
			want:   want{tags: with(own, map[string]string{"z": "1"})},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := maps.Clone(tc.args.own)
			got := want{}
			got.tags, got.leftOut = OnObject(tc.args.composition, tc.args.pool, tc.args.own)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOnObject(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.args.own); diff != "" {
				t.Errorf("\n%s\nOnObject(...) changed our own tags: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// Bucket policies and inventories go by the tags of the one object that holds tokens.
func TestAPoolsTagsDoNotPushTheCompositionsOffTheObject(t *testing.T) {
	own := Own(Pool{ClusterID: "c", Namespace: "n", Name: "p"})
	got, leftOut := OnObject(map[string]string{"data-class": "restricted"}, map[string]string{"a": "1"}, own)
	if got["data-class"] != "restricted" {
		t.Errorf("OnObject(...): a pool's tag pushed the Composition's off: %v", got)
	}
	if diff := cmp.Diff([]string{"a"}, leftOut); diff != "" {
		t.Errorf("OnObject(...): what is left out: -want, +got:\n%s", diff)
	}
}

// TestOnObjectAlways holds that S3's few tags always hold ours, then the Composition's, only what was asked for, and that each
// tag is there or told.
func TestOnObjectAlways(t *testing.T) {
	tags := rapid.MapOf(rapid.OneOf(rapid.StringMatching(`[a-cA-C]{1,2}`), rapid.Just(KeyCluster)), rapid.StringMatching(`[a-z]{0,3}`))
	rapid.Check(t, func(t *rapid.T) {
		own := Own(Pool{ClusterID: "c", Namespace: rapid.SampledFrom([]string{"", "n"}).Draw(t, "namespace"), Name: "p"})
		composition, user := tags.Draw(t, "composition"), tags.Draw(t, "user")
		got, leftOut := OnObject(composition, user, own)
		if len(got) > 5 {
			t.Errorf("OnObject(...): %d tags, more than 5", len(got))
		}
		for k, v := range own {
			if got[k] != v {
				t.Errorf("OnObject(...): our tag %s has value %q, want %q", k, got[k], v)
			}
		}
		has := func(tags map[string]string, k string) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(tags)), func(other string) bool { return strings.EqualFold(k, other) })
		}
		for k, v := range got {
			want, ours := own[k]
			theirs, compositions := composition[k]
			switch {
			case ours && v != want, !ours && compositions && v != theirs, !ours && !compositions && user[k] != v:
				t.Errorf("OnObject(...): tag %s=%s was not asked for", k, v)
			case !ours && !compositions && slices.ContainsFunc(leftOut, func(k string) bool { _, c := composition[k]; return c }):
				t.Errorf("OnObject(...): the pool's %s is there, and one of the Composition's is not: %v", k, leftOut)
			}
		}
		for k := range with(composition, user) {
			if !has(got, k) && !slices.ContainsFunc(leftOut, func(out string) bool { return strings.EqualFold(out, k) }) {
				t.Errorf("OnObject(...): %s is neither there nor told", k)
			}
		}
		for _, k := range leftOut {
			if _, there := got[k]; there || len(got) < 5 {
				t.Errorf("OnObject(...): %s is told to be left out of %v", k, got)
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
