package naming

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The hashes here were made by sha256sum, for example printf 'demo-1960e37c/team-a/demo-pool-0' | sha256sum.
func TestGroup(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   Pool
		want   string
	}{
		"Namespaced": {
			reason: "A namespaced pool's name tells its namespace and name.",
			args:   Pool{ClusterID: "demo-1960e37c", Namespace: "team-a", Name: "demo-pool-0"},
			want:   "mp-team-a-demo-pool-0-bfc02ea5ebb16afd",
		},
		"ClusterScoped": {
			reason: "A cluster-scoped pool has no namespace and no second dash, and an empty namespace in its hash.",
			args:   Pool{ClusterID: "demo-1960e37c", Name: "demo-pool-0"},
			want:   "mp-demo-pool-0-a38d893a8118b9e0",
		},
		"DashInNamespace": {
			reason: "A dash may stand in the namespace.",
			args:   Pool{ClusterID: "c", Namespace: "a-b", Name: "c"},
			want:   "mp-a-b-c-92020f00d4d613b8",
		},
		"DashInName": {
			reason: "The same text with the dash in the name is another group.",
			args:   Pool{ClusterID: "c", Namespace: "a", Name: "b-c"},
			want:   "mp-a-b-c-4fc614a43bd21673",
		},
		"OtherCharacters": {
			reason: "Upper case is lowered and every other character made a dash, while the hash takes the names to the letter.",
			args:   Pool{ClusterID: "c", Namespace: "Team_A", Name: "Pool.0"},
			want:   "mp-team-a-pool-0-6a1988793dc4c3bc",
		},
		"Long": {
			reason: "A long name is cut to 46 characters, which with dash and hash makes 63.",
			args:   Pool{ClusterID: "c", Namespace: "n", Name: strings.Repeat("a", 60)},
			want:   "mp-n-" + strings.Repeat("a", 41) + "-92d48ed3750464e2",
		},
		"CutAtDash": {
			reason: "A dash that the cut leaves at the end is trimmed.",
			args:   Pool{ClusterID: "c", Namespace: "n", Name: strings.Repeat("a", 40) + "--b"},
			want:   "mp-n-" + strings.Repeat("a", 40) + "-4a86a01ef77f255d",
		},
		"NotCut": {
			reason: "46 characters are kept whole.",
			args:   Pool{ClusterID: "c", Namespace: "n", Name: strings.Repeat("a", 41)},
			want:   "mp-n-" + strings.Repeat("a", 41) + "-5a92fc6a3f1d5ad3",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Group(tc.args)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nGroup(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFormerGroup holds the names that groups of earlier versions have, byte for byte.
func TestFormerGroup(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   Pool
		want   string
	}{
		"Namespaced": {
			reason: "The readable part is the same, the hash shorter.",
			args:   Pool{ClusterID: "demo-1960e37c", Namespace: "team-a", Name: "demo-pool-0"},
			want:   "mp-team-a-demo-pool-0-bfc02ea5",
		},
		"ClusterScoped": {
			reason: "A cluster-scoped pool has an empty namespace in its hash.",
			args:   Pool{ClusterID: "demo-1960e37c", Name: "demo-pool-0"},
			want:   "mp-demo-pool-0-a38d893a",
		},
		"Long": {
			reason: "A long name was cut to 54 characters.",
			args:   Pool{ClusterID: "c", Namespace: "n", Name: strings.Repeat("a", 60)},
			want:   "mp-n-" + strings.Repeat("a", 49) + "-92d48ed3",
		},
		"CutAtDash": {
			reason: "A dash that the cut left at the end was trimmed.",
			args:   Pool{ClusterID: "c", Namespace: "n", Name: strings.Repeat("a", 48) + "--b"},
			want:   "mp-n-" + strings.Repeat("a", 48) + "-12753436",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, FormerGroup(tc.args)); diff != "" {
				t.Errorf("\n%s\nFormerGroup(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAForgedClusterIDDoesNotGiveAnotherPoolsGroup is the pair of pools that one core found in nine minutes while a name
// had 32 bits of hash: the first one's cluster id stands inline, and gave it the second one's group.
func TestAForgedClusterIDDoesNotGiveAnotherPoolsGroup(t *testing.T) {
	attacker := Pool{ClusterID: "demo-wrlsgugaaaaaa", Namespace: "team", Name: "a-x"}
	victim := Pool{ClusterID: "demo-1960e37c", Namespace: "team-a", Name: "x"}
	if FormerGroup(attacker) != FormerGroup(victim) {
		t.Fatalf("the pair is none that had one name: %q and %q", FormerGroup(attacker), FormerGroup(victim))
	}
	for _, owned := range []string{Group(victim), FormerGroup(victim)} {
		if got := Group(attacker); got == owned {
			t.Errorf("Group(%+v): %q, the group of %+v", attacker, got, victim)
		}
	}
	const bits = 64
	if current.hash*4 < bits {
		t.Errorf("a name has %d bits of hash, fewer than %d", current.hash*4, bits)
	}
}

var groupName = regexp.MustCompile(`^mp(-[a-z0-9-]*[a-z0-9])?-[0-9a-f]{16}$`)

func pools() *rapid.Generator[Pool] {
	return rapid.Custom(func(t *rapid.T) Pool {
		return Pool{
			ClusterID: rapid.StringMatching(`[a-z0-9-]{1,20}`).Draw(t, "cluster"),
			Namespace: rapid.StringMatching(`|[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`).Draw(t, "namespace"),
			Name:      rapid.StringMatching(`[a-z0-9]([a-z0-9.-]{0,100}[a-z0-9])?`).Draw(t, "name"),
		}
	})
}

// TestGroupAlways holds every name to what AWS and people can take, whatever the pool is called.
func TestGroupAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pools().Draw(t, "pool")
		if rapid.Bool().Draw(t, "any text") {
			p.Name = rapid.String().Draw(t, "text")
		}
		got := Group(p)
		if len(got) > 63 {
			t.Errorf("Group(%+v): %q has %d characters, more than 63", p, got, len(got))
		}
		if !groupName.MatchString(got) {
			t.Errorf("Group(%+v): %q does not match %s", p, got, groupName)
		}
		if again := Group(p); again != got {
			t.Errorf("Group(%+v): %q and then %q", p, got, again)
		}
	})
}

// TestGroupTellsApart draws two pools whose readable names are likely the same: by a dash that moves, a cut, a
// character that is replaced, or by being in two clusters.
func TestGroupTellsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := pools().Draw(t, "a")
		b := a
		switch rapid.SampledFrom([]string{"dash", "cut", "character", "cluster", "scope", "other"}).Draw(t, "difference") {
		case "dash":
			words := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9]{1,5}`), 3, 6).Draw(t, "words")
			i := rapid.IntRange(1, len(words)-2).Draw(t, "first dash")
			a.Namespace, a.Name = strings.Join(words[:i], "-"), strings.Join(words[i:], "-")
			b.Namespace, b.Name = strings.Join(words[:i+1], "-"), strings.Join(words[i+1:], "-")
		case "cut":
			a.Name = strings.Repeat("a", 60)
			b.Name = a.Name + rapid.StringMatching(`[a-z0-9]{1,5}`).Draw(t, "tail")
		case "character":
			a.Name, b.Name = "a.b", "a-b"
		case "cluster":
			b.ClusterID += "x"
		case "scope":
			words := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9]{1,5}`), 2, 2).Draw(t, "words")
			a.Namespace, a.Name = words[0], words[1]
			b.Namespace, b.Name = "", words[0]+"-"+words[1]
		case "other":
			b = pools().Draw(t, "b")
		}
		if a != b && Group(a) == Group(b) {
			t.Errorf("Group(%+v) and Group(%+v) are both %q", a, b, Group(a))
		}
		if got := FormerGroup(b); got == Group(a) {
			t.Errorf("Group(%+v) and FormerGroup(%+v) are both %q", a, b, got)
		}
		x := Attempt{RollKey: "497384ff", Number: rapid.IntRange(0, MaxAttempt).Draw(t, "attempt of a")}
		y := Attempt{RollKey: rapid.StringMatching(`[0-9a-f]{8}`).Draw(t, "key of b"), Number: rapid.IntRange(0, MaxAttempt).Draw(t, "attempt of b")}
		if a != b && Template(Group(a), x) == Template(Group(b), y) {
			t.Errorf("a template of %+v and one of %+v are both %q", a, b, Template(Group(a), x))
		}
	})
}

