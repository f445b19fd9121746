package validation

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of zones. No AWS region has nearly as many, local zones included.
const (
	maxFailureDomains    = 32
	maxFailureDomainName = 63
)

func failureDomains(path *field.Path, zones []string) field.ErrorList {
	errs := atMostMany(path, len(zones), maxFailureDomains)
	seen := sets.New[string]()
	for i, zone := range zones {
		if seen.Has(zone) {
			errs = append(errs, field.Duplicate(path.Index(i), zone))
		}
		seen.Insert(zone)
		errs = append(errs, notEmpty(path.Index(i), zone)...)
		errs = append(errs, atMostLong(path.Index(i), zone, maxFailureDomainName)...)
	}

	return errs
}
