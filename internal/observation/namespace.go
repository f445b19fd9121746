package observation

import (
	"cmp"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// namespaceOf a pool: the composite's own, or its claim's. Empty for a cluster-scoped one without a claim.
func namespaceOf(xr *structpb.Struct) string {
	return cmp.Or(text(xr, "metadata", "namespace"), text(xr, "spec", "claimRef", "namespace"))
}

// defaultNamespaces of what a pool refers to.
func defaultNamespaces(composite *v1alpha1.MachinePool, ns string) {
	secret := &composite.Spec.Bootstrap.DataSecretRef
	secret.Namespace = cmp.Or(secret.Namespace, ns)
	if exports := composite.Spec.Cluster.ExportsFrom; exports != nil {
		exports.Namespace = cmp.Or(exports.Namespace, ns)
	}
}
