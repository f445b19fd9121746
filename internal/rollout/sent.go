package rollout

import (
	"slices"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
)

// upToDate is the group as it is seen, unless the last run remembers to have sent it to another template since. A cache that
// lags behind shows a group that has not been sent yet what the provider may be acting on by now. What is observed of it is
// as old then, and says nothing. A status that could not be written is old as well: the group was sent to another template
// since when it is seen on the one that the status has.
func upToDate(in Inputs) *Group {
	g, sent := in.Group, in.Memory.SentID
	if g == nil || sent == "" || sent == g.Sent || sent == g.Observed || !isSwitching(in.Memory.Phase) || !isLeft(in, g.Sent) {
		return g
	}
	return &Group{Sent: sent, Busy: g.Busy}
}

// isSwitching says that no run has seen yet what the group was last told to use. Once one has, no later one sees less.
func isSwitching(p Phase) bool { return p == PhaseTemplatePending || p == PhaseSwitchPending }

// isLeft says that a template was one to leave already when the last run sent the group to another: one of another key, or of
// an earlier attempt at the same.
func isLeft(in Inputs, id string) bool {
	left, found := attemptOf(in, id)
	sent, _ := attemptOf(in, in.Memory.SentID)
	return found && (slices.Contains(in.Memory.Retired, left.String()) || left.RollKey == sent.RollKey && left.Number < sent.Number)
}

// attemptOf the template of an id.
func attemptOf(in Inputs, id string) (naming.Attempt, bool) {
	for _, t := range in.Templates {
		if a, ok := naming.AttemptOfTemplate(t.Resource); ok && t.ID == id {
			return a, true
		}
	}
	return naming.Attempt{}, false
}
