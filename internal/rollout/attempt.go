package rollout

import (
	"slices"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
)

// currentAttempt is the latest that exists, else one whose name no template that was let go can still bear.
func currentAttempt(in Inputs) naming.Attempt {
	latest, exists := -1, false
	for _, t := range in.Templates {
		if a, ok := naming.AttemptOfTemplate(t.Resource); ok && a.RollKey == in.RollKey {
			latest, exists = max(latest, a.Number), true
		}
	}
	if exists {
		return naming.Attempt{RollKey: in.RollKey, Number: latest}
	}
	for _, r := range in.Memory.Retired {
		if a := naming.ParseAttempt(r); a.RollKey == in.RollKey {
			latest = max(latest, a.Number)
		}
	}
	if latest < 0 {
		return naming.Attempt{RollKey: in.RollKey}
	}
	return nextGeneration(naming.Attempt{RollKey: in.RollKey, Number: latest})
}

// freshAttempt is the current one, or where that cannot be used the next generation of its roll key:
//
//   - Its template is being deleted. That is so when a key comes back whose template was let go, and the status that knew was
//     lost; or when someone deletes a managed resource by hand.
//   - The group was told to leave its template. The template may have been let go since, in a run whose outcome is not seen
//     yet. And to be seen on it would not prove that the group is back: the provider shows the old template until its
//     operation is over, and it may be on the other one by then. An id that the group never had proves that it is back.
//     Without a status only those are known to have been left which the group is still seen on.
func freshAttempt(in Inputs, current naming.Attempt) naming.Attempt {
	t := templateOf(in, current)
	left := isLeaving(in.Group, t.ID) && (in.Group.Observed == t.ID || slices.Contains(in.Memory.Retired, current.String()))
	if t.Terminating || left {
		return nextGeneration(current)
	}
	return current
}

// isLeaving reports whether a group was told to use another template than the one of an id.
func isLeaving(g *Group, id string) bool {
	return g != nil && id != "" && g.Sent != "" && g.Sent != id
}

// nextGeneration is the attempt at which a roll key starts over. After the highest number it is the first one again. A name
// that is still taken stalls the roll, which a person can help, and a number that names no attempt would start rolls for ever.
func nextGeneration(a naming.Attempt) naming.Attempt {
	next := (a.Number/generation + 1) * generation
	if next > naming.MaxAttempt {
		next = 0
	}
	return naming.Attempt{RollKey: a.RollKey, Number: next}
}
