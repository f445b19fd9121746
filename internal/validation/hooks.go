package validation

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// Limits of lifecycle hooks. Sources: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-quotas.html and
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutLifecycleHook.html.
const (
	maxLifecycleHooks   = 50
	minHeartbeatSeconds = 30
	maxHeartbeatSeconds = 7200
)

func lifecycleHooks(path *field.Path, hooks []v1alpha1.LifecycleHook) field.ErrorList {
	if errs := atMostMany(path, len(hooks), maxLifecycleHooks); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	seen := sets.New[string]()
	for i := range hooks {
		if seen.Has(hooks[i].Name) {
			errs = append(errs, field.Duplicate(path.Index(i), hooks[i].Name))
		}
		seen.Insert(hooks[i].Name)
		errs = append(errs, lifecycleHook(path.Index(i), &hooks[i])...)
	}

	return errs
}

func lifecycleHook(path *field.Path, h *v1alpha1.LifecycleHook) field.ErrorList {
	errs := syntax.LifecycleHookName.Required(path.Child("name"), h.Name)
	errs = append(errs, transition(path.Child("transition"), h.Transition)...)
	if h.HeartbeatTimeoutSeconds != nil {
		errs = append(errs, between(path.Child("heartbeatTimeoutSeconds"), *h.HeartbeatTimeoutSeconds, minHeartbeatSeconds, maxHeartbeatSeconds)...)
	}
	errs = append(errs, oneOf(path.Child("defaultResult"), h.DefaultResult, v1alpha1.LifecycleHookResultContinue, v1alpha1.LifecycleHookResultAbandon)...)
	if (h.NotificationTargetARN == nil) != (h.RoleARN == nil) {
		errs = append(errs, field.Invalid(path, "", "set notificationTargetARN and roleARN together or neither: Auto Scaling needs the role to notify the target"))
	}
	errs = append(errs, syntax.NotificationTargetARN.Optional(path.Child("notificationTargetARN"), h.NotificationTargetARN)...)

	return append(errs, syntax.HookRoleARN.Optional(path.Child("roleARN"), h.RoleARN)...)
}

func transition(path *field.Path, t v1alpha1.LifecycleTransition) field.ErrorList {
	if t == "" {
		return field.ErrorList{field.Required(path, "")}
	}

	return oneOf(path, t, v1alpha1.LifecycleTransitionLaunching, v1alpha1.LifecycleTransitionTerminating)
}
