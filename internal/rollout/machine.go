package rollout

import (
	"cmp"
	"slices"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
)

// A Phase of a roll.
type Phase string

// Phases of a roll. docs/rollouts.md draws how they follow one another.
const (
	// PhaseIdle says that the group uses the current template and that nothing is known to be left to replace.
	PhaseIdle Phase = v1alpha1.PhaseIdle
	// PhaseTemplatePending says that the current template does not exist in AWS yet.
	PhaseTemplatePending Phase = v1alpha1.PhaseTemplatePending
	// PhaseSwitchPending says that the group is told to use the current template and does not yet.
	PhaseSwitchPending Phase = v1alpha1.PhaseSwitchPending
	// PhaseRefreshing says that the group uses the current template and replaces its members.
	PhaseRefreshing Phase = v1alpha1.PhaseRefreshing
	// PhaseLost says that members are left to replace and that no refresh was ever started to do so.
	PhaseLost Phase = v1alpha1.PhaseLost
	// PhaseStalled says that members are left to replace and that only a person can get the roll going again.
	PhaseStalled Phase = v1alpha1.PhaseStalled
)

// A Reason for a phase.
type Reason string

// Reasons for phases.
const (
	// Idle.
	ReasonUpToDate       Reason = v1alpha1.ReasonUpToDate
	ReasonMembersNotRead Reason = v1alpha1.ReasonMembersNotRead
	// Any phase that can only be known from AWS, while reading AWS fails: the phase is the last known.
	ReasonMembersUnknown Reason = v1alpha1.ReasonMembersUnknown
	// TemplatePending.
	ReasonTemplateCreating     Reason = v1alpha1.ReasonTemplateCreating
	ReasonTemplateFailing      Reason = v1alpha1.ReasonTemplateFailing
	ReasonTemplateNameTaken    Reason = v1alpha1.ReasonTemplateNameTaken
	ReasonTemplateUndetermined Reason = v1alpha1.ReasonTemplateCreationUndetermined
	ReasonTooManyTemplates     Reason = v1alpha1.ReasonTooManyTemplates
	ReasonRetrying             Reason = v1alpha1.ReasonRetrying
	// SwitchPending.
	ReasonGroupUpdating Reason = v1alpha1.ReasonGroupUpdating
	// Refreshing.
	ReasonRefreshActive    Reason = v1alpha1.ReasonRefreshActive
	ReasonRefreshExpected  Reason = v1alpha1.ReasonRefreshExpected
	ReasonRefreshSucceeded Reason = v1alpha1.ReasonRefreshSucceeded
	// Lost.
	ReasonRefreshNotStarted Reason = v1alpha1.ReasonRefreshNotStarted
	// Stalled.
	ReasonRefreshFailed    Reason = v1alpha1.ReasonRefreshFailed
	ReasonRefreshCancelled Reason = v1alpha1.ReasonRefreshCancelled
	ReasonRetriesExhausted Reason = v1alpha1.ReasonRetriesExhausted
	ReasonMembersSkipped   Reason = v1alpha1.ReasonMembersSkipped
)

// MaxRetries of a lost roll, or of a template that gets stuck in creation. A roll that is lost that often has a cause
// that more refreshes do not cure.
const MaxRetries = 3

// generation is how far apart the attempts are at which a roll key starts over, after its earlier templates were let
// go. The last digit of an attempt's number then always counts its retries, whatever else is forgotten.
const generation = 10

// A Template is a launch template that exists as a managed resource.
type Template struct {
	// Resource is its name among the composed resources.
	Resource string
	// ID in AWS; empty until it is created.
	ID string
	// Unpersisted says that the id is not its external name yet. A provider that restarts forgets such an id, and then cannot
	// delete the template.
	Unpersisted bool
	// Terminating says that its managed resource is being deleted, which nothing can stop.
	Terminating bool
	// Created is when its managed resource was; zero when not known.
	Created time.Time
	// Stuck is why the provider cannot create it, empty while it still may.
	Stuck Reason
	// Failing says that it tries, and that its last try failed.
	Failing bool
}

// A Group is the Auto Scaling group as far as a roll needs it.
type Group struct {
	// Sent is the id of the template that was last asked for.
	Sent string
	// Observed is the id of the template that the provider last saw in AWS.
	Observed string
	// Generation grows with every change of what was asked for; zero where it is not known.
	Generation int64
	// Busy says that the provider has an operation of the group under way.
	Busy bool
}

// A Member of the group.
type Member struct {
	ID         string
	TemplateID string
	// Unseen says that EC2 does not list it, and that it is taken for gone. EC2 may be wrong: its template stays.
	Unseen bool
	// Leaving says that it is on its way out.
	Leaving bool
	// Skipped says that a refresh passes over it: it is protected from scale-in, or in Standby.
	Skipped bool
}

