package managed

import "github.com/crossplane-contrib/function-aws-machinepool/internal/pool"

// Kinds of managed resources.
const (
	kindLaunchTemplate   = "LaunchTemplate"
	kindAutoscalingGroup = "AutoscalingGroup"
	kindPolicy           = "Policy"
	kindObject           = "Object"
	kindLifecycleHook    = "LifecycleHook"
)

// scopeVersions are the API versions of a scope by kind, and whether a provider configuration's reference has a kind.
type scopeVersions struct {
	apiVersions   map[string]string
	hasConfigKind bool
}

// versions are the newest that provider-aws v2.5.0 and v2.6.0 serve. Both store them so, but for v2.5.0's cluster-scoped
// ones, which its package converts.
var versions = map[pool.Scope]scopeVersions{ //nolint:gochecknoglobals // A constant table.
	pool.ScopeNamespaced: {
		apiVersions: map[string]string{
			kindLaunchTemplate:   "ec2.aws.m.upbound.io/v1beta1",
			kindAutoscalingGroup: "autoscaling.aws.m.upbound.io/v1beta1",
			kindPolicy:           "autoscaling.aws.m.upbound.io/v1beta1",
			kindObject:           "s3.aws.m.upbound.io/v1beta1",
			kindLifecycleHook:    "autoscaling.aws.m.upbound.io/v1beta1",
		},
		hasConfigKind: true,
	},
	pool.ScopeCluster: {
		apiVersions: map[string]string{
			kindLaunchTemplate:   "ec2.aws.upbound.io/v1beta2",
			kindAutoscalingGroup: "autoscaling.aws.upbound.io/v1beta3",
			kindPolicy:           "autoscaling.aws.upbound.io/v1beta2",
			kindObject:           "s3.aws.upbound.io/v1beta2",
			kindLifecycleHook:    "autoscaling.aws.upbound.io/v1beta1",
		},
	},
}

// fit a rendered resource, which is of the namespaced types, into the scope.
func (s scopeVersions) fit(object map[string]any) {
	kind, _ := object["kind"].(string)
	object["apiVersion"] = s.apiVersions[kind]
	if s.hasConfigKind {
		return
	}
	if spec, ok := object["spec"].(map[string]any); ok {
		if ref, ok := spec["providerConfigRef"].(map[string]any); ok {
			delete(ref, "kind")
		}
	}
}
