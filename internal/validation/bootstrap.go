package validation

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func bootstrap(path *field.Path, b *v1alpha1.Bootstrap) field.ErrorList {
	ref := path.Child("dataSecretRef")

	errs := objectName(ref.Child("name"), b.DataSecretRef.Name, "must be the name of a Secret: lower-case letters, digits, - and ., with a letter or digit first and last")
	errs = append(errs, namespaceName(ref.Child("namespace"), b.DataSecretRef.Namespace)...)
	errs = append(errs, secretKey(ref.Child("key"), b.DataSecretRef.Key)...)
	if b.Format == "" {
		return errs
	}

	return append(errs, oneOf(path.Child("format"), b.Format, v1alpha1.BootstrapFormatCloudConfig, v1alpha1.BootstrapFormatIgnition)...)
}

func secretKey(path *field.Path, key string) field.ErrorList {
	if errs := atMostLong(path, key, maxNameLength); len(errs) > 0 {
		return errs
	}
	if len(validation.IsConfigMapKey(key)) == 0 {
		return nil
	}

	return field.ErrorList{field.Invalid(path, key, "must be a Secret's key: letters, digits, -, _ and ., not . alone and not .. first")}
}
