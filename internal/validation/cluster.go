package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/cluster"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

func clusterSource(path *field.Path, c *v1alpha1.ClusterSource) field.ErrorList {
	if c.ExportsFrom == nil && c.Exports == nil {
		return field.ErrorList{field.Invalid(path, "", "set exportsFrom, exports or both: a pool takes its region, subnets and bucket from its cluster's exports")}
	}

	return append(exportsFrom(path.Child("exportsFrom"), c.ExportsFrom), exports(c.Exports)...)
}

func exportsFrom(path *field.Path, ref *v1alpha1.ExportsReference) field.ErrorList {
	if ref == nil {
		return nil
	}

	errs := syntax.APIVersion.Required(path.Child("apiVersion"), ref.APIVersion)
	errs = append(errs, syntax.Kind.Required(path.Child("kind"), ref.Kind)...)
	if ref.IsSecret() {
		errs = append(errs, field.Invalid(path.Child("kind"), ref.Kind, "a Secret cannot publish exports, which end up in names, tags and messages: name another object"))
	}
	errs = append(errs, syntax.ObjectName.Required(path.Child("name"), ref.Name)...)
	errs = append(errs, namespaceName(path.Child("namespace"), ref.Namespace)...)

	return append(errs, syntax.FieldPath.Check(path.Child("fieldPath"), ref.FieldPath)...)
}

// exports checks inline ones as far as the XRD does. Which of them are missing is for the cluster package to say, of exports
// from wherever they come.
func exports(e *v1alpha1.Exports) field.ErrorList {
	if e == nil {
		return nil
	}

	check := cluster.Inline()
	if errs := check.Bounds(e); len(errs) > 0 {
		return errs
	}
	errs := check.Syntax(e)
	if e.Schema == "" {
		// Of exports that someone else publishes it may be missing like any other field.
		errs = append(errs, field.Required(field.NewPath("spec", "cluster", "exports", "schema"), ""))
	}
	if err := check.Schema(e); err != nil {
		errs = append(errs, err)
	}

	return errs
}
