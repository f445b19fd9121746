package decision

import (
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/image"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/rollout"
)

// QueryFor returns what to ask of AWS, and false when nothing is. That is without an identity that can be used, while neither the
// exports nor a group say which region to ask. It is also so in a run whose answer Crossplane throws away to come again with what
// it fetches.
func QueryFor(o *pool.Observation) (pool.Query, bool) {
	if o.Input.AWS.Identity == v1beta1.IdentityNone || len(o.InputErrors) > 0 || isFetching(o) {
		return pool.Query{}, false
	}
	exports := exportsOf(o)
	q := pool.Query{
		Identity: pool.Identity{
			Source:            o.Input.AWS.Identity,
			SharedCredentials: o.Credentials,
			AssumeRoleChain:   o.Input.AWS.AssumeRoleChain,
		},
		Tenant: o.Tenant,
		Region: region(o, inputs{exports: exports}),
		// Half the shortest time between two runs, so that each run sees something newer than the one before.
		MaxAge: time.Duration(o.Input.Refresh.ChangingSeconds) * time.Second / 2,
	}
	if exports.value != nil {
		q.Image = image.QueryFor(&o.Composite.Spec)
	}
	switch proven := provenGroupName(o); {
	case proven == "":
		q.Claims = claimedNames(o, exports.value)
	case o.Managed.Group != nil:
		q.GroupName, q.Refresh = proven, isRollVisible(o)
	}
	return q, q.Region != "" && (q.GroupName != "" || q.Image != nil || len(q.Claims) > 0)
}

// isRollVisible reports whether a roll may be on: there is more than one template, the group is not on the current one, or
// the last run saw a roll. Of a group that is not in AWS yet there is none, and to ask for it is an error.
func isRollVisible(o *pool.Observation) bool {
	if !o.Managed.Group.InAWS() {
		return false
	}
	last := o.Composite.Status.Rollout
	if last == nil || last.Phase != string(rollout.PhaseIdle) || last.RollKey != rollout.Key(&o.Composite.Spec) {
		return true
	}
	outdated := last.OutdatedInstances != nil && *last.OutdatedInstances > 0
	return outdated || len(o.Managed.Templates) > 1 || o.Managed.Group.SentTemplateID != o.Managed.Group.TemplateID
}
