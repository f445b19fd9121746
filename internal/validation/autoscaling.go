package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// Bounds of the target of CPU utilization, in percent.
const (
	minCPUPercent = 1
	maxCPUPercent = 100
)

func autoscaling(path *field.Path, a *v1alpha1.Autoscaling) field.ErrorList {
	if a == nil {
		return nil
	}

	errs := notNegative(path.Child("minReplicas"), &a.MinReplicas)
	errs = append(errs, notNegative(path.Child("maxReplicas"), &a.MaxReplicas)...)
	if a.MinReplicas > a.MaxReplicas {
		errs = append(errs, field.Invalid(path.Child("minReplicas"), a.MinReplicas, "minReplicas must not be greater than maxReplicas"))
	}
	errs = append(errs, oneOf(path.Child("scaler"), a.Scaler, v1alpha1.ScalerNative, v1alpha1.ScalerExternal)...)

	return append(errs, targetCPUPercent(path.Child("targetCPUPercent"), a.TargetCPUPercent)...)
}

func targetCPUPercent(path *field.Path, percent int32) field.ErrorList {
	return between(path, percent, minCPUPercent, maxCPUPercent)
}
