package simulator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A Group is an Auto Scaling group.
type Group struct {
	Name, ARN         string
	Min, Max, Desired int
	// TemplateID that it launches from, at its latest version.
	TemplateID string
	Version    string
	Subnets    []string
	// Settings are the rest of what was asked for.
	Settings Object
	Policies map[string]Object
	Hooks    map[string]Object
	Members  []*Member
	// Refreshes of the group, oldest first.
	Refreshes []*Refresh
	// Failures counts launches that failed.
	Failures int
}

// Lifecycle states of members that are told apart here.
const (
	LifecyclePending     = "Pending"
	LifecycleInService   = "InService"
	LifecycleStandby     = "Standby"
	LifecycleTerminating = "Terminating"
)

// A Member is an instance as its group lists it.
type Member struct {
	ID, Zone   string
	Lifecycle  string
	TemplateID string
	Version    int
	// Protected from scale-in.
	Protected bool

	// missed are the health checks since its instance ended.
	missed int
}

// IsSkipped reports whether neither a refresh nor scaling in takes a member out.
func (m *Member) IsSkipped() bool { return m.Protected || m.Lifecycle == LifecycleStandby }

// States of instances that are told apart here.
const (
	statePending      = "pending"
	stateRunning      = "running"
	stateShuttingDown = "shutting-down"
	stateTerminated   = "terminated"
)

// An Instance as EC2 lists it. Terminated ones stay listed.
type Instance struct {
	ID, Zone, State, IP string
	// Group that tagged it.
	Group string
	// ImageID that it booted.
	ImageID string
	// Ended is when it was terminated.
	Ended time.Time
}

// A groupSpec is what is asked of a group.
type groupSpec struct {
	min, max int
	// desired is nil when it is not asked for.
	desired             *int
	templateID, version string
	subnets             []string
	settings            Object
}

// Live members are those that are not on their way out.
func (g *Group) Live() []*Member {
	var live []*Member
	for _, m := range g.Members {
		if m.Lifecycle != LifecycleTerminating {
			live = append(live, m)
		}
	}
	return live
}

// createGroup starts at its minimum size when no desired capacity is asked for (P8).
func (a *AWS) createGroup(name string, s groupSpec) error {
	if err := a.enter(CreateAutoScalingGroup); err != nil {
		return err
	}
	if _, taken := a.Groups[name]; taken {
		return &APIError{"AlreadyExists", "group " + name}
	}
	g := &Group{Name: name, ARN: a.arn(name), Policies: map[string]Object{}, Hooks: map[string]Object{}}
	if s.desired == nil {
		s.desired = &s.min
	}
	if err := a.adjust(g, s); err != nil {
		return err
	}
	a.Groups[name] = g
	return nil
}

// arn holds a UUID in AWS: a group of the same name that is made again has another.
func (a *AWS) arn(name string) string {
	return fmt.Sprintf("arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:%s:autoScalingGroupName/%s", a.id(""), name)
}

func (a *AWS) updateGroup(name string, s groupSpec) error {
	if err := a.enter(UpdateAutoScalingGroup); err != nil {
		return err
	}
	g, ok := a.Groups[name]
	if !ok {
		return noGroup(name)
	}
	return a.adjust(g, s)
}

// adjust moves the desired capacity when the new bounds leave it out (A2).
func (a *AWS) adjust(g *Group, s groupSpec) error {
	if _, ok := a.Templates[s.templateID]; !ok {
		return &APIError{"ValidationError", "the launch template does not exist: " + s.templateID}
	}
	if s.desired != nil {
		g.Desired = *s.desired
	}
	g.Min, g.Max = s.min, s.max
	g.Desired = min(max(g.Desired, g.Min), g.Max)
	g.TemplateID, g.Version = s.templateID, s.version
	g.Subnets, g.Settings = slices.Clone(s.subnets), Clone(s.settings)
	return nil
}

// drainGroup is deletion without force: to zero first (P10).
func (a *AWS) drainGroup(name string) {
	g := a.Groups[name]
	g.Min, g.Max, g.Desired = 0, 0, 0
}

func (a *AWS) deleteGroup(name string) error {
	if err := a.enter(DeleteAutoScalingGroup); err != nil {
		return err
	}
	g, ok := a.Groups[name]
	if !ok {
		return noGroup(name)
	}
	if len(g.Members) > 0 {
		return &APIError{"ResourceInUse", "group " + name + " still has instances"}
	}
	a.Misdeeds = append(a.Misdeeds, "group "+name+" was deleted")
	delete(a.Groups, name)
	return nil
}

func noGroup(name string) error { return &APIError{"ValidationError", "group name not found: " + name} }

// putOn and removeFrom a group one of its policies or hooks, which fails without the group (P12).
func (a *AWS) putOn(c Call, group, name string, params Object) error {
	if err := a.enter(c); err != nil {
		return err
	}
	g, ok := a.Groups[group]
	if !ok {
		return noGroup(group)
	}
	g.parts(c)[name] = Clone(params)
	return nil
}

func (a *AWS) removeFrom(c Call, group, name string) error {
	if err := a.enter(c); err != nil {
		return err
	}
	if g, ok := a.Groups[group]; ok {
		delete(g.parts(c), name)
	}
	return nil
}

func (g *Group) parts(c Call) map[string]Object {
	if c == PutScalingPolicy || c == DeletePolicy {
		return g.Policies
	}
	return g.Hooks
}

