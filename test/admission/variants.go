package admission

import (
	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Variants returns the changes to the XRD that configuration/README.md describes, by scope.
func Variants() map[string]func(*xv1.CompositeResourceDefinition) {
	return map[string]func(*xv1.CompositeResourceDefinition){
		"Namespaced": func(*xv1.CompositeResourceDefinition) {},
		"Cluster": func(xrd *xv1.CompositeResourceDefinition) {
			xrd.Spec.Scope = new(xv1.CompositeResourceScopeCluster)
		},
		"LegacyCluster": func(xrd *xv1.CompositeResourceDefinition) {
			xrd.Spec.Scope = new(xv1.CompositeResourceScopeLegacyCluster)
			xrd.Spec.ClaimNames = &extv1.CustomResourceDefinitionNames{Kind: "MachinePoolClaim", Plural: "machinepoolclaims"}
		},
	}
}