// TestTemplateFitsEC2 holds the longest name of a template to EC2's limit of 128 characters.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html
func TestTemplateFitsEC2(t *testing.T) {
	const limit = 128
	long := Pool{ClusterID: "c", Namespace: strings.Repeat("n", 63), Name: strings.Repeat("a", 253)}
	for _, group := range []string{Group(long), FormerGroup(long)} {
		if got := Template(group, Attempt{RollKey: "497384ff", Number: MaxAttempt}); len(got) > limit {
			t.Errorf("Template(%q, ...): %q has %d characters, EC2 takes %d", group, got, len(got), limit)
		}
	}
}

func TestGroupOfTemplate(t *testing.T) {
	group := Group(Pool{ClusterID: "c", Namespace: "n", Name: "p"})
	cases := map[string]struct {
		reason  string
		name    string
		attempt Attempt
		want    string
	}{
		"First":   {reason: "A first attempt's template ends with the roll key.", name: group + "-497384ff", attempt: Attempt{RollKey: "497384ff"}, want: group},
		"Retry":   {reason: "A retry's template ends with its number too.", name: group + "-497384ff-2", attempt: Attempt{RollKey: "497384ff", Number: 2}, want: group},
		"Another": {reason: "A name that is not the attempt's tells no group.", name: group + "-497384ff-2", attempt: Attempt{RollKey: "497384ff"}},
		"Empty":   {reason: "A template without a name tells no group.", attempt: Attempt{RollKey: "497384ff"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := GroupOfTemplate(tc.name, tc.attempt); got != tc.want {
				t.Errorf("\n%s\nGroupOfTemplate(%q, %+v): want %q, got %q", tc.reason, tc.name, tc.attempt, tc.want, got)
			}
		})
	}
}

