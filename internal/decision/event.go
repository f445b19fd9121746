package decision

import (
	"fmt"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// told are the conditions whose changes are worth an event, and the status that is good news.
var told = map[condition.Type]condition.Status{
	condition.TypeInputsValid:             condition.True,
	condition.TypeClusterExportsAvailable: condition.True,
	condition.TypeBootstrapConfigReady:    condition.True,
	condition.TypeImageResolved:           condition.True,
	condition.TypeInfrastructureHealthy:   condition.True,
}

// eventsOf tells what changed since the last run, by comparing with what that run reported. A condition that was never
// reported before changes nothing: a new pool is all beginnings.
func eventsOf(o *pool.Observation, conditions []condition.Condition, rollKey string) []Event {
	var events []Event
	if last := o.Composite.Status.Rollout; last != nil && last.RollKey != "" && rollKey != "" && last.RollKey != rollKey {
		events = append(events, Event{Reason: "RollStarted", Message: fmt.Sprintf("rolling the instances from roll key %s to %s", last.RollKey, rollKey)})
	}
	for _, c := range conditions {
		good, tell := told[c.Type]
		last, known := o.Conditions[c.Type]
		if !tell || !known || last.Status == c.Status && last.Reason == c.Reason {
			continue
		}
		events = append(events, Event{Warning: c.Status != good, Reason: c.Reason, Message: c.Type + ": " + c.Message})
	}
	return events
}
