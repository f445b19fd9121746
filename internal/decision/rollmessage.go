package decision

import (
	"fmt"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/rollout"
)

// rollMessage tells a person how far a roll is, and what to do where nothing else will.
func rollMessage(o *pool.Observation, p planned) string { return condition.Message(rollText(o, p)) }

func rollText(o *pool.Observation, p planned) string {
	switch p.Reason {
	case rollout.ReasonTemplateCreating:
		return templateWait(p)
	case rollout.ReasonTemplateFailing:
		return "the provider tries to create the launch template and fails: the conditions of " + naming.ResourceTemplate(p.Current) + ", a managed resource of the pool, say why"
	case rollout.ReasonTooManyTemplates:
		return fmt.Sprintf("%d launch templates of earlier settings may still be in use, and no other is made until some of them have gone: see InfrastructureHealthy and the conditions of autoscaling-group, a managed resource of the pool, for why the group does not use the newest", len(o.Managed.Templates))
	case rollout.ReasonRetrying:
		return fmt.Sprintf("starting the roll again, as attempt %s: waiting for its launch template to exist in AWS", p.Current)
	case rollout.ReasonTemplateNameTaken:
		return "the launch template cannot be created: its name is taken in AWS, and there are no attempts left; delete the templates of the group's name that no group uses, or change spec.rollout.trigger"
	case rollout.ReasonTemplateUndetermined:
		return "the provider was interrupted while it created the launch template: see the managed resource's annotation crossplane.io/external-create-pending, or change spec.rollout.trigger"
	case rollout.ReasonGroupUpdating:
		return "waiting for the group to use launch template " + p.CurrentID
	case rollout.ReasonUpToDate:
		return "the group and every member use launch template " + p.CurrentID
	case rollout.ReasonMembersNotRead:
		return "the group uses launch template " + p.CurrentID + "; whether members are still being replaced is not read"
	case rollout.ReasonMembersUnknown:
		_, why := unread(o, p)
		return "the group uses launch template " + p.CurrentID + "; how far its members are is not known: " + why
	case rollout.ReasonRefreshActive, rollout.ReasonRefreshExpected, rollout.ReasonRefreshSucceeded, rollout.ReasonRefreshNotStarted,
		rollout.ReasonRefreshFailed, rollout.ReasonRefreshCancelled, rollout.ReasonRetriesExhausted, rollout.ReasonMembersSkipped:
		return fmt.Sprintf("%d members are left to replace: %s", *p.Outdated, refreshMessage(o, p))
	}
	return string(p.Reason)
}

// templateWait is what a launch template waits for that is not composed yet, or not in AWS.
func templateWait(p planned) string {
	switch {
	case p.claim.isHeld():
		return "the launch template waits for the group's name: " + p.claim.message
	case p.waits != "":
		return "the launch template waits for " + p.waits
	case p.image.ID == "":
		return "the launch template waits for an image: " + p.image.Message
	}
	return "waiting for the launch template of roll key " + p.Current.String() + " to exist in AWS"
}

func refreshMessage(o *pool.Observation, p planned) string {
	const trigger = "change spec.rollout.trigger to roll again"
	switch p.Reason { //nolint:exhaustive // The others are told without the refresh.
	case rollout.ReasonRefreshActive:
		r := o.AWS.Refresh.Value
		return fmt.Sprintf("the instance refresh is %s, %d%% done", r.Status, r.PercentageComplete)
	case rollout.ReasonRefreshExpected:
		return "waiting for the provider to start an instance refresh"
	case rollout.ReasonRefreshSucceeded:
		return "the instance refresh is over; if the next reading still finds them, the roll starts again"
	case rollout.ReasonRefreshNotStarted:
		return "no instance refresh was started to do so; if the next reading finds the same, the roll starts again"
	case rollout.ReasonRetriesExhausted:
		return fmt.Sprintf("%d retries did not replace them%s; %s", rollout.MaxRetries, saidByAWS(o), trigger)
	case rollout.ReasonMembersSkipped:
		return fmt.Sprintf("a refresh passes over instances that are protected from scale-in or in Standby, these are: %s", condition.Names(p.Skipped))
	}
	return fmt.Sprintf("the instance refresh did not succeed%s; %s once the cause is mended", saidByAWS(o), trigger)
}

// saidByAWS is how the newest refresh ended.
func saidByAWS(o *pool.Observation) string {
	r := o.AWS.Refresh
	if !r.Known() || r.Value == nil {
		return ""
	}
	if r.Value.StatusReason == "" {
		return " (the last one is " + r.Value.Status + ")"
	}
	return fmt.Sprintf(" (the last one is %s: %s)", r.Value.Status, r.Value.StatusReason)
}
