package zones

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// cluster with zones by letter, for example a for us-east-1a in subnet-a.
func cluster(letters string) map[string]v1alpha1.FailureDomain {
	zones := map[string]v1alpha1.FailureDomain{}
	for _, l := range letters {
		zones["us-east-1"+string(l)] = v1alpha1.FailureDomain{SubnetID: "subnet-" + string(l)}
	}
	return zones
}

func TestOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   Inputs
		want   Zones
	}{
		"FirstComposition": {
			reason: "Without a choice a new pool spans the cluster's zones and records them.",
			args:   Inputs{Cluster: cluster("cab")},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1b", "us-east-1c"},
				Inherited: []string{"us-east-1a", "us-east-1b", "us-east-1c"},
				Subnets:   []string{"subnet-a", "subnet-b", "subnet-c"},
			},
		},
		"Chosen": {
			reason: "A choice decides, in whatever order and however often a zone is named; the record is made anyway.",
			args:   Inputs{Chosen: []string{"us-east-1c", "us-east-1a", "us-east-1c"}, Cluster: cluster("abc")},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1c"},
				Inherited: []string{"us-east-1a", "us-east-1b", "us-east-1c"},
				Subnets:   []string{"subnet-a", "subnet-c"},
			},
		},
		"ChosenOutsideRecord": {
			reason: "A choice is not limited to the record.",
			args:   Inputs{Chosen: []string{"us-east-1c"}, Cluster: cluster("abc"), RecordReported: []string{"us-east-1a"}},
			want:   Zones{Effective: []string{"us-east-1c"}, Inherited: []string{"us-east-1a"}, Subnets: []string{"subnet-c"}},
		},
		"NoLongerChosen": {
			reason: "A pool that stops choosing falls back to its record.",
			args:   Inputs{Cluster: cluster("abc"), RecordAnnotated: "us-east-1a,us-east-1b", GroupSubnets: []string{"subnet-c"}},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1b"},
				Inherited: []string{"us-east-1a", "us-east-1b"},
				Subnets:   []string{"subnet-a", "subnet-b"},
			},
		},
		"Annotation": {
			reason: "The annotation is the first record to believe, and sorted.",
			args: Inputs{
				Cluster: cluster("abcd"), RecordAnnotated: "us-east-1b,us-east-1a",
				RecordReported: []string{"us-east-1c"}, GroupSubnets: []string{"subnet-d"},
			},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1b"},
				Inherited: []string{"us-east-1a", "us-east-1b"},
				Subnets:   []string{"subnet-a", "subnet-b"},
			},
		},
		"Status": {
			reason: "Without an annotation, as before the group exists, the status is.",
			args:   Inputs{Cluster: cluster("abcd"), RecordReported: []string{"us-east-1c", "us-east-1b"}, GroupSubnets: []string{"subnet-d"}},
			want: Zones{
				Effective: []string{"us-east-1b", "us-east-1c"},
				Inherited: []string{"us-east-1b", "us-east-1c"},
				Subnets:   []string{"subnet-b", "subnet-c"},
			},
		},
		"GroupSubnets": {
			reason: "Without either, what the group spans is.",
			args:   Inputs{Cluster: cluster("abcd"), GroupSubnets: []string{"subnet-d", "subnet-a", "subnet-elsewhere"}},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1d"},
				Inherited: []string{"us-east-1a", "us-east-1d"},
				Subnets:   []string{"subnet-a", "subnet-d"},
			},
		},
		"GroupSubnetsOfChoice": {
			reason: "What a group spans by the spec's choice is no record of what the cluster had.",
			args:   Inputs{Chosen: []string{"us-east-1d"}, Cluster: cluster("abd"), GroupSubnets: []string{"subnet-d"}},
			want: Zones{
				Effective: []string{"us-east-1d"},
				Inherited: []string{"us-east-1a", "us-east-1b", "us-east-1d"},
				Subnets:   []string{"subnet-d"},
			},
		},
		"GroupSubnetsUnknown": {
			reason: "Subnets that the cluster does not have tell nothing.",
			args:   Inputs{Cluster: cluster("ab"), GroupSubnets: []string{"subnet-x"}},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1b"},
				Inherited: []string{"us-east-1a", "us-east-1b"},
				Subnets:   []string{"subnet-a", "subnet-b"},
			},
		},
		"ZoneAdded": {
			reason: "A zone that the cluster gains never joins by itself.",
			args:   Inputs{Cluster: cluster("abc"), RecordAnnotated: "us-east-1a,us-east-1b"},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1b"},
				Inherited: []string{"us-east-1a", "us-east-1b"},
				Subnets:   []string{"subnet-a", "subnet-b"},
			},
		},
		"ZoneRemoved": {
			reason: "A zone that the cluster loses goes, and stays in the record.",
			args:   Inputs{Cluster: cluster("ac"), RecordAnnotated: "us-east-1a,us-east-1b"},
			want: Zones{
				Effective: []string{"us-east-1a"},
				Inherited: []string{"us-east-1a", "us-east-1b"},
				Unknown:   []string{"us-east-1b"},
				Subnets:   []string{"subnet-a"},
			},
		},
		"ZoneReAdded": {
			reason: "A zone of the record that the cluster has again is back, in whatever subnet it now has.",
			args: Inputs{
				Cluster:         map[string]v1alpha1.FailureDomain{"us-east-1a": {SubnetID: "subnet-a"}, "us-east-1b": {SubnetID: "subnet-new"}},
				RecordAnnotated: "us-east-1a,us-east-1b", GroupSubnets: []string{"subnet-a"},
			},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1b"},
				Inherited: []string{"us-east-1a", "us-east-1b"},
				Subnets:   []string{"subnet-a", "subnet-new"},
			},
		},
		"Unknown": {
			reason: "A chosen zone that the cluster lacks is told, the others are spanned.",
			args:   Inputs{Chosen: []string{"us-east-1z", "us-east-1a", "us-east-1x"}, Cluster: cluster("ab")},
			want: Zones{
				Effective: []string{"us-east-1a"},
				Inherited: []string{"us-east-1a", "us-east-1b"},
				Unknown:   []string{"us-east-1x", "us-east-1z"},
				Subnets:   []string{"subnet-a"},
			},
		},
		"AllUnknown": {
			reason: "A pool none of whose zones the cluster has is left without one.",
			args:   Inputs{Chosen: []string{"us-east-1z"}, Cluster: cluster("a")},
			want:   Zones{Inherited: []string{"us-east-1a"}, Unknown: []string{"us-east-1z"}},
		},
		"SharedSubnet": {
			reason: "A subnet is named once.",
			args: Inputs{Cluster: map[string]v1alpha1.FailureDomain{
				"us-east-1a": {SubnetID: "subnet-a"}, "us-east-1b": {SubnetID: "subnet-a"},
			}},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1b"},
				Inherited: []string{"us-east-1a", "us-east-1b"},
				Subnets:   []string{"subnet-a"},
			},
		},
		"SubnetsSorted": {
			reason: "Subnets are sorted by themselves, not by their zones.",
			args: Inputs{Cluster: map[string]v1alpha1.FailureDomain{
				"us-east-1a": {SubnetID: "subnet-2"}, "us-east-1b": {SubnetID: "subnet-1"},
			}},
			want: Zones{
				Effective: []string{"us-east-1a", "us-east-1b"},
				Inherited: []string{"us-east-1a", "us-east-1b"},
				Subnets:   []string{"subnet-1", "subnet-2"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			chosen, reported := slices.Clone(tc.args.Chosen), slices.Clone(tc.args.RecordReported)
			if diff := cmp.Diff(tc.want, Of(tc.args)); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if !slices.Equal(chosen, tc.args.Chosen) || !slices.Equal(reported, tc.args.RecordReported) {
				t.Errorf("\n%s\nOf(...): the caller's lists were sorted in place", tc.reason)
			}
		})
	}
}

