package decision

import (
	"fmt"
	"strings"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/rollout"
)

// Reasons of events that no condition gives one.
const (
	eventRollStarted  = "RollStarted"
	eventRollFinished = "RollFinished"
	eventRollRetried  = "RollRetried"
	// eventGroupSwitched is as far as a roll can be seen without reading members.
	eventGroupSwitched = "GroupSwitched"
)

// told are the conditions whose changes are worth an event. Their good status is True.
var told = map[condition.Type]bool{ //nolint:gochecknoglobals // A constant table.
	v1alpha1.ConditionInputsValid:             true,
	v1alpha1.ConditionClusterExportsAvailable: true,
	v1alpha1.ConditionBootstrapConfigReady:    true,
	v1alpha1.ConditionImageResolved:           true,
	v1alpha1.ConditionInfrastructureHealthy:   true,
}

// passing are reasons for a person to look only if they last: members come and go by themselves, as in each roll and with each
// Spot instance that is reclaimed.
var passing = map[string]bool{ //nolint:gochecknoglobals // A constant table.
	v1alpha1.ReasonScalingInProgress:                        true,
	strings.TrimSuffix(v1alpha1.ReasonInstancePending, ":"): true,
}

// eventsOf tells what changed since the last run, by comparing with what that run reported. A condition that was never
// reported before changes nothing: a new pool is all beginnings.
func eventsOf(o *pool.Observation, conditions []condition.Condition, p planned) []Event {
	events := rollEvents(o, p)
	for _, c := range conditions {
		last, known := o.Conditions[c.Type]
		// Why AWS cannot be read may change from run to run, and that it cannot was told.
		same := last.Status == c.Status && (last.Reason == c.Reason || c.Status == condition.Unknown)
		if !told[c.Type] || !known || same {
			continue
		}
		events = append(events, Event{Warning: c.Status != condition.True && !passing[c.Reason], Reason: c.Reason, Message: condition.Message(c.Type + ": " + c.Message)})
	}
	return events
}

// rollEvents tell of a roll's turns.
func rollEvents(o *pool.Observation, p planned) []Event {
	last, known := o.Conditions[v1alpha1.ConditionRollingOut]
	status := o.Composite.Status.Rollout
	if !known || status == nil {
		return nil
	}
	message := rollMessage(o, p)
	switch {
	case isAnotherAttempt(status, p, message):
		return []Event{{Warning: true, Reason: eventRollRetried, Message: message}}
	case !o.Managed.Group.InAWS():
		return nil
	case status.RollKey != p.Memory.RollKey:
		return []Event{{Reason: eventRollStarted, Message: condition.Message(fmt.Sprintf("rolling from roll key %s to %s: %s", status.RollKey, p.Memory.RollKey, message))}}
	case last.Reason == string(p.Reason):
		return nil
	case needsLook(p):
		return []Event{{Warning: true, Reason: string(p.Reason), Message: message}}
	case last.Status == condition.True && ends[p.Reason] != "":
		return []Event{{Reason: ends[p.Reason], Message: message}}
	}
	return nil
}

// isAnotherAttempt reports whether the function starts a roll again. An event says so for each attempt, because each replaces nodes.
func isAnotherAttempt(last *v1alpha1.RolloutStatus, p planned, message string) bool {
	return p.Reason == rollout.ReasonRetrying && last.RollKey == p.Memory.RollKey && last.Message != message
}

// needsLook reports whether a person should look at a roll.
func needsLook(p planned) bool {
	return p.Phase == rollout.PhaseLost || p.Phase == rollout.PhaseStalled || p.Reason == rollout.ReasonTemplateFailing
}

// ends of a roll as far as it can be seen.
var ends = map[rollout.Reason]string{ //nolint:gochecknoglobals // A constant table.
	rollout.ReasonUpToDate:       eventRollFinished,
	rollout.ReasonMembersNotRead: eventGroupSwitched,
}
