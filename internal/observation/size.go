package observation

import "google.golang.org/protobuf/types/known/structpb"

// How many values, at any depth, a run decodes. A value costs some 200 bytes once it is decoded, whatever its size on the
// wire, and Crossplane sends messages of 4 MB. Without a bound one object of empty values costs as much as a thousand
// pools. Each bound is more than twice what the schema allows.
const (
	// maxSpecValues of a composite's spec. The largest one that the XRD accepts has some 1,000.
	maxSpecValues = 5_000
	// maxInputValues of an Input, which can hold some 400.
	maxInputValues = 5_000
	// maxStatusValues of a composite's status, whose lists of 5,000 provider ids and 1,000 instances have some 20,000.
	maxStatusValues = 50_000
)

// holdsMore reports whether a value holds more than so many values. It stops counting there, and allocates nothing.
func holdsMore(v *structpb.Value, limit int) bool { return left(v, limit) < 0 }

// left is how many values may still come after v; negative where there were too many.
func left(v *structpb.Value, limit int) int {
	limit--
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		for _, field := range kind.StructValue.GetFields() {
			if limit < 0 {
				return limit
			}
			limit = left(field, limit)
		}
	case *structpb.Value_ListValue:
		for _, item := range kind.ListValue.GetValues() {
			if limit < 0 {
				return limit
			}
			limit = left(item, limit)
		}
	}
	return limit
}
