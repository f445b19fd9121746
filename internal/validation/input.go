package validation

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// Bounds of a response's time to live, in seconds. 0 would mean that Crossplane never asks again.
const (
	minRefreshSeconds = 1
	maxRefreshSeconds = 86400
)

// maxAssumedRoles is how many roles can be chained.
const maxAssumedRoles = 10

// Input returns everything that is wrong with an Input that has its defaults, sorted by path. Crossplane does not validate
// Inputs.
func Input(in *v1beta1.Input) field.ErrorList {
	ref, refresh := field.NewPath("providerConfigRef"), field.NewPath("refresh")

	return sorted(
		oneOf(ref.Child("kind"), in.ProviderConfigRef.Kind, v1beta1.KindClusterProviderConfig, v1beta1.KindProviderConfig),
		objectName(ref.Child("name"), in.ProviderConfigRef.Name, "must be the name of a provider configuration: lower-case letters, digits, - and ., with a letter or digit first and last"),
		tags(field.NewPath("tags"), in.Tags),
		exportsSources(field.NewPath("exportsFrom"), &in.ExportsFrom),
		awsIdentity(field.NewPath("aws"), &in.AWS),
		between(refresh.Child("stableSeconds"), in.Refresh.StableSeconds, minRefreshSeconds, maxRefreshSeconds),
		between(refresh.Child("changingSeconds"), in.Refresh.ChangingSeconds, minRefreshSeconds, maxRefreshSeconds),
	)
}

// maxExportsSources is how many namespaces and how many kinds of objects an Input can list.
const maxExportsSources = 64

func exportsSources(path *field.Path, s *v1beta1.ExportsSources) field.ErrorList {
	namespaces := path.Child("namespaces")
	errs := atMostMany(namespaces, len(s.Namespaces), maxExportsSources)
	seen := sets.New[string]()
	for i, name := range s.Namespaces {
		if seen.Has(name) {
			errs = append(errs, field.Duplicate(namespaces.Index(i), name))
		}
		seen.Insert(name)
		errs = append(errs, requiredNamespaceName(namespaces.Index(i), name)...)
	}
	errs = append(errs, exportsKinds(path.Child("kinds"), s.Kinds)...)

	return append(errs, exportsKinds(path.Child("clusterKinds"), s.ClusterKinds)...)
}

func exportsKinds(path *field.Path, kinds []v1beta1.Kind) field.ErrorList {
	errs := atMostMany(path, len(kinds), maxExportsSources)
	for i, k := range kinds {
		errs = append(errs, syntax.APIVersion.Required(path.Index(i).Child("apiVersion"), k.APIVersion)...)
		errs = append(errs, syntax.Kind.Required(path.Index(i).Child("kind"), k.Kind)...)
	}

	return errs
}

func awsIdentity(path *field.Path, aws *v1beta1.AWS) field.ErrorList {
	errs := oneOf(path.Child("identity"), aws.Identity, v1beta1.IdentityNone, v1beta1.IdentitySecret, v1beta1.IdentityPod)
	if aws.Identity == v1beta1.IdentitySecret && aws.Credentials == "" {
		errs = append(errs, field.Invalid(path.Child("credentials"), "", "identity Secret needs the name of a credential of this pipeline step"))
	}
	errs = append(errs, atMostLong(path.Child("credentials"), aws.Credentials, maxNameLength)...)

	chain := path.Child("assumeRoleChain")
	if tooMany := atMostMany(chain, len(aws.AssumeRoleChain), maxAssumedRoles); len(tooMany) > 0 {
		return append(errs, tooMany...)
	}
	for i, role := range aws.AssumeRoleChain {
		errs = append(errs, syntax.RoleARN.Required(chain.Index(i).Child("roleARN"), role.RoleARN)...)
		errs = append(errs, externalID(chain.Index(i).Child("externalID"), role.ExternalID)...)
	}

	return errs
}

// externalID is not shown: some keep it like a secret.
func externalID(path *field.Path, id string) field.ErrorList {
	if id == "" || len(syntax.ExternalID.Check(path, id)) == 0 {
		return nil
	}

	return field.ErrorList{field.Invalid(path, "<hidden>", syntax.ExternalID.Words)}
}
