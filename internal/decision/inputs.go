package decision

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/cluster"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/tagging"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/validation"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/zones"
)

// inputs are what a pool is made of, judged: each is usable, missing for now, or refused for good.
type inputs struct {
	exports   exportsInput
	bootstrap bootstrapInput
	// zones of the pool; the zero value while the exports are missing.
	zones zones.Zones
}

func inputsOf(o *pool.Observation) inputs {
	in := inputs{exports: exportsOf(o)}
	in.bootstrap = bootstrapOf(o, in.exports.value)
	if in.exports.value != nil {
		in.zones = zonesOf(o, in.exports.value)
		in.exports.condition.Message += withoutZones(o, in.zones)
	}
	return in
}

// withoutZones says which zones a pool that chose none goes on without, as the cluster exports them no more: its instances there are
// replaced in the others. Of zones that a pool chose InputsValid tells, and a pool without any is held.
func withoutZones(o *pool.Observation, z zones.Zones) string {
	if len(o.Composite.Spec.FailureDomains) > 0 || len(z.Unknown) == 0 || len(z.Effective) == 0 {
		return ""
	}
	return "; they lack zones that the pool was in (" + condition.Names(z.Unknown) + "): it goes on without them, and comes back to them if they are exported again"
}

func zonesOf(o *pool.Observation, e *v1alpha1.Exports) zones.Zones {
	zi := zones.Inputs{
		Chosen:         o.Composite.Spec.FailureDomains,
		Cluster:        e.FailureDomains,
		RecordReported: o.Composite.Status.InheritedFailureDomains,
	}
	if g := o.Managed.Group; g != nil {
		zi.RecordAnnotated = g.Annotations[zones.RecordAnnotation]
		zi.GroupSubnets = g.Subnets
	}
	return zones.Of(zi)
}

// withheld inputs make nothing: whatever exists is held as it is.
func (in inputs) withheld() inputs {
	in.exports.value = nil
	in.bootstrap = bootstrapInput{dropped: in.bootstrap.dropped, condition: in.bootstrap.condition}
	in.zones = zones.Zones{}
	return in
}

// inputUnusable says what becomes of a pool whose Input cannot be used.
const inputUnusable = "the function's Input, which stands in the Composition, cannot be used"

// butWhatIsSent is what a pool that is held is still sent.
const butWhatIsSent = ", but for its size and its bootstrap data"

// isFetching reports whether Crossplane still fetches an object that the pool refers to. It does so in this reconciliation.
func isFetching(o *pool.Observation) bool {
	return o.Exports.Source == pool.SourceNotFetched || o.Bootstrap.Source == pool.SourceNotFetched
}

// refusals are all the reasons why the pool can never work as it is written, sorted by path.
func (in inputs) refusals(o *pool.Observation) field.ErrorList {
	errs := slices.Concat(o.Undecodable, validation.MachinePool(o.Composite), taken(o.Taken))
	for _, err := range slices.Concat(in.exports.refused, in.bootstrap.refused) {
		// What comes of a field that is refused already says nothing new.
		if !slices.ContainsFunc(errs, func(e *field.Error) bool { return strings.HasPrefix(e.Field, err.Field) }) {
			errs = append(errs, err)
		}
	}
	if o.Managed.Group == nil {
		errs = slices.Concat(errs, in.tooMany(o), in.unknownZones(o))
	}
	// The Input is the Composition's: it refuses a new pool. Where one that exists is refused for another reason, all is said at once.
	if o.Managed.Group == nil || len(errs) > 0 {
		errs = slices.Concat(errs, o.InputErrors)
	}
	return ordered(errs)
}

// taken names refuse a pool that exists as well: whatever a response says then, Crossplane deletes one resource for the other, and
// of a refusal it deletes nothing.
func taken(names []string) field.ErrorList {
	errs := make(field.ErrorList, 0, len(names))
	for _, name := range names {
		errs = append(errs, field.Forbidden(field.NewPath("desired", "resources").Key(name), "an earlier step of the pipeline desires a resource of this name, which is the name of a resource of this pool: rename it in that step"))
	}
	return errs
}

