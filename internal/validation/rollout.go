package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// maxTriggerLength is in characters.
const maxTriggerLength = 255

func rollout(path *field.Path, r *v1alpha1.Rollout) field.ErrorList {
	return append(
		notNegative(path.Child("instanceWarmupSeconds"), r.InstanceWarmupSeconds),
		atMostLong(path.Child("trigger"), r.Trigger, maxTriggerLength)...)
}
