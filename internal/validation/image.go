package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

func kubernetesVersion(path *field.Path, v *string) field.ErrorList {
	return syntax.KubernetesVersion.Optional(path, v)
}

func machineImage(path *field.Path, i *v1alpha1.MachineImage) field.ErrorList {
	errs := syntax.AMIID.Optional(path.Child("id"), i.ID)
	errs = append(errs, syntax.ImageOwner.Check(path.Child("owner"), i.Owner)...)
	errs = append(errs, nameFormat(path.Child("nameFormat"), i.NameFormat)...)
	errs = append(errs, oneOf(path.Child("architecture"), i.Architecture, v1alpha1.ArchitectureX8664, v1alpha1.ArchitectureARM64)...)

	return append(errs, syntax.DeviceName.Check(path.Child("rootDeviceName"), i.RootDeviceName)...)
}

// maxWildcards of a name format. Every name that AWS answers is held against each of them.
const maxWildcards = 10

// nameFormat refuses a format without the version, which would boot the newest image whatever its kubelet, and characters
// that no image's name has, which could change what the filter means.
func nameFormat(path *field.Path, format string) field.ErrorList {
	errs := syntax.ImageNameFormat.Check(path, format)
	if strings.Count(format, "*")+strings.Count(format, "?") > maxWildcards {
		errs = append(errs, field.Invalid(path, format, "may hold at most 10 wildcards"))
	}
	if strings.Contains(format, "{semver}") || strings.Contains(format, "{version}") {
		return errs
	}

	return append(errs, field.Invalid(path, format, "must hold {semver} or {version}, where the Kubernetes version goes"))
}