// SetDesired as an autoscaler or a person would. AWS refuses what is out of bounds.
func (a *AWS) SetDesired(group string, desired int) error {
	g, ok := a.Groups[group]
	if !ok {
		return noGroup(group)
	}
	if desired < g.Min || desired > g.Max {
		return &APIError{"ValidationError", "desired capacity out of bounds"}
	}
	g.Desired = desired
	return nil
}

// RemoveGroup out of band, by force: its instances go with it.
func (a *AWS) RemoveGroup(name string) {
	if g, ok := a.Groups[name]; ok {
		for _, m := range g.Members {
			a.end(m.ID, stateTerminated)
		}
		delete(a.Groups, name)
	}
}

// Terminate an instance out of band. Its group replaces it.
func (a *AWS) Terminate(id string) {
	for _, g := range a.Groups {
		for _, m := range g.Members {
			if m.ID == id {
				a.terminate(m)
			}
		}
	}
}

// Tick lets Auto Scaling work for a while: every instance moves one state on, every group takes one step towards its
// desired capacity, every refresh one towards its end.
func (a *AWS) Tick() {
	a.Clock.step()
	for _, name := range sortedKeys(a.Groups) {
		g := a.Groups[name]
		a.moveOn(g)
		if r := g.active(); r != nil {
			a.refresh(g, r)
		}
		a.leaveZones(g)
		a.scale(g)
	}
}

// moveOn in each member's life: a pending one runs, a terminating one is gone.
func (a *AWS) moveOn(g *Group) {
	g.Members = slices.DeleteFunc(g.Members, func(m *Member) bool {
		i := a.Instances[m.ID]
		switch m.Lifecycle {
		case LifecyclePending, LifecycleInService:
			if i.lives() {
				m.Lifecycle, i.State = LifecycleInService, stateRunning
				return false
			}
			a.end(m.ID, stateTerminated)
			if m.missed++; m.missed > 1 {
				m.Lifecycle = LifecycleTerminating
			}
		case LifecycleStandby:
			// No one checks an instance that is set aside.
			if !i.lives() {
				a.end(m.ID, stateTerminated)
			}
		case LifecycleTerminating:
			a.end(m.ID, stateTerminated)
			return true
		}
		return false
	})
}

// leaveZones takes out of the group's zones what is no longer in one, one instance at a time. AZRebalance being suspended
// does not keep it (seed, Exceptions).
func (a *AWS) leaveZones(g *Group) {
	for _, m := range g.Live() {
		if m.Lifecycle == LifecycleInService && !slices.ContainsFunc(g.Subnets, func(s string) bool { return a.Zones[s] == m.Zone }) {
			a.terminate(m)
			return
		}
	}
}

// scale towards the desired capacity. A refresh runs above it while it replaces, and gives up the surplus itself.
func (a *AWS) scale(g *Group) {
	live := g.Live()
	for range g.Desired - len(live) {
		if !a.launch(g) {
			return
		}
	}
	if g.active() != nil {
		return
	}
	// The default termination policy takes those of another launch template first.
	slices.SortStableFunc(live, func(x, y *Member) int {
		return cmp.Compare(b2i(x.TemplateID == g.TemplateID), b2i(y.TemplateID == g.TemplateID))
	})
	surplus := len(live) - g.Desired
	for _, m := range live {
		if surplus <= 0 {
			return
		}
		if !m.IsSkipped() {
			a.terminate(m)
			surplus--
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// launch one instance from the template's latest version, in the emptiest zone. It fails without the template, or
// without a zone.
func (a *AWS) launch(g *Group) bool {
	t, ok := a.Templates[g.TemplateID]
	if !ok || len(g.Subnets) == 0 {
		g.Failures++
		return false
	}
	inZone := map[string]int{}
	for _, s := range g.Subnets {
		inZone[a.Zones[s]] = 0
	}
	for _, m := range g.Live() {
		if _, ok := inZone[m.Zone]; ok {
			inZone[m.Zone]++
		}
	}
	zone := slices.MinFunc(sortedKeys(inZone), func(x, y string) int { return cmp.Compare(inZone[x], inZone[y]) })
	id := a.id("i-")
	a.Instances[id] = &Instance{
		ID: id, Zone: zone, State: statePending, IP: fmt.Sprintf("10.0.%d.%d", a.ids/250, a.ids%250+1), Group: g.Name,
		ImageID: Text(t.Versions[len(t.Versions)-1], "imageId"),
	}
	g.Members = append(g.Members, &Member{ID: id, Zone: zone, Lifecycle: LifecyclePending, TemplateID: t.ID, Version: len(t.Versions)})
	return true
}

func (a *AWS) terminate(m *Member) {
	m.Lifecycle = LifecycleTerminating
	a.end(m.ID, stateShuttingDown)
}

// Reclaim an instance, as EC2 does with Spot instances, or as a person who terminates one in EC2: its group finds out later,
// and never while the instance is in Standby.
func (a *AWS) Reclaim(id string) { a.end(id, stateShuttingDown) }

// Lives reports whether an instance is not terminated, nor about to be.
func (a *AWS) Lives(id string) bool { return a.Instances[id].lives() }

func (i *Instance) lives() bool { return i.State != stateShuttingDown && i.State != stateTerminated }

// end an instance, or take it further to its end.
func (a *AWS) end(id, state string) {
	i := a.Instances[id]
	if i.State != stateTerminated {
		i.State, i.Ended = state, a.Clock.Now()
	}
}

// MemberTemplates returns the templates that live members of a group were launched from.
func (g *Group) MemberTemplates() map[string]int {
	templates := map[string]int{}
	for _, m := range g.Live() {
		templates[m.TemplateID]++
	}
	return maps.Clone(templates)
}
