package simulator

import (
	"slices"
	"time"
)

// Statuses of an instance refresh that are told apart here.
const (
	RefreshPending    = "Pending"
	RefreshInProgress = "InProgress"
	RefreshCancelling = "Cancelling"
	RefreshCancelled  = "Cancelled"
	RefreshSuccessful = "Successful"
	RefreshFailed     = "Failed"
)

// patience of a refresh with launches that fail, in ticks.
const patience = 3

// A Refresh is an instance refresh.
type Refresh struct {
	ID, Status, Reason string
	Started            time.Time
	// Replace are the members that it started with.
	Replace []string

	failures int
}

// IsRefreshing reports whether a refresh is at work.
func (g *Group) IsRefreshing() bool { return g.active() != nil }

// active refresh of a group, nil when none is at work.
func (g *Group) active() *Refresh {
	if len(g.Refreshes) == 0 {
		return nil
	}
	last := g.Refreshes[len(g.Refreshes)-1]
	if slices.Contains([]string{RefreshPending, RefreshInProgress, RefreshCancelling}, last.Status) {
		return last
	}
	return nil
}

// startRefresh of all members. There is one at a time.
func (a *AWS) startRefresh(group string) error {
	if err := a.enter(StartInstanceRefresh); err != nil {
		return err
	}
	g, ok := a.Groups[group]
	if !ok {
		return noGroup(group)
	}
	if g.active() != nil {
		// The call itself came to nothing.
		a.Calls[StartInstanceRefresh]--
		return &APIError{codeRefreshInProgress, "an instance refresh is already in progress"}
	}
	r := &Refresh{ID: a.id("refresh-"), Status: RefreshPending, Started: a.Clock.Now()}
	for _, m := range g.Live() {
		r.Replace = append(r.Replace, m.ID)
	}
	g.Refreshes = append(g.Refreshes, r)
	a.Refreshes++
	return nil
}

const codeRefreshInProgress = "InstanceRefreshInProgress"

// cancelRefresh rolls nothing back (P6).
func (a *AWS) cancelRefresh(group string) error {
	if err := a.enter(CancelInstanceRefresh); err != nil {
		return err
	}
	if g, ok := a.Groups[group]; ok && g.active() != nil {
		g.active().Status = RefreshCancelling
	}
	return nil
}

// FailRefresh makes AWS give up the refresh that is at work.
func (g *Group) FailRefresh(why string) {
	if r := g.active(); r != nil {
		r.Status, r.Reason = RefreshFailed, why
	}
}

// CancelRefresh that is at work, by hand.
func (g *Group) CancelRefresh() {
	if r := g.active(); r != nil {
		r.Status = RefreshCancelling
	}
}

// A Move of a group from one launch template to another. A refresh belongs to each.
type Move struct {
	From, To string
	// Name of the template that the group moved to.
	Name string
	// Before is the refresh that was the group's newest when it moved, nil when there was none.
	Before *Refresh
	// Refresh that was started for it, nil when none was yet.
	Refresh *Refresh
	// Lost says that starting one failed.
	Lost bool
}

func (a *AWS) moved(g *Group, from string) *Move {
	m := &Move{From: from, To: g.TemplateID, Name: a.Templates[g.TemplateID].Name}
	if n := len(g.Refreshes); n > 0 {
		m.Before = g.Refreshes[n-1]
	}
	a.Moves = append(a.Moves, m)
	return m
}

// refresh takes one step: with a healthy minimum of 100 % and maximum of 200 % it launches before it terminates.
func (a *AWS) refresh(g *Group, r *Refresh) {
	switch r.Status {
	case RefreshPending:
		r.Status = RefreshInProgress
		return
	case RefreshCancelling:
		r.Status = RefreshCancelled
		return
	}
	left := g.leftToReplace(r)
	if len(left) == 0 {
		r.Status = RefreshSuccessful
		return
	}
	a.replace(g, r, left)
}

func (a *AWS) replace(g *Group, r *Refresh, left []*Member) {
	live, inService := g.Live(), 0
	for _, m := range live {
		if m.Lifecycle == LifecycleInService || m.Lifecycle == LifecycleStandby {
			inService++
		}
	}
	if surplus := inService - g.Desired; surplus > 0 {
		for _, m := range left[:min(surplus, len(left))] {
			a.terminate(m)
		}
		return
	}
	if len(live) > g.Desired {
		// Replacements are on their way in.
		return
	}
	for range min(len(left), g.Desired) {
		if !a.launch(g) {
			r.failures++
			break
		}
	}
	if r.failures >= patience {
		r.Status, r.Reason = RefreshFailed, "instances failed to launch"
	}
}

// leftToReplace are the members that a refresh still has to replace. Protected and Standby ones are ignored, so that it
// can succeed with old ones left (A3).
func (g *Group) leftToReplace(r *Refresh) []*Member {
	var left []*Member
	for _, m := range g.Live() {
		if slices.Contains(r.Replace, m.ID) && !m.IsSkipped() {
			left = append(left, m)
		}
	}
	return left
}

// percentage of a refresh that is done.
func (g *Group) percentage(r *Refresh) int {
	if len(r.Replace) == 0 {
		return 100
	}
	return 100 * (len(r.Replace) - len(g.leftToReplace(r))) / len(r.Replace)
}
