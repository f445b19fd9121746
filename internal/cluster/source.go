package cluster

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// IsClusterScoped reports whether the platform lets pools name cluster-scoped objects of a reference's kind.
func IsClusterScoped(allowed v1beta1.ExportsSources, ref *v1alpha1.ExportsReference) bool {
	return slices.Contains(allowed.ClusterKinds, kindOf(ref))
}

// NamespaceOf the object that a reference names: empty for a kind that the platform lists as cluster-scoped, whatever the
// reference's namespace is by default.
func NamespaceOf(allowed v1beta1.ExportsSources, ref *v1alpha1.ExportsReference) string {
	if IsClusterScoped(allowed, ref) {
		return ""
	}
	return ref.Namespace
}

// CheckSource refuses a reference to an object that a pool of a namespace may not name. Crossplane reads such objects with
// rights of its own, which are far wider than those of whoever creates a pool. The error names fields and what the pool's
// author wrote, and nothing of any object.
func CheckSource(allowed v1beta1.ExportsSources, ref *v1alpha1.ExportsReference, namespace string, path *field.Path) *field.Error {
	for _, errs := range []field.ErrorList{
		syntax.APIVersion.Required(path.Child("apiVersion"), ref.APIVersion), syntax.Kind.Required(path.Child("kind"), ref.Kind),
	} {
		if len(errs) > 0 {
			return errs[0]
		}
	}
	switch {
	case ref.IsSecret():
		return field.Invalid(path.Child("kind"), ref.Kind, "a Secret cannot publish exports, which end up in names, tags and messages: name another object")
	case IsClusterScoped(allowed, ref):
		return nil
	case ref.Namespace == "":
		return field.Forbidden(path.Child("kind"), fmt.Sprintf("cluster-scoped objects of kind %s publish no exports here: name an object in a namespace, or have the platform list the kind in exportsFrom.clusterKinds of the function's Input", ref.Kind))
	case len(allowed.Kinds) > 0 && !slices.Contains(allowed.Kinds, kindOf(ref)):
		return field.Forbidden(path.Child("kind"), fmt.Sprintf("objects of kind %s publish no exports here: name an object of another kind, or have the platform list the kind in exportsFrom.kinds of the function's Input", ref.Kind))
	case ref.Namespace != namespace && !slices.Contains(allowed.Namespaces, ref.Namespace):
		return field.Forbidden(path.Child("namespace"), fmt.Sprintf("objects of namespace %s publish no exports for this pool: name an object of the pool's own namespace, or have the platform list the namespace in exportsFrom.namespaces of the function's Input", ref.Namespace))
	}
	return nil
}

func kindOf(ref *v1alpha1.ExportsReference) v1beta1.Kind {
	return v1beta1.Kind{APIVersion: ref.APIVersion, Kind: ref.Kind}
}
