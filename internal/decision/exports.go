package decision

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/cluster"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// exportsInput is the cluster's exports, judged.
type exportsInput struct {
	// value is nil unless the exports are complete, well formed and of the region that the pool is in.
	value     *v1alpha1.Exports
	condition condition.Condition
	refused   field.ErrorList
}

func exportsOf(o *pool.Observation) exportsInput {
	if len(o.InputErrors) > 0 {
		return withoutInput(o)
	}
	switch o.Exports.Source {
	case pool.SourceFound:
	case pool.SourceRefused:
		return refusedExports(o)
	case pool.SourceNotFetched:
		return missingExports(condition.Unknown, v1alpha1.ReasonNotFetched, "waiting for Crossplane to fetch the object of "+exportsObject(o))
	case pool.SourceNotFound:
		return missingExports(condition.False, v1alpha1.ReasonNotFound, exportsObject(o)+": the object does not exist; create it, or change spec.cluster.exportsFrom")
	case pool.SourceEmpty:
		return missingExports(condition.False, v1alpha1.ReasonEmpty, exportsObject(o)+" holds no exports: wait for the cluster to publish them, or change spec.cluster.exportsFrom.fieldPath")
	case pool.SourceMalformed, pool.SourceTooLarge:
		return missingExports(condition.False, v1alpha1.ReasonMalformed, fmt.Sprintf("cannot read the exports of %s: %s", exportsObject(o), o.Exports.Detail))
	}
	return foundExports(o, o.Exports)
}

// withoutInput the exports are as they were last reported: which objects may publish them is for the Input to say.
func withoutInput(o *pool.Observation) exportsInput {
	c, known := o.Conditions[v1alpha1.ConditionClusterExportsAvailable]
	if !known {
		c = condition.New(v1alpha1.ConditionClusterExportsAvailable, condition.Unknown, v1alpha1.ReasonInputUnusable, inputUnusable)
	}
	return exportsInput{condition: c}
}

// refusedExports are those of an object that the pool may not name. A pool that exists goes on as it is: what it may name is
// for the platform to say, and can change under it.
func refusedExports(o *pool.Observation) exportsInput {
	in := missingExports(condition.False, v1alpha1.ReasonRefused, o.Exports.Refused.Error())
	if o.Managed.Group == nil {
		in.refused = field.ErrorList{o.Exports.Refused}
	}
	return in
}

func foundExports(o *pool.Observation, e pool.Exports) exportsInput {
	check := cluster.Published()
	if e.Inline {
		check = cluster.Inline()
	}
	if errs := check.Bounds(e.Value); len(errs) > 0 {
		return unusableExports(o, v1alpha1.ReasonMalformed, errs)
	}
	if err := check.Schema(e.Value); err != nil {
		return unusableExports(o, v1alpha1.ReasonSchemaNotSupported, field.ErrorList{err})
	}
	if err := check.Complete(e.Value); err != nil {
		return unusableExports(o, v1alpha1.ReasonIncomplete, field.ErrorList{err})
	}
	if errs := check.Syntax(e.Value); len(errs) > 0 {
		return unusableExports(o, v1alpha1.ReasonMalformed, errs)
	}
	if r := observedRegion(o); r != "" && r != e.Value.Region {
		return missingExports(condition.False, v1alpha1.ReasonRegionChanged,
			fmt.Sprintf("the cluster now exports another region, the pool's resources are in %s and cannot move: restore the exports, or create another pool", r))
	}
	if id := observedClusterID(o); id != "" && id != e.Value.KubernetesClusterID {
		return missingExports(condition.False, v1alpha1.ReasonClusterIDChanged,
			fmt.Sprintf("the cluster now exports another kubernetes_cluster_id, the pool's resources are tagged for %s and its nodes have joined that cluster: restore the exports, or create another pool", id))
	}
	return exportsInput{value: e.Value, condition: condition.New(v1alpha1.ConditionClusterExportsAvailable, condition.True, v1alpha1.ReasonAvailable, "the cluster's exports are complete")}
}

// unusableExports are refused where only the pool's author can fix them, or when there is no pool yet that they could
// harm. A pool that exists goes on as it is when what another object publishes goes bad.
func unusableExports(o *pool.Observation, reason string, errs field.ErrorList) exportsInput {
	in := missingExports(condition.False, reason, condition.Errors(errs))
	if o.Exports.Inline || reason == v1alpha1.ReasonSchemaNotSupported && o.Managed.Group == nil {
		in.refused = errs
	}
	return in
}

// observedRegion is the one that the pool's resources are in, empty when none is known to be in AWS: a mistyped region holds
// nothing, and can be corrected. A group is composed only once its template is in AWS.
func observedRegion(o *pool.Observation) string {
	if g := o.Managed.Group; g != nil && g.Region != "" {
		return g.Region
	}
	if obj := o.Managed.Object; obj != nil && obj.InAWS && obj.Region != "" {
		return obj.Region
	}
	for _, name := range slices.Sorted(maps.Keys(o.Managed.Templates)) {
		if t := o.Managed.Templates[name]; t.ID != "" && t.Region != "" {
			return t.Region
		}
	}
	return ""
}

// observedClusterID is the one that the group is tagged with, empty without a group.
func observedClusterID(o *pool.Observation) string {
	if o.Managed.Group == nil {
		return ""
	}
	return o.Managed.Group.ClusterID
}

func missingExports(s condition.Status, reason, message string) exportsInput {
	return exportsInput{condition: condition.New(v1alpha1.ConditionClusterExportsAvailable, s, reason, message)}
}

// exportsObject names the object that publishes the exports.
func exportsObject(o *pool.Observation) string {
	ref := o.Composite.Spec.Cluster.ExportsFrom
	if ref == nil {
		return "spec.cluster.exports"
	}
	return fmt.Sprintf("%s of %s %s", ref.FieldPath, ref.Kind, qualified(ref.Namespace, ref.Name))
}

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