// tooMany are the lists that have too many items only together with what others wrote: the cluster's security groups, the
// Composition's tags. They refuse a new pool.
func (in inputs) tooMany(o *pool.Observation) field.ErrorList {
	if in.exports.value == nil {
		return nil
	}
	var errs field.ErrorList
	for _, err := range []*field.Error{
		tagging.CheckCount(in.tags(o), field.NewPath("spec", "additionalTags")),
		cluster.CheckSecurityGroups(in.securityGroups(o), field.NewPath("spec", "additionalSecurityGroupIDs")),
	} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// fitting are the inputs of a pool that exists. Where others gave it too many items, all that exists is held as it is, but for its
// size and its bootstrap data: nodes join with that.
func (in inputs) fitting(o *pool.Observation) inputs {
	errs := in.tooMany(o)
	if len(errs) == 0 {
		return in
	}
	in.exports = missingExports(condition.False, v1alpha1.ReasonTooMany, condition.Errors(errs)+"; the pool stays as it is until then"+butWhatIsSent)
	in.zones = zones.Zones{}
	in.bootstrap.userData, in.bootstrap.bucket, in.bootstrap.key = "", "", ""
	return in
}

// ordered sorts errors by what they say, and drops repeats. Each is put into words once: there may be thousands.
func ordered(errs field.ErrorList) field.ErrorList {
	type said struct {
		text string
		err  *field.Error
	}
	all := make([]said, 0, len(errs))
	for _, err := range errs {
		all = append(all, said{text: err.Error(), err: err})
	}
	slices.SortStableFunc(all, func(a, b said) int { return strings.Compare(a.text, b.text) })
	all = slices.CompactFunc(all, func(a, b said) bool { return a.text == b.text })
	out := make(field.ErrorList, len(all))
	for i, s := range all {
		out[i] = s.err
	}
	return out
}

// unknownZones are those that the pool chooses and the cluster lacks. A new pool is refused for them. One that exists
// goes on in its other zones, as the cluster can lose a zone at any time.
func (in inputs) unknownZones(o *pool.Observation) field.ErrorList {
	var errs field.ErrorList
	unknown := sets.New(in.zones.Unknown...)
	for i, zone := range o.Composite.Spec.FailureDomains {
		if unknown.Has(zone) {
			err := field.NotFound(field.NewPath("spec", "failureDomains").Index(i), zone)
			err.Detail = "the cluster does not export this zone: choose among those that it exports"
			errs = append(errs, err)
		}
	}
	return errs
}

// securityGroups are the workers', then the pool's additional ones, without repeats.
func (in inputs) securityGroups(o *pool.Observation) []string {
	var ids []string
	seen := sets.New[string]()
	for _, id := range slices.Concat(in.exports.value.SecurityGroupIDs.Worker, o.Composite.Spec.AdditionalSecurityGroupIDs) {
		if !seen.Has(id) {
			seen.Insert(id)
			ids = append(ids, id)
		}
	}
	return ids
}

// tags are those of every resource.
func (in inputs) tags(o *pool.Observation) map[string]string {
	return tagging.All(o.Input.Tags, o.Composite.Spec.AdditionalTags, in.ownTags(o))
}

func (in inputs) ownTags(o *pool.Observation) map[string]string {
	return tagging.Own(tagging.Pool{
		ClusterID: in.exports.value.KubernetesClusterID,
		Namespace: o.Composite.GetNamespace(),
		Name:      o.Composite.GetName(),
	})
}

// validCondition says whether the pool's own spec is good.
func (in inputs) validCondition(o *pool.Observation) condition.Condition {
	if len(o.InputErrors) > 0 {
		return condition.New(v1alpha1.ConditionInputsValid, condition.False, v1alpha1.ReasonInputUnusable, inputUnusable+": "+condition.Errors(o.InputErrors)+"; the pool stays as it is until then"+butWhatIsSent)
	}
	if isFetching(o) {
		return condition.New(v1alpha1.ConditionInputsValid, condition.Unknown, v1alpha1.ReasonNotFetched, "waiting for Crossplane to fetch the objects that the pool refers to")
	}
	if errs := in.unknownZones(o); len(errs) > 0 {
		return condition.New(v1alpha1.ConditionInputsValid, condition.False, v1alpha1.ReasonUnknownFailureDomains, condition.Errors(errs)+"; the pool goes on without them")
	}
	return condition.New(v1alpha1.ConditionInputsValid, condition.True, v1alpha1.ReasonValid, "every input is valid")
}
