package validation

import (
	"fmt"
	"math"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The limits of an OpenAPI schema, in the API server's words.

func between(path *field.Path, value, lowest, highest int32) field.ErrorList {
	if value < lowest {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("%s in body should be greater than or equal to %d", path, lowest))}
	}
	if value > highest {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("%s in body should be less than or equal to %d", path, highest))}
	}

	return nil
}

func notNegative(path *field.Path, value *int32) field.ErrorList {
	if value == nil {
		return nil
	}

	return between(path, *value, 0, math.MaxInt32)
}

func oneOf[T ~string](path *field.Path, value T, allowed ...T) field.ErrorList {
	if sets.New(allowed...).Has(value) {
		return nil
	}

	return field.ErrorList{field.NotSupported(path, value, allowed)}
}

// atMostLong counts characters, as the API server does, although its words say bytes.
func atMostLong(path *field.Path, value string, highest int) field.ErrorList {
	if utf8.RuneCountInString(value) <= highest {
		return nil
	}

	return field.ErrorList{field.TooLong(path, "", highest)}
}

func atMostMany(path *field.Path, count, highest int) field.ErrorList {
	if count <= highest {
		return nil
	}

	return field.ErrorList{field.TooMany(path, count, highest)}
}
