package kube

import (
	"bufio"
	"bytes"
)

// Resources of Kubernetes and Crossplane that the tests deal with.
var (
	Namespaces    = NewResource("", "v1", "namespaces", "Namespace", false)
	Secrets       = NewResource("", "v1", "secrets", "Secret", true)
	Accounts      = NewResource("", "v1", "serviceaccounts", "ServiceAccount", true)
	Events        = NewResource("", "v1", "events", "Event", true)
	Deployments   = NewResource("apps", "v1", "deployments", "Deployment", true)
	CRDs          = NewResource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false)
	ClusterRoles  = NewResource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false)
	RoleBindings  = NewResource("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false)
	Webhooks      = NewResource("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false)
	Policies      = NewResource("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", false)
	PolicyBinding = NewResource("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", false)

	XRDs           = NewResource("apiextensions.crossplane.io", "v1", "compositeresourcedefinitions", "CompositeResourceDefinition", false)
	Compositions   = NewResource("apiextensions.crossplane.io", "v1", "compositions", "Composition", false)
	Revisions      = NewResource("apiextensions.crossplane.io", "v1", "compositionrevisions", "CompositionRevision", false)
	Functions      = NewResource("pkg.crossplane.io", "v1", "functions", "Function", false)
	FunctionRevs   = NewResource("pkg.crossplane.io", "v1", "functionrevisions", "FunctionRevision", false)
	Configurations = NewResource("pkg.crossplane.io", "v1", "configurations", "Configuration", false)
	Providers      = NewResource("pkg.crossplane.io", "v1", "providers", "Provider", false)
	ImageConfigs   = NewResource("pkg.crossplane.io", "v1beta1", "imageconfigs", "ImageConfig", false)
	RuntimeConfigs = NewResource("pkg.crossplane.io", "v1beta1", "deploymentruntimeconfigs", "DeploymentRuntimeConfig", false)
)

// ByKind finds one of these by an object's group and kind.
func ByKind(o Object) (Resource, bool) {
	group, kind := GroupKind(o)
	for _, r := range []Resource{
		Namespaces, Secrets, Accounts, Deployments, CRDs, ClusterRoles, RoleBindings, Policies, PolicyBinding,
		XRDs, Compositions, Functions, Configurations, Providers, ImageConfigs, RuntimeConfigs,
	} {
		if r.Kind == kind && r.Group == group {
			return r, true
		}
	}
	return Resource{}, false
}

// GroupKind of an object.
func GroupKind(o Object) (group, kind string) {
	apiVersion, _ := o["apiVersion"].(string)
	kind, _ = o["kind"].(string)
	if g, _, ok := bytes.Cut([]byte(apiVersion), []byte("/")); ok {
		group = string(g)
	}
	return group, kind
}

func newReader(data []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(data)) }
