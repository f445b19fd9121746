package observation

import (
	"cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// defaultNamespaces of what a pool refers to: the composite's own, or its claim's.
func defaultNamespaces(composite *v1alpha1.MachinePool, claimNamespace string) {
	ns := cmp.Or(composite.GetNamespace(), claimNamespace)
	secret := &composite.Spec.Bootstrap.DataSecretRef
	secret.Namespace = cmp.Or(secret.Namespace, ns)
	if exports := composite.Spec.Cluster.ExportsFrom; exports != nil {
		exports.Namespace = cmp.Or(exports.Namespace, ns)
	}
}