// A Refresh is the group's newest instance refresh.
type Refresh struct {
	ID string
	// Status as Auto Scaling spells it.
	Status string
	// Started is when it began: zero where AWS does not say.
	Started time.Time
}

// A Reading is what AWS says of a roll.
type Reading struct {
	// Oldest and Newest are when its parts were asked for: they are kept each on its own, and one can be renewed without the
	// other.
	Oldest, Newest time.Time
	// TemplateID is what the group launches from.
	TemplateID string
	Members    []Member
	// RefreshRead says that the newest refresh was read. It costs a call of its own, so a pool at rest does without.
	RefreshRead bool
	// Refresh is nil when there was never one.
	Refresh *Refresh
}

// isRefreshing reports whether a refresh is known to be at work.
func (r *Reading) isRefreshing() bool { return r.Refresh != nil && IsActive(r.Refresh.Status) }

// NoRefresh stands for the id of a refresh where there was none.
const NoRefresh = "none"

// A Memory is what the last run left in the status. All of it may be lost: a roll then only takes longer, unless an earlier
// roll's refresh that failed or was cancelled is then taken for this one's, which a person has to start again.
type Memory struct {
	RollKey string
	Phase   Phase
	// SentID is the id of the template that the group was told to use.
	SentID string
	// Generation of the group from which that was told. See isOld.
	Generation int64
	// LostReading is the time of the newest part of the reading that first found the roll lost; zero when it is not.
	LostReading time.Time
	// EarlierRefresh is the newest refresh from before the group was told to use the template of SentID, by its id: NoRefresh
	// where there was none, empty where that was not read.
	EarlierRefresh string
	// NewestRefresh is the newest one as last read, alike, while the group was not told yet to use the current template. It
	// is kept beside EarlierRefresh, since the change can be taken back.
	NewestRefresh string
	// Retired are attempts whose templates were let go, and may still exist in AWS. See naming.Attempt.
	Retired []string
}

// Inputs to a plan.
type Inputs struct {
	RollKey string
	// Templates that exist, in any order.
	Templates []Template
	// Group that exists; nil before the first composition.
	Group *Group
	// GroupLost says that there was a group and that it is not observed: nothing is known of what it uses.
	GroupLost bool
	// GroupHeld says that the group cannot be told anything, as what it is made of is not known.
	GroupHeld bool
	// Wanted says that AWS ought to be read. Reading is nil when it was not, or not wholly.
	Wanted  bool
	Reading *Reading
	Memory  Memory
}

// A Plan says which templates live, which one the group gets, and how far the roll is.
type Plan struct {
	Phase  Phase
	Reason Reason
	// Current attempt at the roll key.
	Current naming.Attempt
	// CurrentID is the AWS id of the current attempt's template; empty until it is created.
	CurrentID string
	// GroupID is the AWS id of the template that the group gets; empty when there is none yet.
	GroupID string
	// Keep are the composed resource names of the templates that exist beside the current one and must stay exactly as
	// they are. Sorted.
	Keep []string
	// Outdated members that are to stay and were launched from another template than the current one; nil when not
	// known.
	Outdated *int
	// Skipped are the ids of outdated members that a refresh passes over. Sorted.
	Skipped []string
	// Memory for the next run.
	Memory Memory
}

// Of plans a pool's roll.
//
// The group moves to the current template once that exists in AWS, and not before. Every other template stays until
// the group is observed on the current one, both as sent and in AWS. Where AWS is read, it also stays until no refresh
// is at work and no member is left on it. Crossplane deletes what a response lacks before it applies the rest, so a
// template that is dropped in the very run that moves the group would be gone while the group still uses it.
//
// The provider starts the refresh after it has moved the group, and when that fails never again. A roll that two
// readings find lost is therefore attempted anew with a template of the same content and another name.
func Of(in Inputs) Plan {
	old := isOld(in)
	if old {
		in.Group = asSent(in)
	}
	p := Plan{Current: freshAttempt(in, currentAttempt(in)), Memory: Memory{RollKey: in.RollKey, Retired: retired(in)}}
	current := templateOf(in, p.Current)
	if isRetried(in, &p, current) {
		p.Current.Number++
		current = templateOf(in, p.Current)
	}
	p.CurrentID = current.ID
	p.GroupID = groupID(in, p.CurrentID)
	p.Memory.SentID, p.Memory.Generation = p.GroupID, sentFrom(in, old, p.GroupID)
	p.Outdated, p.Skipped = outdated(in.Reading, p.CurrentID)
	p.Phase, p.Reason = phase(in, p, current)
	p.Memory.Phase = p.Phase
	p.Memory.EarlierRefresh, p.Memory.NewestRefresh = rememberedRefreshes(in, p)
	p.Keep = keep(in, p, old)
	return p
}

