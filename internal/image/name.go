package image

import (
	"regexp"
	"strings"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// Placeholders of a name format, each with what it stands for in the version v1.34.1+rke2r1.
const (
	placeVersion = "{version}" // v1.34.1
	placeSemver  = "{semver}"  // 1.34.1
	placeSuffix  = "{suffix}"  // rke2r1: no AMI's name can hold the + before it.
)

// distributions write their suffix so: RKE2, K3s and k0s.
const distributions = `rke2r[0-9]+|k3s[0-9]+|k0s[^A-Za-z0-9]?[0-9]+`

var (
	placeholder = regexp.MustCompile(`[{](?:version|semver|suffix)[}]`)
	// prerelease right behind a version makes another one of it (https://semver.org/#spec-item-9). Kubernetes has these three:
	// https://github.com/kubernetes/sig-release/blob/master/release-engineering/versioning.md
	prerelease   = regexp.MustCompile(`^(?i)([^a-z0-9]*(?:alpha|beta|rc)(?:[.]?[0-9]+)?)(?:[^a-z0-9]|$)`)
	dotDigit     = regexp.MustCompile(`^[.][0-9]`)
	digitDot     = regexp.MustCompile(`[0-9][.]$`)
	alphanumeric = regexp.MustCompile(`^[A-Za-z0-9]`)
	digits       = regexp.MustCompile(`[0-9]+`)
	numbered     = regexp.MustCompile(`^[A-Za-z][^0-9]*[0-9][A-Za-z0-9]*`)
)

// Filter is the pattern that AWS is to filter names by, with its wildcards * and ?. It matches more than a query asks for:
// IsWanted says which.
func Filter(q pool.ImageQuery) string {
	name, _ := fill(q.Name, q.Version)
	return name
}

// fill puts a version into a name format. It returns false when the format asks for what the version does not have.
func fill(format, version string) (string, bool) {
	base, suffix, _ := strings.Cut(version, "+")
	semver := strings.TrimPrefix(base, "v")
	if semver == "" && (strings.Contains(format, placeSemver) || strings.Contains(format, placeVersion)) || suffix == "" && strings.Contains(format, placeSuffix) {
		return format, false
	}
	return strings.NewReplacer(placeSemver, semver, placeVersion, base, placeSuffix, suffix).Replace(format), true
}

// IsWanted returns what tells, of the names that match a query's Filter, those of the query's own version. A wildcard matches
// more: mine-1.34.1* also mine-1.34.10, and *-1.34.1-* also a-1.34.1-rc.1-2. Such a name is of another version, whatever its
// format: it is never wanted. Only what the format itself spells out right beside a placeholder belongs to no version.
func IsWanted(q pool.ImageQuery) func(name string) bool {
	found := placeholder.FindAllStringIndex(q.Name, -1)
	places := make([]place, 0, len(found))
	for _, at := range found {
		places = append(places, placeAt(q, at[0], at[1]))
	}
	return func(name string) bool {
		for _, p := range places {
			if !p.holds(name) {
				return false
			}
		}
		return true
	}
}

// A place is where a name format has a placeholder.
type place struct {
	// text that is to stand there.
	text string
	// before and after match what may stand around it.
	before, after *regexp.Regexp
	// left and right are what the format spells out right beside it.
	left, right string
	// suffix says that it is the suffix's place.
	suffix bool
	// own and other match right behind a version: the pool's own suffix, and any suffix.
	own, other *regexp.Regexp
}

func placeAt(q pool.ImageQuery, from, to int) place {
	_, suffix, _ := strings.Cut(q.Version, "+")
	text, _ := fill(q.Name[from:to], q.Version)
	before, _ := fill(q.Name[:from], q.Version)
	after, _ := fill(q.Name[to:], q.Version)
	p := place{
		text: text, before: wildcards(before), after: wildcards(after),
		left: before[strings.LastIndexAny(before, "*?")+1:], right: after, suffix: q.Name[from:to] == placeSuffix,
	}
	if i := strings.IndexAny(after, "*?"); i >= 0 {
		p.right = after[:i]
	}
	if suffix != "" {
		p.own = regexp.MustCompile(`^[^A-Za-z0-9]*` + regexp.QuoteMeta(suffix) + `(?:[^A-Za-z0-9]|$)`)
		p.other = regexp.MustCompile(`^([^A-Za-z0-9]*(?:` + alike(suffix) + distributions + `))(?:[^A-Za-z0-9]|$)`)
	}
	return p
}

// wildcards is a pattern of AWS's as a regular expression.
func wildcards(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)^` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern)) + `$`)
}

// alike returns an alternative that matches suffixes which differ from a suffix by their numbers alone, up to its first part
// that has one. None where it begins with a number: as much could be a date, or a build.
func alike(suffix string) string {
	part := numbered.FindString(suffix)
	if part == "" {
		return ""
	}
	return digits.ReplaceAllString(regexp.QuoteMeta(part), `[0-9]+`) + `|`
}

// holds reports whether a name has the text there, and nowhere as a part of another version.
func (p place) holds(name string) bool {
	found := false
	for i := range name {
		if !strings.HasPrefix(name[i:], p.text) || !p.before.MatchString(name[:i]) || !p.after.MatchString(name[i+len(p.text):]) {
			continue
		}
		if p.isPart(name[:i], name[i+len(p.text):]) {
			return false
		}
		found = true
	}
	return found
}

// isPart reports whether what stands before and after the text makes another version, or another suffix, of it.
func (p place) isPart(before, after string) bool {
	if p.suffix {
		last := before[max(0, len(before)-1):]
		return p.left == "" && alphanumeric.MatchString(last) || p.right == "" && alphanumeric.MatchString(after)
	}
	return p.beginsBefore(before) || p.goesOn(after)
}

func (p place) beginsBefore(before string) bool {
	if !isDigit(p.text[:min(1, len(p.text))]) {
		return false
	}
	return before != "" && isDigit(before[len(before)-1:]) || !strings.HasSuffix(p.left, ".") && digitDot.MatchString(before)
}

func (p place) goesOn(after string) bool {
	if after != "" && isDigit(after[:1]) || !strings.HasPrefix(p.right, ".") && dotDigit.MatchString(after) {
		return true
	}
	if p.reaches(prerelease, after) {
		return true
	}
	return p.own != nil && !p.own.MatchString(after) && p.reaches(p.other, after)
}

// reaches reports whether what a pattern matches is more than what the format spells out.
func (p place) reaches(pattern *regexp.Regexp, after string) bool {
	m := pattern.FindStringSubmatch(after)
	return len(m) > 1 && len(m[1]) > len(p.right)
}

func isDigit(s string) bool { return s >= "0" && s <= "9" }