func TestNames(t *testing.T) {
	cases := map[string]struct {
		reason string
		got    string
		want   string
	}{
		"KeyNamespaced":    {reason: "Pools of one name in two namespaces have two objects.", got: BootstrapObjectKey(Pool{Namespace: "team-a", Name: "demo-pool-0"}), want: "pool/team-a/demo-pool-0"},
		"KeyClusterScoped": {reason: "A cluster-scoped pool has no namespace.", got: BootstrapObjectKey(Pool{Name: "demo-pool-0"}), want: "pool/demo-pool-0"},
		"ScalingPolicy":    {reason: "A policy's name is unique in its group only.", got: ScalingPolicy, want: "cpu-target-tracking"},
		"ResourceHook":     {reason: "Crossplane knows resources by this name.", got: ResourceHook("drain"), want: "lifecycle-hook-drain"},
		"ResourceGroup":    {reason: "Crossplane knows resources by this name.", got: ResourceGroup, want: "autoscaling-group"},
		"ResourcePolicy":   {reason: "Crossplane knows resources by this name.", got: ResourcePolicy, want: "scaling-policy"},
		"ResourceObject":   {reason: "Crossplane knows resources by this name.", got: ResourceObject, want: "bootstrap-object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestGroupOfARN(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Group":    {reason: "The name is the last part.", args: "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:1:autoScalingGroupName/mp-a", want: "mp-a"},
		"Slash":    {reason: "A name can hold a slash.", args: "arn:aws-cn:autoscaling:cn-north-1:1:autoScalingGroup:1:autoScalingGroupName/a/b", want: "a/b"},
		"AnyOther": {reason: "Another ARN names no group.", args: "arn:aws:s3:::bucket"},
		"Empty":    {reason: "A group that AWS does not have has no ARN."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := GroupOfARN(tc.args); got != tc.want {
				t.Errorf("%s\nGroupOfARN(%q): got %q, want %q", tc.reason, tc.args, got, tc.want)
			}
		})
	}
}
