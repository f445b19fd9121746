package validation

import (
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	boot "github.com/crossplane-contrib/function-aws-machinepool/internal/bootstrap"
)

// maxNodeLabels is how many labels a pool can have, if user data has room for them.
const maxNodeLabels = 128

// nodeLabels checks the labels' syntax, which also keeps them from breaking out of the bootstrap script's quotes. Labels
// that a kubelet may not set are not an error: they are left out, and reported.
func nodeLabels(path *field.Path, labels map[string]string, format v1alpha1.BootstrapFormat) field.ErrorList {
	if errs := atMostMany(path, len(labels), maxNodeLabels); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	for key, value := range labels {
		errs = append(errs, nodeLabel(path.Key(key), key, value)...)
	}
	if kept, _ := boot.FilterNodeLabels(labels); format == v1alpha1.BootstrapFormatIgnition && len(kept) > 0 {
		errs = append(errs, field.Invalid(path, "", "nodeLabels need bootstrap format cloud-config: with ignition, remove them and set the labels in the Ignition config"))
	}

	return errs
}

func nodeLabel(path *field.Path, key, value string) field.ErrorList {
	var errs field.ErrorList
	if len(content.IsLabelKey(key)) > 0 {
		errs = append(errs, field.Invalid(path, value, "a node label's key must be a name of at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with an optional DNS prefix as in example.com/tier"))
	}
	if utf8.RuneCountInString(value) > content.LabelValueMaxLength {
		return append(errs, field.TooLong(path, "", content.LabelValueMaxLength))
	}
	if len(content.IsLabelValue(value)) > 0 {
		errs = append(errs, field.Invalid(path, value, "a node label's value must be empty or at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with a letter or digit first and last"))
	}

	return errs
}
