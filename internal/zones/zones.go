// Package zones decides which of a cluster's availability zones a pool spans.
package zones

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// RecordAnnotation on the group's managed resource holds the zones that the cluster had when the pool was first
// composed, comma separated. It outlives the composite's status, which a restored backup lacks.
const RecordAnnotation = "machinepool.fn.crossplane.io/inherited-failure-domains"

// Inputs to the choice of zones.
type Inputs struct {
	// Chosen zones: the pool's spec.failureDomains.
	Chosen []string
	// Cluster zones with their subnets, as exported.
	Cluster map[string]v1alpha1.FailureDomain
	// RecordAnnotated on the group's managed resource, see RecordAnnotation. Empty when there is none.
	RecordAnnotated string
	// RecordReported is the status' inheritedFailureDomains.
	RecordReported []string
	// GroupSubnets are the subnets that the observed group spans: the record of last resort.
	GroupSubnets []string
}

// Zones of a pool, each list sorted.
type Zones struct {
	// Effective zones that the pool spans.
	Effective []string
	// Inherited zones: the record, made at the pool's first composition whether or not it chooses zones itself, so
	// that a pool that stops choosing falls back to it.
	Inherited []string
	// Unknown zones that the pool wants and the cluster lacks.
	Unknown []string
	// Subnets of the effective zones.
	Subnets []string
}

// Of decides a pool's zones: the chosen ones, else those of the record, less those that the cluster lacks. A zone that
// the cluster gains later never joins by itself: that would move running instances.
func Of(in Inputs) Zones {
	z := Zones{Inherited: record(in)}
	wanted := in.Chosen
	if len(wanted) == 0 {
		wanted = z.Inherited
	}
	for _, zone := range sorted(wanted) {
		fd, ok := in.Cluster[zone]
		if !ok {
			z.Unknown = append(z.Unknown, zone)
			continue
		}
		z.Effective = append(z.Effective, zone)
		z.Subnets = append(z.Subnets, fd.SubnetID)
	}
	z.Subnets = sorted(z.Subnets)
	return z
}

// FormatRecord returns how the annotation holds the record.
func FormatRecord(inherited []string) string { return strings.Join(inherited, ",") }

// parseRecord is the inverse of FormatRecord. An annotation without a zone holds no record.
func parseRecord(annotation string) []string {
	return named(strings.SplitSeq(annotation, ","))
}

// named are those of the names that a zone can have, sorted, and no more than a cluster can have: records are annotations and
// statuses, which others can write. A name that is none is not recorded again.
func named(names iter.Seq[string]) []string {
	zones := sets.New[string]()
	for name := range names {
		if syntax.Zone.Matches(name) {
			zones.Insert(name)
		}
	}
	if len(zones) == 0 {
		return nil
	}
	all := sets.List(zones)
	return all[:min(len(all), v1alpha1.MaxZones)]
}

func record(in Inputs) []string {
	if recorded := parseRecord(in.RecordAnnotated); len(recorded) > 0 {
		return recorded
	}
	if recorded := named(slices.Values(in.RecordReported)); len(recorded) > 0 {
		return recorded
	}
	// Zones chosen by the spec say nothing of the record, so the group's own subnets only count for a pool that never
	// chose any.
	if spanned := named(slices.Values(spannedBy(in))); len(in.Chosen) == 0 && len(spanned) > 0 {
		return spanned
	}
	return named(maps.Keys(in.Cluster))
}

// spannedBy are the cluster's zones that the group spans.
func spannedBy(in Inputs) []string {
	subnets := sets.New(in.GroupSubnets...)
	var spanned []string
	for zone, fd := range in.Cluster {
		if subnets.Has(fd.SubnetID) {
			spanned = append(spanned, zone)
		}
	}
	return spanned
}

func sorted(s []string) []string {
	out := slices.Clone(s)
	slices.Sort(out)
	return slices.Compact(out)
}
