package naming

import "strings"

// Names of the composed resources in a Composition's pipeline. Crossplane knows a resource by this name from run to
// run, so none may ever change.
const (
	ResourceGroup  = "autoscaling-group"
	ResourcePolicy = "scaling-policy"
	ResourceObject = "bootstrap-object"

	templatePrefix = "launch-template-"
	hookPrefix     = "lifecycle-hook-"
)

// ResourceTemplate is the composed resource name of a roll key's launch template.
func ResourceTemplate(rollKey string) string { return templatePrefix + rollKey }

// RollKeyOfTemplate is the inverse of ResourceTemplate. It returns false when the resource is no launch template.
func RollKeyOfTemplate(resource string) (string, bool) {
	return strings.CutPrefix(resource, templatePrefix)
}

// ResourceHook is the composed resource name of a lifecycle hook.
func ResourceHook(hook string) string { return hookPrefix + hook }

// IsHook says whether a composed resource is a lifecycle hook.
func IsHook(resource string) bool { return strings.HasPrefix(resource, hookPrefix) }
