// Package membership decides who is in a pool, from two readings of AWS that must agree.
package membership

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// MaxInstances is how many instances the status lists one by one. A composite must stay well below etcd's limit of
// 1.5 MiB for an object; a thousand instances take about 300 KiB.
const MaxInstances = 1000

// Members of a pool.
type Members struct {
	// Known says that the reading is whole, and can be trusted to shorten a list.
	Known bool
	// Instances by id, sorted by provider id.
	Instances []pool.Instance
	// Problem is why the members are not known. Nil when they are, or when no one asked.
	Problem *pool.ReadError
}

// Of decides a pool's members, given the provider ids that the last run knew. A reading that failed, or in which EC2
// lacks an instance that the group itself still counts as its own, is not trusted: Cluster API deletes the Nodes of
// members that leave the list.
func Of(r pool.Reading, last []string) Members {
	switch {
	case !r.Group.Asked || !r.Instances.Asked:
		return Members{}
	case r.Group.Failed():
		return Members{Problem: r.Group.Err}
	case r.Instances.Failed():
		return Members{Problem: r.Instances.Err}
	}
	if err := disagreement(r.Group.Value, r.Instances.Value, last); err != nil {
		return Members{Problem: err}
	}
	if r.Group.Value == nil && lacksAny(r.Instances.Value, last) {
		// Without the group there is nothing to hold EC2's list against, and no group where there was one is also what
		// another account or region would answer.
		return Members{}
	}
	instances := sortedByProviderID(r.Instances.Value)
	return Members{Known: true, Instances: instances}
}

// sortedByProviderID makes each id once, as a pool has thousands of them.
func sortedByProviderID(instances []pool.Instance) []pool.Instance {
	if len(instances) == 0 {
		return nil
	}
	byID := make(map[string]pool.Instance, len(instances))
	for _, i := range instances {
		byID[ProviderID(i.Zone, i.ID)] = i
	}
	out := make([]pool.Instance, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		out = append(out, byID[id])
	}
	return out
}

// disagreement says how the group's own list and EC2's contradict each other, nil when they do not.
func disagreement(g *pool.Group, instances []pool.Instance, last []string) *pool.ReadError {
	if g == nil {
		return nil
	}
	if len(g.Members) == 0 && len(instances) == 0 && len(last) > 0 && g.DesiredCapacity > 0 {
		return &pool.ReadError{
			Reason:  pool.ReadPartial,
			Message: fmt.Sprintf("AWS lists no member of a group that had %d and wants %d: not believed until it lists one", len(last), g.DesiredCapacity),
		}
	}
	seen := make(map[string]bool, len(instances))
	for _, i := range instances {
		seen[i.ID] = true
	}
	missing := 0
	for _, m := range g.Members {
		if !seen[m.InstanceID] && isExpected(m, last) {
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	return &pool.ReadError{
		Reason:  pool.ReadPartial,
		Message: fmt.Sprintf("ec2:DescribeInstances returned %d instances and lacks %d that the group lists as its own", len(instances), missing),
	}
}

// lacksAny says that a member that was known is not among the instances.
func lacksAny(instances []pool.Instance, last []string) bool {
	ids := ProviderIDs(instances)
	return slices.ContainsFunc(last, func(id string) bool { return !slices.Contains(ids, id) })
}

// isExpected says that EC2 must list a member of the group: one that is not on its way out, and not on its way in
// either, as a new instance shows in EC2's list only after a while. Once it did, it must again: an instance that waits
// for a lifecycle hook can have a Node for an hour before it is in service.
func isExpected(m pool.GroupMember, last []string) bool {
	if IsLeaving(m) {
		return false
	}
	return !hasState(m, "Pending") || slices.Contains(last, ProviderID(m.Zone, m.InstanceID))
}

// IsLeaving says that a member is on its way out of the group.
func IsLeaving(m pool.GroupMember) bool { return hasState(m, "Terminat") || hasState(m, "Detach") }

// IsStandby says that a member is set aside: a refresh passes over it.
func IsStandby(m pool.GroupMember) bool {
	return hasState(m, "Standby") || hasState(m, "EnteringStandby")
}

// hasState compares with the beginning of a lifecycle state, since most have stages such as Terminating:Wait.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html
func hasState(m pool.GroupMember, prefix string) bool {
	return strings.HasPrefix(m.LifecycleState, prefix)
}

// ProviderID of an instance, exactly as the AWS cloud provider writes it to its Node.
func ProviderID(zone, instanceID string) string { return "aws:///" + zone + "/" + instanceID }

// ProviderIDs of all members, sorted. Never cut.
func ProviderIDs(instances []pool.Instance) []string {
	ids := make([]string, 0, len(instances))
	for _, i := range instances {
		ids = append(ids, ProviderID(i.Zone, i.ID))
	}
	return ids
}

// Statuses of the first MaxInstances members. An instance is up to date when it was launched from the given template;
// whether it was is not known of one that the group does not list, or that someone attached to it by hand.
func Statuses(instances []pool.Instance, g *pool.Group, templateID string) []v1alpha1.Instance {
	templates := map[string]string{}
	if g != nil {
		for _, m := range g.Members {
			templates[m.InstanceID] = m.LaunchTemplateID
		}
	}
	out := make([]v1alpha1.Instance, 0, min(len(instances), MaxInstances))
	for _, i := range instances[:min(len(instances), MaxInstances)] {
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

// WithEarlier adds to a list of provider ids the instances that it lacks, and sorts it.
func WithEarlier(ids []string, earlier []pool.Instance) []string {
	if len(earlier) == 0 {
		return ids
	}
	all := append(ProviderIDs(earlier), ids...)
	slices.Sort(all)
	return slices.Compact(all)
}

// StatusesWithEarlier adds the statuses of instances that a list lacks, up to MaxInstances, and sorts it. Whether those are up
// to date is not known.
func StatusesWithEarlier(statuses []v1alpha1.Instance, earlier []pool.Instance) []v1alpha1.Instance {
	if len(earlier) == 0 {
		return statuses
	}
	have := make(map[string]bool, len(statuses))
	for _, s := range statuses {
		have[s.ProviderID] = true
	}
	out := slices.Clone(statuses)
	for _, s := range Statuses(earlier, nil, "") {
		if !have[s.ProviderID] {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b v1alpha1.Instance) int { return strings.Compare(a.ProviderID, b.ProviderID) })
	return out[:min(len(out), MaxInstances)]
}

// CutNote says that the list of instances is cut, if it is.
func CutNote(total int) string {
	if total <= MaxInstances {
		return ""
	}
	return fmt.Sprintf("; status.instances lists the first %d of %d", MaxInstances, total)
}
