// Package membership decides who is in a pool, from two readings of AWS that must agree.
package membership

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// Members of a pool.
type Members struct {
	// Known says that the reading is whole, and can be trusted to shorten a list.
	Known bool
	// Instances that EC2 lists and that are not gone, sorted by provider id. All of the pool's when Known; else there may be
	// others.
	Instances []pool.Instance
	// Gone are the ids of instances that are known to be terminated or about to be, though the group may list them still.
	Gone map[string]bool
	// Empty says that the group lists no member where there were some, and that this is not believed yet.
	Empty bool
	// Doubted is when a reading was first doubted for the very reason that this one is. Zero when it is not.
	Doubted time.Time
	// Problem is why the members are not known. Nil when they are, or when no one asked.
	Problem *pool.ReadError
}

// A Last is what the last run knew of a pool's members.
type Last struct {
	// ProviderIDs of the list.
	ProviderIDs []string
	// Doubted is its Members' own, and Message that of their problem.
	Doubted time.Time
	Message string
}

// doubtedSince is when a reading was first doubted for the same reason as this one.
func (l Last) doubtedSince(r pool.Reading, message string) time.Time {
	switch {
	case !l.Doubted.IsZero() && strings.HasPrefix(l.Message, message):
		return l.Doubted
	case r.Instances.At.After(r.Group.At):
		return r.Instances.At
	}
	return r.Group.At
}

// Of decides a pool's members. A reading that failed, or in which EC2 lacks an instance that the group itself still counts as
// its own, is not trusted to shorten the list. Cluster API deletes the Nodes of members that leave it. An instance that EC2
// says is terminated is not lacking but gone.
func Of(r pool.Reading, last Last) Members {
	switch {
	case !r.Group.Asked || !r.Instances.Asked:
		return Members{}
	case r.Group.Failed():
		return Members{Problem: r.Group.Err}
	case r.Instances.Failed():
		return Members{Problem: r.Instances.Err}
	}
	if err := unlistable(r.Instances.Value); err != nil {
		return Members{Problem: err}
	}
	g := r.Group.Value
	if g == nil {
		return withoutGroup(r.Instances.Value, last.ProviderIDs)
	}
	if isEmpty(r) && len(last.ProviderIDs) > 0 {
		message := fmt.Sprintf("AWS lists no member of a group that had %d and wants %d: not believed until a later reading says the same",
			len(last.ProviderIDs), g.DesiredCapacity)
		if first := last.doubtedSince(r, message); !isAgreed(r, first) {
			return Members{Empty: true, Doubted: first, Problem: &pool.ReadError{Reason: pool.ReadPartial, Message: message}}
		}
	}
	return compared(r, last)
}

// forgetTime is for how long EC2 lists an instance that was terminated. One that its answers have lacked for that time is gone,
// unless it is in service: Auto Scaling checks those, and takes one that is gone off its own list.
const forgetTime = time.Hour

// unlistable says why a status cannot list all of the instances, nil when it can. A list that is cut would be a shorter one.
func unlistable(instances []pool.Instance) *pool.ReadError {
	if len(instances) > v1alpha1.MaxProviderIDs {
		return &pool.ReadError{
			Reason:  pool.ReadPartial,
			Message: fmt.Sprintf("ec2:DescribeInstances returned %d instances, status.providerIDList has room for %d", len(instances), v1alpha1.MaxProviderIDs),
		}
	}
	for _, i := range instances {
		if len(i.Zone)+len(i.ID) > v1alpha1.MaxProviderIDLength-len(ProviderID("", "")) {
			return &pool.ReadError{
				Reason:  pool.ReadPartial,
				Message: fmt.Sprintf("ec2:DescribeInstances returned an instance whose zone and id take more than %d characters: it is none of EC2's", v1alpha1.MaxProviderIDLength),
			}
		}
	}
	return nil
}

