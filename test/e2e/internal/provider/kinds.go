package provider

import (
	"strings"

	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// Kinds of provider-aws that a pool is made of: for namespaced pools, and for those that have no namespace.
var (
	Groups    = kube.NewResource("autoscaling.aws.m.upbound.io", "v1beta1", "autoscalinggroups", "AutoscalingGroup", true)
	Templates = kube.NewResource("ec2.aws.m.upbound.io", "v1beta1", "launchtemplates", "LaunchTemplate", true)
	Objects   = kube.NewResource("s3.aws.m.upbound.io", "v1beta1", "objects", "Object", true)
	Policies  = kube.NewResource("autoscaling.aws.m.upbound.io", "v1beta1", "policies", "Policy", true)
	Hooks     = kube.NewResource("autoscaling.aws.m.upbound.io", "v1beta1", "lifecyclehooks", "LifecycleHook", true)

	ClusterGroups    = kube.NewResource("autoscaling.aws.upbound.io", "v1beta3", "autoscalinggroups", "AutoscalingGroup", false)
	ClusterTemplates = kube.NewResource("ec2.aws.upbound.io", "v1beta2", "launchtemplates", "LaunchTemplate", false)
	ClusterObjects   = kube.NewResource("s3.aws.upbound.io", "v1beta2", "objects", "Object", false)
	ClusterPolicies  = kube.NewResource("autoscaling.aws.upbound.io", "v1beta2", "policies", "Policy", false)
	ClusterHooks     = kube.NewResource("autoscaling.aws.upbound.io", "v1beta1", "lifecyclehooks", "LifecycleHook", false)
)

// Kinds are all of them.
func Kinds() []kube.Resource {
	return []kube.Resource{
		Groups, Templates, Objects, Policies, Hooks,
		ClusterGroups, ClusterTemplates, ClusterObjects, ClusterPolicies, ClusterHooks,
	}
}

// CRDs of the pinned provider's module by the package that has them: each file, and the version of the kind that is used.
//
// In the module some kinds are stored in an older version. The provider's package has a webhook that converts between
// them, and nothing serves that here, so the stand-in has the used version only.
func CRDs() map[string]map[string]string {
	out := map[string]map[string]string{"provider-aws-autoscaling": {}, "provider-aws-ec2": {}, "provider-aws-s3": {}}
	for _, k := range Kinds() {
		service, _, _ := strings.Cut(k.Group, ".")
		out["provider-aws-"+service][k.Group+"_"+k.Resource+".yaml"] = k.Version
	}
	return out
}
