package validation

import (
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Lengths in characters.
const (
	maxNameLength      = 253 // A DNS subdomain.
	maxNamespaceLength = 63  // A DNS label.
)

// objectName is a name that most Kubernetes objects can have: a DNS subdomain.
func objectName(path *field.Path, name, words string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if errs := atMostLong(path, name, maxNameLength); len(errs) > 0 {
		return errs
	}
	if len(content.IsDNS1123Subdomain(name)) == 0 {
		return nil
	}

	return field.ErrorList{field.Invalid(path, name, words)}
}

// namespaceName may be empty: the XR's namespace stands in.
func namespaceName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return nil
	}

	return requiredNamespaceName(path, name)
}

func requiredNamespaceName(path *field.Path, name string) field.ErrorList {
	if errs := atMostLong(path, name, maxNamespaceLength); len(errs) > 0 {
		return errs
	}
	if len(content.IsDNS1123Label(name)) == 0 {
		return nil
	}

	return field.ErrorList{field.Invalid(path, name, "must be the name of a namespace: lower-case letters, digits and -, with a letter or digit first and last")}
}
