package condition

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxNamed is how many errors, or things of any other kind, a message names.
const maxNamed = 10

// Errors returns a message of the first errors, in their order, that counts the others.
func Errors(errs field.ErrorList) string {
	lines := make([]string, 0, maxNamed+1)
	for _, err := range errs[:min(len(errs), maxNamed)] {
		lines = append(lines, err.Error())
	}
	if more := len(errs) - maxNamed; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return Message(strings.Join(lines, "; "))
}

// Names returns the first names of a list, for a message, and counts the others.
func Names(names []string) string {
	if len(names) <= maxNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
}
