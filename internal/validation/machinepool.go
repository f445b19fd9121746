package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// MachinePool returns everything that is wrong with the spec of a pool that has its defaults, sorted by path. Whether
// inline exports are complete, and whether what they name exists, is not judged here.
func MachinePool(p *v1alpha1.MachinePool) field.ErrorList {
	spec := field.NewPath("spec")
	s := &p.Spec

	return sorted(
		clusterSource(spec.Child("cluster"), &s.Cluster),
		kubernetesVersion(spec.Child("kubernetesVersion"), s.KubernetesVersion),
		notNegative(spec.Child("replicas"), s.Replicas),
		autoscaling(spec.Child("autoscaling"), s.Autoscaling),
		failureDomains(spec.Child("failureDomains"), s.FailureDomains),
		bootstrap(spec.Child("bootstrap"), &s.Bootstrap),
		nodeLabels(spec.Child("nodeLabels"), s.NodeLabels, s.Bootstrap.Format),
		instanceType(spec.Child("instanceType"), s.InstanceType),
		machineImage(spec.Child("machineImage"), &s.MachineImage),
		rootVolume(spec.Child("rootVolume"), &s.RootVolume),
		syntax.KeyPairName.Optional(spec.Child("sshKeyName"), s.SSHKeyName),
		securityGroupIDs(spec.Child("additionalSecurityGroupIDs"), s.AdditionalSecurityGroupIDs),
		tags(spec.Child("additionalTags"), s.AdditionalTags),
		hopLimit(spec.Child("instanceMetadataHopLimit"), s.InstanceMetadataHopLimit),
		rollout(spec.Child("rollout"), &s.Rollout),
		lifecycleHooks(spec.Child("lifecycleHooks"), s.LifecycleHooks),
	)
}

// Namespaces returns what is wrong with the references of a pool whose XR, or its claim, is in the namespace; an empty one
// stands for a cluster-scoped XR without a claim. The XRD cannot say this: a rule of a CRD does not see the namespace.
//
// Who may create a pool in a namespace must not get at another's Secrets through it: Crossplane can read them all, and what
// it reads is staged in S3.
func Namespaces(p *v1alpha1.MachinePool, namespace string) field.ErrorList {
	path := field.NewPath("spec", "bootstrap", "dataSecretRef", "namespace")
	of := p.Spec.Bootstrap.DataSecretRef.Namespace
	switch {
	case namespace == "" && of == "":
		return field.ErrorList{field.Required(path, "a cluster-scoped pool has no namespace of its own: name the Secret's")}
	case namespace != "" && of != "" && of != namespace:
		return field.ErrorList{field.Invalid(path, of, fmt.Sprintf("a pool takes its bootstrap data from its own namespace, %s: leave this out, and put the Secret there", namespace))}
	}

	return nil
}
