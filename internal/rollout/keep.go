package rollout

import (
	"slices"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
)

// maxRetired is how many attempts are remembered as let go. A template takes seconds to go, a roll minutes.
const maxRetired = 10

// maxAttemptLength is more than a roll key, a dash and the highest number have, in bytes.
const maxAttemptLength = 32

// keep returns the templates beside the current one that something may still need.
func keep(in Inputs, p Plan) []string {
	var names []string
	current := naming.ResourceTemplate(p.Current)
	for _, t := range in.Templates {
		if t.Resource != current && isNeeded(t, in, p) {
			names = append(names, t.Resource)
		}
	}
	slices.Sort(names)
	return names
}

func isNeeded(t Template, in Inputs, p Plan) bool {
	if in.GroupLost || t.Unpersisted {
		// The id is sent in this run, so the next one can let it go.
		return true
	}
	if in.Group == nil {
		// Nothing launches from it. It stays only until the current one exists, so that a pool whose key changes
		// during its creation always has a template on the way.
		return p.CurrentID == ""
	}
	if !isSwitched(in.Group, p.CurrentID) {
		return true
	}
	if !in.Wanted {
		return false
	}
	if in.Reading == nil || in.Reading.isRefreshing() {
		return true
	}
	return t.ID != "" && isUsed(in.Reading, t.ID)
}

// isUsed says that AWS has the group or a member on a template, whatever else is seen.
func isUsed(r *Reading, id string) bool {
	return r.TemplateID == id || slices.ContainsFunc(r.Members, func(m Member) bool { return m.TemplateID == id })
}

// retired remembers the attempts at other roll keys, from when they are first seen to be of another key on: in the run
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