func templateOf(in Inputs, a naming.Attempt) Template {
	name := naming.ResourceTemplate(a)
	for _, t := range in.Templates {
		if t.Resource == name {
			return t
		}
	}
	return Template{}
}

// isAboutToSwitch reports whether no run has sent the group to the current template yet, so that what refresh there is was one to
// another. A group that AWS has there already was sent by a run that neither the group nor the status shows.
func isAboutToSwitch(in Inputs, p Plan) bool {
	arrived := in.Reading != nil && in.Reading.TemplateID == p.CurrentID
	return in.Group != nil && in.Group.Sent != p.CurrentID && !arrived
}

// hasSucceeded reports whether a refresh to the current template did. Members that are left all the same joined it too late, or
// were read before its end.
func hasSucceeded(in Inputs, current Template) bool {
	r := in.Reading.Refresh
	return r != nil && r.Status == statusSuccessful && isOfRoll(r, in, current)
}

func phase(in Inputs, p Plan, current Template) (Phase, Reason) {
	switch {
	case current.ID == "":
		return phaseOfCreation(in, p, current)
	case !isSwitched(in.Group, current.ID):
		return PhaseSwitchPending, ReasonGroupUpdating
	case !in.Wanted:
		return PhaseIdle, ReasonMembersNotRead
	case in.Reading == nil:
		return lastKnownPhase(in, p), ReasonMembersUnknown
	}
	return phaseOfMembers(in, p, current)
}

// phaseOfCreation is of a roll whose template has no id.
func phaseOfCreation(in Inputs, p Plan, current Template) (Phase, Reason) {
	switch {
	case current.Stuck != "":
		return PhaseStalled, current.Stuck
	case current.Failing:
		return PhaseTemplatePending, ReasonTemplateFailing
	case current.Resource == "" && isCrowded(in.Templates):
		return PhaseTemplatePending, ReasonTooManyTemplates
	case p.Current.Number%generation > 0:
		return PhaseTemplatePending, ReasonRetrying
	}
	return PhaseTemplatePending, ReasonTemplateCreating
}

// lastKnownPhase stays while AWS cannot be read: what was not seen to end is not over. Where no phase of this roll is
// known that only AWS could end, another template that is still there tells that one is on.
func lastKnownPhase(in Inputs, p Plan) Phase {
	if in.Memory.RollKey == p.Current.RollKey {
		switch in.Memory.Phase {
		case PhaseIdle, PhaseRefreshing, PhaseLost, PhaseStalled:
			return in.Memory.Phase
		case PhaseTemplatePending, PhaseSwitchPending:
		}
	}
	if len(in.Templates) > 1 {
		return PhaseRefreshing
	}
	return PhaseIdle
}

func phaseOfMembers(in Inputs, p Plan, current Template) (Phase, Reason) {
	switch {
	case in.Reading.isRefreshing():
		return PhaseRefreshing, ReasonRefreshActive
	case *p.Outdated == 0:
		return PhaseIdle, ReasonUpToDate
	case *p.Outdated == len(p.Skipped):
		return PhaseStalled, ReasonMembersSkipped
	case !isEvidence(in, current.ID):
		return PhaseRefreshing, ReasonRefreshExpected
	case hasGivenUp(in, current) && in.Reading.Refresh.Status == statusCancelled:
		return PhaseStalled, ReasonRefreshCancelled
	case hasGivenUp(in, current):
		return PhaseStalled, ReasonRefreshFailed
	case isAgreed(in):
		return PhaseStalled, ReasonRetriesExhausted
	case hasSucceeded(in, current):
		return PhaseRefreshing, ReasonRefreshSucceeded
	}
	return PhaseLost, ReasonRefreshNotStarted
}

// groupID is the current template once that exists and the group can be told, else whatever the group already has.
func groupID(in Inputs, currentID string) string {
	if g := in.Group; g != nil && (in.GroupHeld || currentID == "") {
		return cmp.Or(g.Sent, g.Observed)
	}
	return currentID
}

// isSwitched reports whether the group is on the current template, both as last sent and in AWS. Either alone can be stale.
func isSwitched(g *Group, currentID string) bool {
	return currentID != "" && g != nil && g.Sent == currentID && g.Observed == currentID
}

func outdated(r *Reading, currentID string) (*int, []string) {
	if r == nil || currentID == "" {
		return nil, nil
	}
	n, skipped := 0, []string(nil)
	for _, m := range r.Members {
		// An instance that someone attached by hand came from no template.
		if m.Unseen || m.Leaving || m.TemplateID == currentID || m.TemplateID == "" {
			continue
		}
		n++
		if m.Skipped {
			skipped = append(skipped, m.ID)
		}
	}
	slices.Sort(skipped)
	return &n, skipped
}
