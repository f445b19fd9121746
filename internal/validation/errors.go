package validation

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// sorted joins the lists and sorts them by path, then by what they say. It returns nil when there is nothing to say.
func sorted(lists ...field.ErrorList) field.ErrorList {
	errs := slices.Concat(lists...)
	slices.SortFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Detail, b.Detail))
	})

	return errs
}
