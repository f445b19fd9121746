package naming

import (
	"strconv"
	"strings"
)

// Names of the composed resources in a Composition's pipeline. Crossplane knows a resource by this name from run to
// run, so none may ever change.
const (
	ResourceGroup  = "autoscaling-group"
	ResourcePolicy = "scaling-policy"
	ResourceObject = "bootstrap-object"

	templatePrefix = "launch-template-"
	hookPrefix     = "lifecycle-hook-"
)

// rollKeyLength is how many hex digits a roll key has.
const rollKeyLength = 8

// An Attempt at rolling a pool to a roll key. Each has a launch template of its own, since a new template is what makes
// the provider start a refresh.
type Attempt struct {
	RollKey string
	// Number of the attempt; the first is 0 and its names do not show it.
	Number int
}

// String is how names show an attempt: <rollKey>, or <rollKey>-<number>.
func (a Attempt) String() string {
	if a.Number == 0 {
		return a.RollKey
	}
	return a.RollKey + "-" + strconv.Itoa(a.Number)
}

// MaxAttempt is the highest number of an attempt. Some 10,000 rolls back to one key get there. A number beyond it was
// written by someone else.
const MaxAttempt = 99_999

// ParseAttempt is the inverse of String.
func ParseAttempt(s string) Attempt {
	key, number, found := strings.Cut(s, "-")
	n, err := strconv.Atoi(number)
	if !found || err != nil || n <= 0 || n > MaxAttempt {
		return Attempt{RollKey: s}
	}
	return Attempt{RollKey: key, Number: n}
}

// ResourceTemplate is the composed resource name of an attempt's launch template.
func ResourceTemplate(a Attempt) string { return templatePrefix + a.String() }

// AttemptOfTemplate is the inverse of ResourceTemplate. It returns false when the resource is no launch template.
func AttemptOfTemplate(resource string) (Attempt, bool) {
	suffix, ok := strings.CutPrefix(resource, templatePrefix)
	return ParseAttempt(suffix), ok
}

// IsTemplate reports whether a composed resource is a launch template of a pool: other steps of a pipeline may call theirs alike,
// and only a name with a roll key is ours.
func IsTemplate(resource string) bool {
	a, ok := AttemptOfTemplate(resource)
	return ok && isRollKey(a.RollKey)
}

// isRollKey reports whether a text is the first 8 hex digits of a hash.
func isRollKey(s string) bool {
	if len(s) != rollKeyLength {
		return false
	}
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}

// ResourceHook is the composed resource name of a lifecycle hook.
func ResourceHook(hook string) string { return hookPrefix + hook }

// IsHook reports whether a composed resource is a lifecycle hook.
func IsHook(resource string) bool { return strings.HasPrefix(resource, hookPrefix) }
