package rollout

import (
	"cmp"
	"slices"
)

// A Phase of a roll.
type Phase string

// Phases, in the order in which a roll passes them.
const (
	// PhaseIdle says that the group uses the current template and that nothing is known to be left to replace.
	PhaseIdle Phase = "Idle"
	// PhaseTemplatePending says that the current template does not exist in AWS yet.
	PhaseTemplatePending Phase = "TemplatePending"
	// PhaseSwitchPending says that the group is told to use the current template and does not yet.
	PhaseSwitchPending Phase = "SwitchPending"
	// PhaseRefreshing says that the group uses the current template and still has members to replace.
	PhaseRefreshing Phase = "Refreshing"
)

// A Template is a launch template that exists as a managed resource.
type Template struct {
	// Resource is its name among the composed resources.
	Resource string
	// ID in AWS; empty until it is created.
	ID string
}

// A Group is the Auto Scaling group as far as a roll needs it.
type Group struct {
	// Sent is the id of the template that was last asked for.
	Sent string
	// Observed is the id of the template that the group has in AWS.
	Observed string
}

// Members is what a whole reading of AWS says about the pool's members.
type Members struct {
	// ByTemplate is how many members were launched from each launch template, by its id.
	ByTemplate map[string]int
	// Refreshing says that an instance refresh is at work.
	Refreshing bool
}

// Outdated is how many members were launched from another template than the given one.
func (m *Members) Outdated(templateID string) int {
	outdated := 0
	for id, n := range m.ByTemplate {
		if id != templateID {
			outdated += n
		}
	}
	return outdated
}

// Inputs to a plan.
type Inputs struct {
	// Current is the composed resource name of the roll key's template.
	Current string
	// Templates that exist, in any order.
	Templates []Template
	// Group that exists; nil before the first composition.
	Group *Group
	// Members as read from AWS; nil when they were not, or not wholly.
	Members *Members
	// MembersWanted says that members ought to be read. A failed reading then proves nothing.
	MembersWanted bool
}

// A Plan says which templates live and which one the group gets.
type Plan struct {
	Phase Phase
	// CurrentID is the AWS id of the roll key's template; empty until it is created.
	CurrentID string
	// GroupID is the AWS id of the template that the group gets; empty when there is none yet.
	GroupID string
	// Keep are the composed resource names of the templates that exist beside the current one and must stay exactly as
	// they are. Sorted.
	Keep []string
	// Outdated members; nil when not known.
	Outdated *int
}

// Of plans a pool's roll.
//
// The group moves to the current template once that exists in AWS, and not before. Every other template stays until
// the group is observed on the current one, both as sent and in AWS, and, where AWS is read, no refresh is at work and
// no member is left on it. Crossplane deletes what a response lacks before it applies the rest, so a template that is
// dropped in the very run that moves the group would be gone while the group still uses it.
func Of(in Inputs) Plan {
	p := Plan{}
	for _, t := range in.Templates {
		if t.Resource == in.Current {
			p.CurrentID = t.ID
		}
	}
	p.GroupID = groupID(in.Group, p.CurrentID)
	if in.Members != nil && p.CurrentID != "" {
		outdated := in.Members.Outdated(p.CurrentID)
		p.Outdated = &outdated
	}
	p.Phase = phase(in, p)
	for _, t := range in.Templates {
		if t.Resource != in.Current && isNeeded(t, in, p) {
			p.Keep = append(p.Keep, t.Resource)
		}
	}
	slices.Sort(p.Keep)
	return p
}

// groupID is the current template once it exists, else whatever the group already has.
func groupID(g *Group, currentID string) string {
	if currentID != "" || g == nil {
		return currentID
	}
	return cmp.Or(g.Sent, g.Observed)
}

func phase(in Inputs, p Plan) Phase {
	switch {
	case p.CurrentID == "":
		return PhaseTemplatePending
	case !isSwitched(in.Group, p.CurrentID):
		return PhaseSwitchPending
	case in.Members != nil && (in.Members.Refreshing || *p.Outdated > 0):
		return PhaseRefreshing
	default:
		return PhaseIdle
	}
}

// isSwitched says that the group is on the current template, both as last sent and in AWS. Either alone can be stale.
func isSwitched(g *Group, currentID string) bool {
	return g != nil && g.Sent == currentID && g.Observed == currentID
}

// isNeeded says that a template other than the current one must stay.
func isNeeded(t Template, in Inputs, p Plan) bool {
	if in.Group == nil {
		// Nothing launches from it. It stays only until the current one exists, so that a pool whose key changes
		// during its creation always has a template on the way.
		return p.CurrentID == ""
	}
	if !isSwitched(in.Group, p.CurrentID) || t.ID == in.Group.Sent || t.ID == in.Group.Observed {
		return true
	}
	if !in.MembersWanted {
		return false
	}
	return in.Members == nil || in.Members.Refreshing || in.Members.ByTemplate[t.ID] > 0
}

// IsActive says whether an instance refresh of a status is still at work. An unknown status counts as active: AWS adds
// some, and to wait is safe.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_InstanceRefresh.html
func IsActive(status string) bool {
	switch status {
	case "Successful", "Failed", "Cancelled", "RollbackSuccessful", "RollbackFailed":
		return false
	}
	return true
}