// TestRecordStays holds that a record, once made, is made again by every later run, whatever the cluster does and the
// spec chooses in between, through the annotation as well as through the status.
func TestRecordStays(t *testing.T) {
	letters := rapid.StringMatching(`[a-f]{1,6}`)
	rapid.Check(t, func(t *rapid.T) {
		first := Of(Inputs{Cluster: cluster(letters.Draw(t, "first"))})
		want := first.Inherited
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			in := Inputs{Cluster: cluster(letters.Draw(t, "cluster"))}
			if rapid.Bool().Draw(t, "chooses") {
				in.Chosen = []string{"us-east-1" + rapid.StringMatching(`[a-h]`).Draw(t, "zone")}
			}
			if rapid.Bool().Draw(t, "annotated") {
				in.RecordAnnotated = FormatRecord(want)
			} else {
				in.RecordReported = want
			}
			got := Of(in)
			if diff := cmp.Diff(want, got.Inherited); diff != "" {
				t.Errorf("Of(...): the record changed: -want, +got:\n%s", diff)
			}
			for _, z := range got.Effective {
				if _, ok := in.Cluster[z]; !ok {
					t.Errorf("Of(...): %s is in effect, which the cluster lacks", z)
				}
				if len(in.Chosen) == 0 && !slices.Contains(want, z) {
					t.Errorf("Of(...): %s joined by itself", z)
				}
			}
		}
	})
}

