package rollout

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
)

// maxRetired is how many attempts are remembered as let go. A template takes seconds to go, a roll minutes.
const maxRetired = 10

// maxAttemptLength is more than a roll key, a dash and the highest number have, in bytes.
const maxAttemptLength = 32

// maxSpare is how many templates are kept, until the group is seen on the current one, that nothing tells a use of: the newest, as
// what is seen may be some runs old. Each edit of what rolls makes one, and can come with each run.
const maxSpare = 3

// maxTemplates is how many there are at most that are not being deleted. All of them count while it is not known which are used, and no
// other is made then. One has up to 300 kB in a response, beside 700 kB of bootstrap data, and Crossplane takes a response of 4 MB.
const maxTemplates = 8

// operationTime is longer than the provider works on one update of a group, which it gives up after 15 minutes.
const operationTime = time.Hour

// keep returns the templates beside the current one that something may still need. old says that the group is seen as it was before
// the last run: see isOld.
func keep(in Inputs, p Plan, old bool) []string {
	var names []string
	current := naming.ResourceTemplate(p.Current)
	spare := spareOf(in, p, old)
	for _, t := range in.Templates {
		if t.Resource != current && isNeeded(t, in, p, spare[t.Resource]) {
			names = append(names, t.Resource)
		}
	}
	slices.Sort(names)
	return names
}

func isNeeded(t Template, in Inputs, p Plan, spare bool) bool {
	if in.GroupLost || t.Unpersisted {
		// The id is sent in this run, so the next one can let it go.
		return true
	}
	if in.Group == nil {
		// Nothing launches from it. It stays only until the current one exists, so that a pool whose key changes
		// during its creation always has a template on the way.
		return p.CurrentID == "" && !spare
	}
	if !isSwitched(in.Group, p.CurrentID) {
		return !spare
	}
	if !in.Wanted {
		return false
	}
	if in.Reading == nil || in.Reading.isRefreshing() {
		return true
	}
	return t.ID != "" && isUsed(in.Reading, t.ID)
}

// spareOf the templates are those that can go although the group is not on the current one: nothing tells a use of them, and the newest
// maxSpare of such stay. None can where it is not known what the group uses, or its members.
func spareOf(in Inputs, p Plan, old bool) map[string]bool {
	spare := map[string]bool{}
	if in.GroupLost || old || in.Group != nil && in.Wanted && in.Reading == nil {
		return spare
	}
	var unused []Template
	for _, t := range in.Templates {
		if t.Resource != naming.ResourceTemplate(p.Current) && isUnused(t, in) {
			unused = append(unused, t)
		}
	}
	slices.SortFunc(unused, func(a, b Template) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.Resource, b.Resource))
	})
	for _, t := range unused[min(len(unused), maxSpare):] {
		spare[t.Resource] = true
	}
	return spare
}

// isUnused reports whether nothing tells a use of a template, and the provider cannot be about to use it.
func isUnused(t Template, in Inputs) bool {
	if t.Unpersisted || t.ID == "" || isNamed(in, t.ID) {
		return false
	}
	return isSettled(in.Group, in.Reading) || isLongAgo(t, in.Reading)
}

// isSettled reports whether the group is where it was told to be, by all that tells. Until then the provider may be about to move it
// to any template that it was told to use meanwhile. Nothing moves a group that there is not.
func isSettled(g *Group, r *Reading) bool {
	return g == nil || g.Sent == g.Observed && (r == nil || r.TemplateID == g.Sent)
}

// isLongAgo reports whether a template was made so long before a reading that no update of the group from its time is still at work.
func isLongAgo(t Template, r *Reading) bool {
	return r != nil && !t.Created.IsZero() && r.Oldest.Sub(t.Created) > operationTime
}

// isNamed reports whether anything tells that the group or a member uses a template, or is told to.
func isNamed(in Inputs, id string) bool {
	if g := in.Group; g != nil && (g.Sent == id || g.Observed == id) {
		return true
	}
	return in.Memory.SentID == id || in.Reading != nil && isUsed(in.Reading, id)
}

// isCrowded reports whether there are so many templates that no other is made.
func isCrowded(templates []Template) bool {
	n := 0
	for _, t := range templates {
		if !t.Terminating {
			n++
		}
	}
	return n >= maxTemplates
}

// isUsed reports whether AWS has the group or a member on a template, whatever else is seen.
func isUsed(r *Reading, id string) bool {
	return r.TemplateID == id || slices.ContainsFunc(r.Members, func(m Member) bool { return m.TemplateID == id })
}

// retired remembers the attempts at other roll keys, from when they are first seen to be of another key on. In the run
// that lets one go it may be too late, as that run's status can get lost.
func retired(in Inputs) []string {
	out := slices.Clone(in.Memory.Retired)
	for _, t := range in.Templates {
		a, ok := naming.AttemptOfTemplate(t.Resource)
		if ok && a.RollKey != in.RollKey && !slices.Contains(out, a.String()) {
			out = append(out, a.String())
		}
	}
	// New ones come in the order of a map, so those are sorted; the oldest are forgotten first.
	slices.Sort(out[len(in.Memory.Retired):])
	return Remembered(out)
}

// Remembered are the latest of the attempts that were let go, as many as are remembered. A text that is longer than any
// attempt's name is none.
func Remembered(attempts []string) []string {
	latest := attempts[max(0, len(attempts)-maxRetired):]
	if slices.ContainsFunc(latest, isNoAttempt) {
		latest = slices.DeleteFunc(slices.Clone(latest), isNoAttempt)
	}
	return latest
}

func isNoAttempt(s string) bool { return len(s) > maxAttemptLength }
