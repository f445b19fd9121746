// Package health decides a pool's health by the table of the seed's documentation.
package health

import (
	"fmt"
	"slices"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// States of a pool.
const (
	StateUnknown    = "unknown"
	StatePending    = "pending"
	StateRunning    = "running"
	StateStopped    = "stopped"
	StateTerminated = "terminated"
)

// Reasons of a pool's health. Those that end in a colon are followed by an instance id.
const (
	ReasonMembershipNotRead = "MembershipNotRead"
	ReasonGroupNotFound     = "GroupNotFound"
	ReasonNoMembers         = "NoMembers"
	ReasonInstanceStopped   = "InstanceStopped:"
	ReasonInstancePending   = "InstancePending:"
	ReasonScalingInProgress = "ScalingInProgress"
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
	// GroupGone says that AWS has no such group, though one was composed.
	GroupGone bool
	// Desired capacity; nil when not known.
	Desired *int32
	// Instances of the pool, when the reading is whole.
	Instances []pool.Instance
}

// Of decides a pool's health. The first rule that holds decides.
func Of(in Inputs) v1alpha1.Health {
	switch {
	case in.GroupGone:
		return v1alpha1.Health{State: StateTerminated, Message: "the Auto Scaling group does not exist in the account and region that the function reads", Reasons: []string{ReasonGroupNotFound}}
	case in.Problem != nil:
		return v1alpha1.Health{State: StateUnknown, Message: in.Problem.Message, Reasons: []string{string(in.Problem.Reason)}}
	case in.Desired != nil && *in.Desired == 0:
		return v1alpha1.Health{State: StateRunning, Healthy: true, Message: "the pool is scaled to 0"}
	case !in.Asked:
		return v1alpha1.Health{State: StateUnknown, Message: "the function does not read AWS: set aws.identity in its Input to see members and their health", Reasons: []string{ReasonMembershipNotRead}}
	case len(in.Instances) == 0:
		return v1alpha1.Health{State: StatePending, Message: "the group has no member yet", Reasons: []string{ReasonNoMembers}}
	}
	return ofMembers(in)
}

func ofMembers(in Inputs) v1alpha1.Health {
	total := len(in.Instances)
	if stopped := inStates(in.Instances, "stopping", "stopped"); len(stopped) > 0 {
		return v1alpha1.Health{
			State:   StateStopped,
			Message: fmt.Sprintf("%d of %d members are stopping or stopped", len(stopped), total),
			Reasons: reasons(ReasonInstanceStopped, stopped),
		}
	}
	pending := notRunning(in.Instances)
	if len(pending) == 0 && in.Desired != nil && total == int(*in.Desired) {
		return v1alpha1.Health{State: StateRunning, Healthy: true, Message: fmt.Sprintf("all %d members are running", total)}
	}
	h := v1alpha1.Health{
		State:   StateRunning,
		Message: fmt.Sprintf("%d of %d members are running", total-len(pending), total),
		Reasons: append(reasons(ReasonInstancePending, pending), ReasonScalingInProgress),
	}
	if in.Desired != nil {
		h.Message += fmt.Sprintf(", %d are desired", *in.Desired)
	}
	return h
}

func reasons(prefix string, ids []string) []string {
	out := make([]string, 0, min(len(ids), maxReasons)+1)
	for _, id := range ids[:min(len(ids), maxReasons)] {
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

// notRunning treats a state that no one has heard of like pending: it does not run.
func notRunning(instances []pool.Instance) []string {
	var ids []string
	for _, i := range instances {
		if i.State != "running" {
			ids = append(ids, i.ID)
		}
	}
	return sorted(ids)
}

func sorted(ids []string) []string {
	slices.Sort(ids)
	return ids
}