// compared is EC2's list held against the group's own.
func compared(r pool.Reading, last Last) Members {
	instances := r.Instances.Value
	m := Members{Instances: sortedByProviderID(living(instances)), Gone: Ended(instances)}
	seen, missing, checked := idsOf(instances), []string(nil), false
	// Made for the first member that EC2 lacks, which most readings have none of.
	var known map[string]bool
	for _, member := range r.Group.Value.Members {
		if seen[member.InstanceID] {
			continue
		}
		if known == nil {
			known = setOf(last.ProviderIDs)
		}
		switch listed := known[ProviderID(member.Zone, member.InstanceID)]; {
		case isExpected(member, listed):
			missing = append(missing, member.InstanceID)
			checked = checked || isExpected(member, false)
		case IsStandby(member):
			// EC2 has forgotten it, after an hour, and Auto Scaling checks no instance that is set aside.
			m.Gone[member.InstanceID] = true
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		message := fmt.Sprintf("ec2:DescribeInstances lacks %d instances that the group lists as its own: %s", len(missing), condition.Names(missing))
		if first := last.doubtedSince(r, message); checked || r.Instances.At.Sub(first) < forgetTime {
			m.Doubted, m.Problem = first, &pool.ReadError{Reason: pool.ReadPartial, Message: message}
			return m
		}
		for _, id := range missing {
			m.Gone[id] = true
		}
	}
	m.Known = true
	return m
}

// withoutGroup has nothing to hold EC2's list against, and no group where there was one is also what another account or region
// would answer. So each member that was known must be accounted for.
func withoutGroup(instances []pool.Instance, last []string) Members {
	seen := idsOf(instances)
	if slices.ContainsFunc(last, func(id string) bool { return !seen[instanceID(id)] }) {
		return Members{}
	}
	return Members{Known: true, Instances: sortedByProviderID(living(instances)), Gone: Ended(instances)}
}

// isEmpty reports whether neither the group nor EC2 has a member of a group that wants some.
func isEmpty(r pool.Reading) bool {
	g := r.Group.Value
	return len(g.Members) == 0 && len(r.Instances.Value) == 0 && g.DesiredCapacity > 0
}

// isAgreed reports whether a reading is wholly from after the first one, and so another one.
func isAgreed(r pool.Reading, first time.Time) bool {
	return pool.IsAfter(first, r.Group.At) && pool.IsAfter(first, r.Instances.At)
}

func setOf(ids []string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

func idsOf(instances []pool.Instance) map[string]bool {
	out := make(map[string]bool, len(instances))
	for _, i := range instances {
		out[i.ID] = true
	}
	return out
}

// Ended are the ids of the instances that EC2 says have ended, or are about to.
func Ended(instances []pool.Instance) map[string]bool {
	out := map[string]bool{}
	for _, i := range instances {
		if i.Gone() {
			out[i.ID] = true
		}
	}
	return out
}

// living instances, in a list of their own.
func living(instances []pool.Instance) []pool.Instance {
	out := make([]pool.Instance, 0, len(instances))
	for _, i := range instances {
		if !i.Gone() {
			out = append(out, i)
		}
	}
	return out
}

// sortedByProviderID sorts in place, and makes no provider ids to sort by, as a pool has thousands of members.
func sortedByProviderID(instances []pool.Instance) []pool.Instance {
	if len(instances) == 0 {
		return nil
	}
	slices.SortFunc(instances, func(a, b pool.Instance) int {
		if c := compareZones(a.Zone, b.Zone); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return slices.CompactFunc(instances, func(a, b pool.Instance) bool { return a.Zone == b.Zone && a.ID == b.ID })
}

// compareZones as they stand in a provider id, where a slash follows.
func compareZones(a, b string) int {
	if a == b {
		return 0
	}
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 || len(a) == len(b) {
		return c
	}
	if len(a) < len(b) {
		return cmp.Compare('/', b[n])
	}
	return cmp.Compare(a[n], '/')
}

// isExpected reports whether EC2 must list a member of the group, if only as terminated, which it does for an hour. A new instance
// shows there only after a while. One that was terminated while it was set aside is forgotten while the group still lists it, and
// one on its way out may be terminated for long. But each that was listed must be again: an instance that waits for a lifecycle
// hook on its way in can have a Node, and one that waits on its way out is being drained. One that is detached loses the tag by
// which it is found.
func isExpected(m pool.GroupMember, listed bool) bool {
	switch {
	case hasState(m, "Detach"):
		return false
	case hasState(m, "Pending"), IsLeaving(m), IsStandby(m):
		return listed
	}
	return true
}

// IsLeaving reports whether a member is on its way out of the group.
func IsLeaving(m pool.GroupMember) bool { return hasState(m, "Terminat") || hasState(m, "Detach") }

// IsStandby reports whether a member is set aside: a refresh passes over it.
func IsStandby(m pool.GroupMember) bool {
	return hasState(m, "Standby") || hasState(m, "EnteringStandby")
}

// CountStandby counts the instances that are set aside.
func CountStandby(instances []pool.Instance, g *pool.Group) int {
	if g == nil || !slices.ContainsFunc(g.Members, IsStandby) {
		return 0
	}
	n, listed := 0, idsOf(instances)
	for _, m := range g.Members {
		if listed[m.InstanceID] && IsStandby(m) {
			n++
		}
	}
	return n
}

// hasState compares with the beginning of a lifecycle state, since most have stages such as Terminating:Wait.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html
func hasState(m pool.GroupMember, prefix string) bool {
	return strings.HasPrefix(m.LifecycleState, prefix)
}

// ProviderID of an instance, exactly as the AWS cloud provider writes it to its Node.
func ProviderID(zone, instanceID string) string { return "aws:///" + zone + "/" + instanceID }

// instanceID of a provider id.
func instanceID(providerID string) string {
	return providerID[strings.LastIndexByte(providerID, '/')+1:]
}

// ProviderIDs of all members, sorted. Never cut.
func ProviderIDs(instances []pool.Instance) []string {
	ids := make([]string, 0, len(instances))
	for _, i := range instances {
		ids = append(ids, ProviderID(i.Zone, i.ID))
	}
	return ids
}

// Statuses of the first v1alpha1.MaxInstances members. An instance is up to date when it was launched from the given template.
// Whether it was is not known of one that the group does not list, or that someone attached to it by hand.
func Statuses(instances []pool.Instance, g *pool.Group, templateID string) []v1alpha1.Instance {
	shown := instances[:min(len(instances), v1alpha1.MaxInstances)]
	templates := templatesOf(shown, g)
	out := make([]v1alpha1.Instance, 0, len(shown))
	for _, i := range shown {
		s := v1alpha1.Instance{
			ProviderID:    ProviderID(i.Zone, i.ID),
			InstanceID:    i.ID,
			FailureDomain: i.Zone,
			State:         i.State,
		}
		for _, ip := range i.InternalIPs {
			s.Addresses = append(s.Addresses, v1alpha1.Address{Type: "InternalIP", Address: ip})
		}
		if t := templates[i.ID]; t != "" {
			upToDate := t == templateID
			s.UpToDate = &upToDate
		}
		out = append(out, s)
	}
	return out
}

// templatesOf are the launch templates that instances were launched from, by the instance's id.
func templatesOf(instances []pool.Instance, g *pool.Group) map[string]string {
	if g == nil {
		return nil
	}
	templates := make(map[string]string, len(instances))
	for _, i := range instances {
		templates[i.ID] = ""
	}
	for _, m := range g.Members {
		if _, shown := templates[m.InstanceID]; shown {
			templates[m.InstanceID] = m.LaunchTemplateID
		}
	}
	return templates
}

// Updated is a list of provider ids with what a reading adds that is not trusted to shorten it: what EC2 listed, now or a short
// while ago, less what is known to be gone. Sorted. Where the status has no room for all, the list stays as it is: none that it
// has may leave it.
func Updated(ids []string, earlier []pool.Instance, m Members) []string {
	if m.addsNothing(earlier) || unlistable(earlier) != nil {
		return ids
	}
	all := slices.Concat(ids, ProviderIDs(living(earlier)), ProviderIDs(m.Instances))
	all = slices.DeleteFunc(all, func(id string) bool { return m.Gone[instanceID(id)] })
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > v1alpha1.MaxProviderIDs {
		return ids
	}
	return all
}

// UpdatedStatuses are those of a list alike. What EC2 lists now is as it is now; whether a member that was only seen a short
// while ago is up to date is not known.
func UpdatedStatuses(statuses []v1alpha1.Instance, earlier []pool.Instance, m Members, g *pool.Group, templateID string) []v1alpha1.Instance {
	if m.addsNothing(earlier) {
		return statuses
	}
	byID := map[string]v1alpha1.Instance{}
	for _, list := range [][]v1alpha1.Instance{Statuses(living(earlier), nil, ""), statuses, Statuses(m.Instances, g, templateID)} {
		for _, s := range list {
			byID[s.ProviderID] = s
		}
	}
	out := make([]v1alpha1.Instance, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if s := byID[id]; !m.Gone[s.InstanceID] {
			out = append(out, s)
		}
	}
	return out[:min(len(out), v1alpha1.MaxInstances)]
}

// addsNothing to what the last run knew.
func (m Members) addsNothing(earlier []pool.Instance) bool {
	return len(earlier) == 0 && len(m.Instances) == 0 && len(m.Gone) == 0
}

// LastKnown are the instances that a reading lists which is not whole, and beside them those that it lacks, as they were last.
func LastKnown(statuses []v1alpha1.Instance, m Members) []pool.Instance {
	listed, out := idsOf(m.Instances), slices.Clone(m.Instances)
	for _, s := range statuses {
		if !listed[s.InstanceID] && !m.Gone[s.InstanceID] {
			out = append(out, pool.Instance{ID: s.InstanceID, Zone: s.FailureDomain, State: s.State})
		}
	}
	return out
}

// CutNote says that the list of instances is cut, if it is.
func CutNote(total int) string {
	if total <= v1alpha1.MaxInstances {
		return ""
	}
	return fmt.Sprintf("; status.instances lists the first %d of %d", v1alpha1.MaxInstances, total)
}
