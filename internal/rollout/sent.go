package rollout

import (
	"slices"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
)

// lastSent is the id of the template that the group was last told to use: as it is seen, or as the last run remembers where
// what is seen is older than that. A cache that lags behind shows a group that has not been sent yet what the provider may
// be acting on by now.
func lastSent(in Inputs) string {
	if in.Memory.SentID != "" && in.Memory.SentID != in.Group.Sent && isSwitching(in.Memory.Phase) && isLeft(in, in.Group.Sent) {
		return in.Memory.SentID
	}
	return in.Group.Sent
}

// isSwitching says that no run has seen yet what the group was last told to use. Once one has, no later one sees less.
func isSwitching(p Phase) bool { return p == PhaseTemplatePending || p == PhaseSwitchPending }

// isLeft says that a template was one to leave already when the last run sent the group to another.
func isLeft(in Inputs, id string) bool {
	return slices.ContainsFunc(in.Templates, func(t Template) bool {
		a, ok := naming.AttemptOfTemplate(t.Resource)
		return ok && t.ID == id && slices.Contains(in.Memory.Retired, a.String())
	})
}