// A record is a list with commas, so a name with a comma would be two zones in the next run, and the pool would leave the
// subnet of the one that it was.
func TestAZoneWithACommaIsNoZone(t *testing.T) {
	withComma := map[string]v1alpha1.FailureDomain{
		"us-east-1a": {SubnetID: "subnet-a"}, "us-east-1b,us-east-1c": {SubnetID: "subnet-b"}, "a,b": {SubnetID: "subnet-c"},
	}
	first := Of(Inputs{Cluster: withComma})
	if diff := cmp.Diff([]string{"us-east-1a"}, first.Inherited); diff != "" {
		t.Errorf("Of(...): what is recorded: -want, +got:\n%s", diff)
	}
	second := Of(Inputs{Cluster: withComma, RecordAnnotated: FormatRecord(first.Inherited)})
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("Of(...): the second run leaves a zone: -first, +second:\n%s", diff)
	}
}

// TestForgedRecord holds that what is no zone's name is dropped from a record, wherever it is kept, and not recorded again.
func TestForgedRecord(t *testing.T) {
	forged := []string{"", " ", "us-east-1", "us-east-1a\n", "us-east-1b\x1b[2J", "<script>", strings.Repeat("z", 1<<18), "us-east-1a"}
	want := []string{"us-east-1a"}
	cases := map[string]struct {
		reason string
		args   Inputs
		want   []string
	}{
		"Annotation": {
			reason: "Who can write the managed resource can write its annotation.",
			args:   Inputs{Cluster: cluster("ab"), RecordAnnotated: strings.Join(forged, ",")},
			want:   want,
		},
		"Status": {
			reason: "Who can write the status can write its zones.",
			args:   Inputs{Cluster: cluster("ab"), RecordReported: forged},
			want:   want,
		},
		"AnnotationWithoutAny": {
			reason: "An annotation that names no zone is none, and the status is asked.",
			args:   Inputs{Cluster: cluster("ab"), RecordAnnotated: "?,,?", RecordReported: []string{"us-east-1b"}},
			want:   []string{"us-east-1b"},
		},
		"NothingLeft": {
			reason: "A record that names no zone at all is none, and is made anew.",
			args:   Inputs{Cluster: cluster("ab"), RecordAnnotated: "?", RecordReported: []string{"?"}},
			want:   []string{"us-east-1a", "us-east-1b"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Of(tc.args).Inherited); diff != "" {
				t.Errorf("\n%s\nOf(...).Inherited: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRecordIsBounded holds that a record has no more zones than a cluster can have.
func TestRecordIsBounded(t *testing.T) {
	var names []string
	for i := range 25000 {
		names = append(names, fmt.Sprintf("us-east-1-z-%05d", i))
	}
	for name, in := range map[string]Inputs{
		"Annotation": {RecordAnnotated: FormatRecord(names)},
		"Status":     {RecordReported: names},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(names[:64], Of(in).Inherited); diff != "" {
				t.Errorf("Of(...).Inherited: -want, +got:\n%s", diff)
			}
		})
	}
}
