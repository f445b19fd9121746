package decision

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// QueryAgain returns what to ask anew before a decision is believed, and false when it can be.
//
// Answers of AWS are kept for some seconds, and by each replica of the function on its own, among which Crossplane balances
// its calls. So an answer that was kept can be older than the one that the status was made from. It may confirm what the
// status says; what it would change is read anew first, in this run, which begins after every run before it has ended. A list
// of members then never gets shorter, an image, a phase or an attempt never moves, and no template is let go. None of that
// happens because of an answer that is older than another one which a run was given before, whichever replica that was.
// Nothing has to be remembered for it and no clocks are compared. Replicas do not take turns in what they report. As a pool
// at rest confirms its status in every run, it costs a call only when something changes.
func QueryAgain(o *pool.Observation, d Decision) (pool.Query, bool) {
	if len(d.Refused) > 0 {
		return pool.Query{}, false
	}
	news := isNews(o, d)
	anew := pool.Parts{
		Members: news && (o.AWS.Group.Kept() || o.AWS.Instances.Kept()),
		Refresh: news && o.AWS.Refresh.Kept(),
		Image:   o.AWS.Image.Kept() && (changesImage(o, d) || unresolvesImage(o, d)),
	}
	if anew == (pool.Parts{}) {
		return pool.Query{}, false
	}
	q, ask := QueryFor(o)
	q.Anew = anew
	return q, ask
}

// isNews reports whether a decision changes what the status says, or lets a template go.
func isNews(o *pool.Observation, d Decision) bool {
	kept := 0
	for _, t := range d.Templates {
		if _, exists := o.Managed.Templates[t.Resource]; exists {
			kept++
		}
	}
	// The status comes back from the API server without what is empty.
	return kept < len(o.Managed.Templates) || !equality.Semantic.DeepEqual(o.Composite.Status, d.Status)
}

// changesImage reports whether a decision gives a template that exists another image.
func changesImage(o *pool.Observation, d Decision) bool {
	for _, t := range d.Templates {
		observed, exists := o.Managed.Templates[t.Resource]
		if exists && t.Held == nil && t.ImageID != observed.ImageID {
			return true
		}
	}
	return false
}

// unresolvesImage reports whether a decision withdraws or restores what was last reported of the image.
func unresolvesImage(o *pool.Observation, d Decision) bool {
	last, known := o.Conditions[v1alpha1.ConditionImageResolved]
	return known && slices.ContainsFunc(d.Conditions, func(c condition.Condition) bool {
		return c.Type == v1alpha1.ConditionImageResolved && c.Status != last.Status
	})
}
