// Package health decides a pool's health by the table of the Terraform module's documentation, with its states, reasons
// and messages, so that whoever reads them today can go on.
package health

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// maxReasons is how many members a health names one by one, so that a pool of thousands that all start at once still
// has a status that fits. The message always holds the full count.
const maxReasons = 100

// Inputs to a pool's health.
type Inputs struct {
	// Asked says that AWS is read at all.
	Asked bool
	// Problem of the reading, nil when it is whole.
	Problem *pool.ReadError
	// GroupName of the group in AWS.
	GroupName string
	// GroupGone says that AWS has no such group, though one was composed.
	GroupGone bool
	// GroupDeleting says that the group's managed resource is being deleted, and with it the group and its members.
	GroupDeleting bool
	// Unread says that members are known from before, and that this run did not come to read them.
	Unread bool
	// Desired capacity; nil when not known.
	Desired *int32
	// Instances of the pool, when the reading is whole.
	Instances []pool.Instance
}

// Of decides a pool's health. The first rule that holds decides.
func Of(in Inputs) v1alpha1.Health {
	switch {
	case in.GroupGone:
		return v1alpha1.Health{State: v1alpha1.HealthTerminated, Message: fmt.Sprintf("Auto Scaling group %s not found", in.GroupName), Reasons: []string{v1alpha1.ReasonGroupNotFound}}
	case in.GroupDeleting:
		return v1alpha1.Health{State: v1alpha1.HealthTerminated, Message: fmt.Sprintf("Auto Scaling group %s is being deleted, as its managed resource is: the pool gets a new one after that", in.GroupName), Reasons: []string{v1alpha1.ReasonGroupDeleting}}
	case in.Problem != nil:
		return v1alpha1.Health{State: v1alpha1.HealthUnknown, Message: in.Problem.Message, Reasons: []string{string(in.Problem.Reason)}}
	case in.Desired != nil && *in.Desired == 0:
		return v1alpha1.Health{State: v1alpha1.HealthRunning, Healthy: true, Message: "the group is scaled to zero"}
	case !in.Asked:
		return v1alpha1.Health{State: v1alpha1.HealthUnknown, Message: "the function does not read AWS: set aws.identity in its Input to see members and their health", Reasons: []string{v1alpha1.ReasonMembershipNotRead}}
	case in.Unread:
		return v1alpha1.Health{State: v1alpha1.HealthUnknown, Message: "the members were not read in this run", Reasons: []string{v1alpha1.ReasonMembershipNotRead}}
	case len(in.Instances) == 0:
		return v1alpha1.Health{State: v1alpha1.HealthPending, Message: waiting(in.Desired), Reasons: []string{v1alpha1.ReasonNoMembers}}
	}
	return ofMembers(in)
}

func waiting(desired *int32) string {
	if desired == nil {
		return "waiting for the first instance"
	}
	return fmt.Sprintf("waiting for the first of %d instances", *desired)
}

func ofMembers(in Inputs) v1alpha1.Health {
	total := len(in.Instances)
	// A desired capacity that is not known is taken to be what is there.
	desired := total
	if in.Desired != nil {
		desired = int(*in.Desired)
	}
	if stopped := inStates(in.Instances, "stopping", "stopped"); len(stopped) > 0 {
		rs := reasons(v1alpha1.ReasonInstanceStopped, stopped)
		return v1alpha1.Health{State: v1alpha1.HealthStopped, Message: notAllRunning(total, desired, rs), Reasons: rs}
	}
	if strange := unheardOf(in.Instances); len(strange) > 0 {
		rs := reasons(v1alpha1.ReasonUnknownState, strange)
		return v1alpha1.Health{State: v1alpha1.HealthUnknown, Message: notAllRunning(total, desired, rs), Reasons: rs}
	}
	pending := inStates(in.Instances, "pending")
	rs := reasons(v1alpha1.ReasonInstancePending, pending)
	if total != desired {
		rs = append(rs, v1alpha1.ReasonScalingInProgress)
	}
	return v1alpha1.Health{
		State:   v1alpha1.HealthRunning,
		Healthy: len(rs) == 0,
		Message: fmt.Sprintf("%d of %d instances running", total-len(pending), desired),
		Reasons: rs,
	}
}

func notAllRunning(total, desired int, reasons []string) string {
	return fmt.Sprintf("%d of %d instances, not all running: %s", total, desired, strings.Join(reasons, ", "))
}

// Running counts the members that run.
func Running(instances []pool.Instance) int32 {
	n := int32(0)
	for _, i := range instances {
		if i.State == "running" {
			n++
		}
	}
	return n
}

func reasons(prefix string, ids []string) []string {
	named := ids[:min(len(ids), maxReasons)]
	if len(named) == 0 {
		return nil
	}
	out := make([]string, 0, len(named)+1)
	for _, id := range named {
		out = append(out, prefix+id)
	}
	return out
}

func inStates(instances []pool.Instance, states ...string) []string {
	var ids []string
	for _, i := range instances {
		if slices.Contains(states, i.State) {
			ids = append(ids, i.ID)
		}
	}
	return sorted(ids)
}

// unheardOf are in a state that EC2 does not have today: not running, whatever it means.
func unheardOf(instances []pool.Instance) []string {
	var ids []string
	for _, i := range instances {
		if !slices.Contains([]string{"pending", "running", "stopping", "stopped"}, i.State) {
			ids = append(ids, i.ID)
		}
	}
	return sorted(ids)
}

func sorted(ids []string) []string {
	slices.Sort(ids)
	return ids
}
