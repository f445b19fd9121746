// Package cluster understands what a cluster exports for its pools: contract captf.io/aws-cluster/v1.
package cluster

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// A Checker refuses exports. Its Bounds come first: nothing else is to be made of exports that hold more than they may.
//
// Exports in the pool's own spec are quoted to their author. Of those that another object publishes, an error names fields
// that the contract defines, and nothing else: no value, no key of a map, no length and no place in a list. Whoever names an
// object in spec.cluster.exportsFrom need not be allowed to read it.
type Checker struct {
	path      *field.Path
	published bool
}

// Inline returns the Checker of exports in a pool's own spec.
func Inline() Checker { return Checker{path: field.NewPath("spec", "cluster", "exports")} }

// Published returns the Checker of exports that another object publishes.
func Published() Checker {
	return Checker{path: field.NewPath("spec", "cluster", "exportsFrom"), published: true}
}

// Bounds refuses exports that have more entries than they may, or longer ones. It looks at no entry where there are too
// many.
func (c Checker) Bounds(e *v1alpha1.Exports) field.ErrorList {
	errs := slices.Concat(
		c.atMost(at(c.path, "failure_domains"), len(e.FailureDomains), v1alpha1.MaxZones),
		c.atMost(at(c.path, "security_group_ids", "worker"), len(e.SecurityGroupIDs.Worker), v1alpha1.MaxWorkerSecurityGroups),
	)
	if len(errs) > 0 {
		return errs
	}
	values := append(c.values(e), value{Syntax: syntax.ExportsSchema, place: at(c.path, "schema"), text: e.Schema})
	return c.refuse(values, func(v value) bool { return !v.Fits(v.text) })
}

func (c Checker) atMost(p place, count, most int) field.ErrorList {
	switch {
	case count <= most:
		return nil
	case c.published:
		return field.ErrorList{c.foreign(p, fmt.Sprintf("must have at most %d items", most))}
	}
	return field.ErrorList{field.TooMany(p.path, count, most)}
}

// Schema refuses exports of another contract. Exports that name none at all are incomplete.
func (c Checker) Schema(e *v1alpha1.Exports) *field.Error {
	p, words := at(c.path, "schema"), syntax.ExportsSchema.Words
	switch {
	case e.Schema == "" || syntax.ExportsSchema.Matches(e.Schema):
		return nil
	case c.published:
		return c.foreign(p, words)
	}
	return field.Invalid(p.path, e.Schema, fmt.Sprintf("the cluster exports schema %q, %s", e.Schema, words))
}

// Complete refuses exports that lack a field, naming all of them in one error.
func (c Checker) Complete(e *v1alpha1.Exports) *field.Error {
	missing := c.missing(e)
	if len(missing) == 0 {
		return nil
	}
	return field.Required(c.path, "the exports lack "+strings.Join(missing, ", ")+": add them")
}

// missing are the fields that a pool needs and the exports lack, sorted. They are relative to the exports, for example
// failure_domains.us-east-1a.subnet_id.
func (c Checker) missing(e *v1alpha1.Exports) []string {
	var missing []string
	for name, value := range map[string]string{
		"schema":                   e.Schema,
		"region":                   e.Region,
		"kubernetes_cluster_id":    e.KubernetesClusterID,
		"instance_profiles.worker": e.InstanceProfiles.Worker,
		"bootstrap_bucket":         e.BootstrapBucket,
	} {
		if value == "" {
			missing = append(missing, name)
		}
	}
	if len(e.FailureDomains) == 0 {
		missing = append(missing, "failure_domains")
	}
	for zone, fd := range e.FailureDomains {
		switch {
		case fd.SubnetID != "":
		case c.published:
			missing = append(missing, "failure_domains[*].subnet_id")
		default:
			missing = append(missing, "failure_domains."+zone+".subnet_id")
		}
	}
	if len(e.SecurityGroupIDs.Worker) == 0 || slices.Contains(e.SecurityGroupIDs.Worker, "") {
		missing = append(missing, "security_group_ids.worker")
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// Syntax refuses exports with values that AWS would refuse late, or take for something else: they become host names, tag
// keys and parameters. What is missing is for Complete to say.
func (c Checker) Syntax(e *v1alpha1.Exports) field.ErrorList {
	return c.refuse(c.values(e), func(v value) bool { return (v.isKey || v.text != "") && !v.Matches(v.text) })
}

// A place in exports.
type place struct {
	// name in the contract, for example failure_domains[*].subnet_id: [*] is any entry of a list or a map.
	name string
	// path of just this value.
	path *field.Path
}

func at(exports *field.Path, names ...string) place {
	return place{name: strings.Join(names, "."), path: exports.Child(names[0], names[1:]...)}
}

// A value of exports that has a syntax.
type value struct {
	syntax.Syntax
	place

	text string
	// isKey says that it is the key of a map.
	isKey bool
}

// values that exports hold.
func (c Checker) values(e *v1alpha1.Exports) []value {
	values := append(make([]value, 0, 4+2*len(e.FailureDomains)+len(e.SecurityGroupIDs.Worker)),
		value{Syntax: syntax.Region, place: at(c.path, "region"), text: e.Region},
		value{Syntax: syntax.ClusterID, place: at(c.path, "kubernetes_cluster_id"), text: e.KubernetesClusterID},
		value{Syntax: syntax.InstanceProfile, place: at(c.path, "instance_profiles", "worker"), text: e.InstanceProfiles.Worker},
		value{Syntax: syntax.Bucket, place: at(c.path, "bootstrap_bucket"), text: e.BootstrapBucket},
	)
	zones := at(c.path, "failure_domains")
	for zone, fd := range e.FailureDomains {
		values = append(values,
			value{Syntax: syntax.Zone, place: zones, text: zone, isKey: true},
			value{Syntax: syntax.SubnetID, place: place{name: zones.name + "[*].subnet_id", path: zones.path.Key(zone).Child("subnet_id")}, text: fd.SubnetID})
	}
	groups := at(c.path, "security_group_ids", "worker")
	for i, id := range e.SecurityGroupIDs.Worker {
		values = append(values, value{Syntax: syntax.SecurityGroupID, place: place{name: groups.name + "[*]", path: groups.path.Index(i)}, text: id})
	}
	return values
}

// refuse the values that are wrong, each once, sorted.
func (c Checker) refuse(values []value, wrong func(value) bool) field.ErrorList {
	var errs field.ErrorList
	for _, v := range values {
		switch {
		case !wrong(v):
		case c.published:
			errs = append(errs, c.foreign(v.place, v.Words))
		case v.isKey && v.Fits(v.text):
			errs = append(errs, field.Invalid(v.path.Key(v.text), v.text, v.Words))
		case v.isKey:
			errs = append(errs, field.Invalid(v.path, field.OmitValueType{}, v.Words))
		default:
			errs = append(errs, v.Check(v.path, v.text)...)
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return slices.CompactFunc(errs, func(a, b *field.Error) bool { return a.Error() == b.Error() })
}

// foreign says what is wrong with another object's exports.
func (c Checker) foreign(p place, words string) *field.Error {
	return field.Invalid(c.path, field.OmitValueType{}, fmt.Sprintf("the exports' %s: %s", p.name, words))
}
