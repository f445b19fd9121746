package validation

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// maxFailureDomains that a pool chooses.
const maxFailureDomains = 32

func failureDomains(path *field.Path, zones []string) field.ErrorList {
	if errs := atMostMany(path, len(zones), maxFailureDomains); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, zone := range zones {
		if seen.Has(zone) {
			errs = append(errs, field.Duplicate(path.Index(i), zone))
		}
		seen.Insert(zone)
		errs = append(errs, syntax.Zone.Check(path.Index(i), zone)...)
	}

	return errs
}
