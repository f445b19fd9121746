package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/cluster"
)

// Limits of where exports come from, in characters.
const (
	maxFieldPathLength = 1024
	maxRegionLength    = 63
	maxBucketLength    = 63
	// A tag's key has 128 characters, 22 of them kubernetes.io/cluster/.
	maxClusterIDLength = 106
)

func clusterSource(path *field.Path, c *v1alpha1.ClusterSource) field.ErrorList {
	if c.ExportsFrom == nil && c.Exports == nil {
		return field.ErrorList{field.Invalid(path, "", "set exportsFrom, exports or both: a pool takes its region, subnets and bucket from its cluster's exports")}
	}

	return append(exportsFrom(path.Child("exportsFrom"), c.ExportsFrom), exports(path.Child("exports"), c.Exports)...)
}

func exportsFrom(path *field.Path, ref *v1alpha1.ExportsReference) field.ErrorList {
	if ref == nil {
		return nil
	}

	errs := apiVersion.required(path.Child("apiVersion"), ref.APIVersion)
	errs = append(errs, kind.required(path.Child("kind"), ref.Kind)...)
	if ref.IsSecret() {
		errs = append(errs, field.Invalid(path.Child("kind"), ref.Kind, "a Secret cannot publish exports, which end up in names, tags and messages: name another object"))
	}
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	errs = append(errs, atMostLong(path.Child("name"), ref.Name, maxNameLength)...)
	errs = append(errs, namespaceName(path.Child("namespace"), ref.Namespace)...)
	errs = append(errs, notEmpty(path.Child("fieldPath"), ref.FieldPath)...)

	return append(errs, atMostLong(path.Child("fieldPath"), ref.FieldPath, maxFieldPathLength)...)
}

// exports checks the schema and what the XRD limits. Which of the exports are missing is for the cluster package to say,
// of exports from wherever they come.
func exports(path *field.Path, e *v1alpha1.Exports) field.ErrorList {
	if e == nil {
		return nil
	}

	errs := atMostLong(path.Child("region"), e.Region, maxRegionLength)
	errs = append(errs, atMostLong(path.Child("kubernetes_cluster_id"), e.KubernetesClusterID, maxClusterIDLength)...)
	errs = append(errs, atMostLong(path.Child("bootstrap_bucket"), e.BootstrapBucket, maxBucketLength)...)

	return append(errs, exportsSchema(path, e)...)
}

// exportsSchema must be there: of exports that someone else publishes it may be missing like any other field.
func exportsSchema(path *field.Path, e *v1alpha1.Exports) field.ErrorList {
	schema := path.Child("schema")
	if e.Schema == "" {
		return field.ErrorList{field.Required(schema, "")}
	}
	if errs := atMostLong(schema, e.Schema, maxNameLength); len(errs) > 0 {
		return errs
	}
	if err := cluster.CheckSchema(e, path); err != nil {
		return field.ErrorList{err}
	}

	return nil
}
