package image

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A lookUp of a version among names, as AWS filters them.
type lookUp struct {
	format, version string
	names           []string
}

// found are the names that a look-up takes, in their order.
func found(l lookUp) []string {
	q := pool.ImageQuery{Name: l.format, Version: l.version}
	isWanted := IsWanted(q)
	var out []string
	for _, name := range l.names {
		if matches, err := path.Match(Filter(q), name); err == nil && matches && isWanted(name) {
			out = append(out, name)
		}
	}
	return out
}

type lookUpCase struct {
	reason string
	args   lookUp
	want   []string
}

func testLookUps(t *testing.T, cases map[string]lookUpCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, found(tc.args)); diff != "" {
				t.Errorf("\n%s\nFilter(...), IsWanted(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

const (
	byDefault = "capa-ami-ubuntu-24.04-?{semver}-*"
	capa      = "capa-ami-ubuntu-24.04-"
)

func TestALookUpNeverTakesANeighbour(t *testing.T) {
	testLookUps(t, map[string]lookUpCase{
		"Digit":           {reason: "1.34.10 is not 1.34.1.", args: lookUp{"mine-{semver}*", "v1.34.1", []string{"mine-1.34.1", "mine-1.34.10", "mine-1.34.1-2", "mine-1.34.11-2"}}, want: []string{"mine-1.34.1", "mine-1.34.1-2"}},
		"BothSides":       {reason: "Nor is 11.34.1, nor 2.1.34.1.", args: lookUp{"*{semver}*", "v1.34.1", []string{"mine-1.34.1", "mine-1.34.10", "mine-11.34.1", "mine-2.1.34.1", "1.34.1"}}, want: []string{"mine-1.34.1", "1.34.1"}},
		"QuestionMark":    {reason: "One wildcard character is enough.", args: lookUp{"mine-{semver}?x", "v1.34.1", []string{"mine-1.34.10x", "mine-1.34.1-x"}}, want: []string{"mine-1.34.1-x"}},
		"QuestionBefore":  {reason: "Also before it.", args: lookUp{byDefault, "v1.34.1", []string{capa + "v1.34.1-1", capa + "11.34.1-1"}}, want: []string{capa + "v1.34.1-1"}},
		"FourthNumber":    {reason: "A fourth number makes another version.", args: lookUp{"mine-{semver}*", "v1.34.1", []string{"mine-1.34.1.5", "mine-1.34.1.x"}}, want: []string{"mine-1.34.1.x"}},
		"SpelledOut":      {reason: "A dot that the format itself has separates.", args: lookUp{"mine-{semver}.*", "v1.34.1", []string{"mine-1.34.1.20251101"}}, want: []string{"mine-1.34.1.20251101"}},
		"SpelledBefore":   {reason: "Also before it.", args: lookUp{"ubuntu-24.04.{semver}-*", "v1.34.1", []string{"ubuntu-24.04.1.34.1-7"}}, want: []string{"ubuntu-24.04.1.34.1-7"}},
		"DigitSpelledOut": {reason: "A digit that the format itself has does not.", args: lookUp{"mine-{semver}0", "v1.34.1", []string{"mine-1.34.10"}}},
		"WithV":           {reason: "The same with the v.", args: lookUp{"mine-{version}*", "v1.34.1", []string{"mine-v1.34.1", "mine-v1.34.10", "mine-v1.34.1-rc.1"}}, want: []string{"mine-v1.34.1"}},
		"Prerelease":      {reason: "A pre-release has neighbours, too.", args: lookUp{"mine-{semver}*", "v1.35.0-rc.1", []string{"mine-1.35.0-rc.1", "mine-1.35.0-rc.10", "mine-1.35.0-rc.1.2", "mine-1.35.0-rc.1-7"}}, want: []string{"mine-1.35.0-rc.1", "mine-1.35.0-rc.1-7"}},
		"Ambiguous":       {reason: "A name with two versions could be of either.", args: lookUp{"*{semver}*", "v1.34.1", []string{"mine-1.34.10-from-1.34.1", "mine-1.34.1-from-1.34.0"}}, want: []string{"mine-1.34.1-from-1.34.0"}},
		"Twice":           {reason: "Every place counts.", args: lookUp{"{semver}-mine-{version}*", "v1.34.1", []string{"1.34.1-mine-v1.34.1", "1.34.1-mine-v1.34.10"}}, want: []string{"1.34.1-mine-v1.34.1"}},
		"Brackets":        {reason: "What AWS takes as it is stays so.", args: lookUp{"mine ({semver})*", "v1.34.1", []string{"mine (1.34.1) 7"}}, want: []string{"mine (1.34.1) 7"}},
		"NoPlace":         {reason: "A format without a placeholder has no version to keep to.", args: lookUp{"golden-*", "", []string{"golden-1.34.10"}}, want: []string{"golden-1.34.10"}},
	})
}

func TestAReleaseNeverTakesAPrerelease(t *testing.T) {
	testLookUps(t, map[string]lookUpCase{
		"Default":    {reason: "The release, although the pre-release is newer.", args: lookUp{byDefault, "v1.34.1", []string{capa + "v1.34.1-1700000001", capa + "v1.34.1-rc.1-1700000002"}}, want: []string{capa + "v1.34.1-1700000001"}},
		"Alone":      {reason: "A pre-release alone is none.", args: lookUp{byDefault, "v1.34.1", []string{capa + "v1.34.1-rc.1-1700000002"}}},
		"AllOfThem":  {reason: "However it is spelled.", args: lookUp{"mine-{semver}*", "v1.34.1", []string{"mine-1.34.1-alpha.3", "mine-1.34.1-beta.0-7", "mine-1.34.1-rc1", "mine-1.34.1-rc-1", "mine-1.34.1rc.1", "mine-1.34.1_RC1", "mine-1.34.1-rc"}}},
		"RKE2":       {reason: "RKE2 has its own before the suffix.", args: lookUp{"rke2-{semver}-*", "v1.34.1+rke2r1", []string{"rke2-1.34.1-rc1-rke2r1-7", "rke2-1.34.1-rke2r1-7"}}, want: []string{"rke2-1.34.1-rke2r1-7"}},
		"OtherWords": {reason: "Words that only begin so are none, nor is a build.", args: lookUp{"mine-{semver}-*", "v1.34.1", []string{"mine-1.34.1-arch-7", "mine-1.34.1-rclone", "mine-1.34.1-alphabet", "mine-1.34.1-dev-7", "mine-1.34.1-20251101"}}, want: []string{"mine-1.34.1-arch-7", "mine-1.34.1-rclone", "mine-1.34.1-alphabet", "mine-1.34.1-dev-7", "mine-1.34.1-20251101"}},
		"SpelledOut": {reason: "What the format itself has is no part of the version: it may be a stage of the images.", args: lookUp{"mine-{semver}-beta-*", "v1.34.1", []string{"mine-1.34.1-beta-7"}}, want: []string{"mine-1.34.1-beta-7"}},
		"HalfOfIt":   {reason: "Half of one is.", args: lookUp{"mine-{semver}-r*", "v1.34.1", []string{"mine-1.34.1-rc.1", "mine-1.34.1-r5"}}, want: []string{"mine-1.34.1-r5"}},
		"OwnOne":     {reason: "A pool of a pre-release takes that.", args: lookUp{byDefault, "v1.35.0-rc.1", []string{capa + "v1.35.0-rc.1-1700000002", capa + "v1.35.0-1700000003", capa + "v1.35.0-rc.2-1700000004"}}, want: []string{capa + "v1.35.0-rc.1-1700000002"}},
	})
}

func TestAnotherSuffixIsAnotherVersion(t *testing.T) {
	rke2 := []string{"rke2-1.34.1-rke2r1-17", "rke2-1.34.1-rke2r2-18", "rke2-1.34.1-rke2r10-19", "rke2-1.34.1-k3s1-20"}
	testLookUps(t, map[string]lookUpCase{
		"Semver":         {reason: "rke2r2's image is not rke2r1's.", args: lookUp{"rke2-{semver}-*", "v1.34.1+rke2r1", rke2}, want: []string{"rke2-1.34.1-rke2r1-17"}},
		"Version":        {reason: "With the v neither.", args: lookUp{"rke2-{version}*", "v1.34.1+rke2r1", []string{"rke2-v1.34.1-rke2r2", "rke2-v1.34.1_rke2r1"}}, want: []string{"rke2-v1.34.1_rke2r1"}},
		"Suffix":         {reason: "A placeholder says where it is.", args: lookUp{"rke2-{semver}-{suffix}-*", "v1.34.1+rke2r1", append(rke2, "rke2-1.34.1-21")}, want: []string{"rke2-1.34.1-rke2r1-17"}},
		"SuffixWildcard": {reason: "Also before a wildcard.", args: lookUp{"rke2-{semver}-{suffix}*", "v1.34.1+rke2r1", rke2}, want: []string{"rke2-1.34.1-rke2r1-17"}},
		"SuffixBefore":   {reason: "And wherever it stands.", args: lookUp{"*{suffix}*-{semver}", "v1.34.1+rke2r1", []string{"rke2r10-1.34.1", "xrke2r1-1.34.1", "rke2r1-1.34.1"}}, want: []string{"rke2r1-1.34.1"}},
		"BuildDate":      {reason: "A name without a suffix is of the version: most images have none.", args: lookUp{byDefault, "v1.34.1+rke2r1", []string{capa + "v1.34.1-1700000001"}}, want: []string{capa + "v1.34.1-1700000001"}},
		"Anything":       {reason: "So is one that goes on with anything else.", args: lookUp{"mine-{semver}-*", "v1.34.1+rke2r1", []string{"mine-1.34.1-hardened-7", "mine-1.34.1-r7", "mine-1.34.1-rke2-7"}}, want: []string{"mine-1.34.1-hardened-7", "mine-1.34.1-r7", "mine-1.34.1-rke2-7"}},
		"None":           {reason: "A version without a suffix asks for none.", args: lookUp{"rke2-{semver}-*", "v1.34.1", rke2}, want: rke2},
		"OfOtherKind":    {reason: "Any suffix has neighbours that differ by their number.", args: lookUp{"mine-{semver}-*", "v1.34.1+vmware.2-fips.1", []string{"mine-1.34.1-vmware.2-fips.1-7", "mine-1.34.1-vmware.3-fips.1-7", "mine-1.34.1-vmware.2-7", "mine-1.34.1-vmware-7"}}, want: []string{"mine-1.34.1-vmware.2-fips.1-7", "mine-1.34.1-vmware-7"}},
		"Number":         {reason: "A suffix that is a number cannot be told from a build.", args: lookUp{"mine-{semver}-*", "v1.34.1+1", []string{"mine-1.34.1-1700000001"}}, want: []string{"mine-1.34.1-1700000001"}},
		"Words":          {reason: "A suffix without a number has no neighbours.", args: lookUp{"mine-{semver}-*", "v1.34.1+fips", []string{"mine-1.34.1-fips-7", "mine-1.34.1-7"}}, want: []string{"mine-1.34.1-fips-7", "mine-1.34.1-7"}},
		"SpelledOut":     {reason: "A suffix that the format itself has is what the spec asks for.", args: lookUp{"rke2-{semver}-rke2r2-*", "v1.34.1+rke2r1", rke2}, want: []string{"rke2-1.34.1-rke2r2-18"}},
	})
}

// Whatever the format, a name that is taken holds the version where nothing makes another one of it.
func TestAnyFormatKeepsToTheVersion(t *testing.T) {
	pieces := []string{"{semver}", "*", "?", "-", ".", "a", "1"}
	parts := []string{"1.34.1", "v", "-", ".", "a", "0", "1", "rc.1"}
	alone := regexp.MustCompile(`(^|[^0-9])1[.]34[.]1([^0-9]|$)`)
	early := regexp.MustCompile(`1[.]34[.]1[^a-z0-9]*rc[.]1([^0-9a-z]|$)`)
	rapid.Check(t, func(t *rapid.T) {
		format := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "before"), "") + "{semver}" +
			strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 3).Draw(t, "after"), "")
		name := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 6).Draw(t, "name"), "")
		if found(lookUp{format, "v1.34.1", []string{name}}) == nil {
			return
		}
		if !alone.MatchString(name) || strings.Count(name, "1.34.1") == 1 && early.MatchString(name) {
			t.Errorf("%q is taken for %q", name, format)
		}
	})
}
