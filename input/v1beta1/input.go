// Package v1beta1 contains the input type for this function.
// +kubebuilder:object:generate=true
// +groupName=machinepool.fn.crossplane.io
// +versionName=v1beta1
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:categories=crossplane

// Input configures the function for every MachinePool of one Composition.
type Input struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// ProviderConfigRef is put on every managed resource.
	ProviderConfigRef ProviderConfigReference `json:"providerConfigRef,omitempty"`
	// Tags are put on every pool of this Composition.
	Tags map[string]string `json:"tags,omitempty"`
	// AWS says whether and as whom the function itself reads AWS.
	AWS AWS `json:"aws,omitempty"`
	// Refresh bounds how old what the function knows may get.
	Refresh Refresh `json:"refresh,omitempty"`
}

// A ProviderConfigReference names the provider-aws configuration to use.
type ProviderConfigReference struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
}

// An Identity is how the function signs in to AWS.
type Identity string

// Identities.
const (
	IdentityNone   Identity = "None"
	IdentitySecret Identity = "Secret"
	IdentityPod    Identity = "Pod"
)

// AWS says whether and as whom the function itself reads AWS.
type AWS struct {
	Identity        Identity     `json:"identity,omitempty"`
	Credentials     string       `json:"credentials,omitempty"`
	AssumeRoleChain []AssumeRole `json:"assumeRoleChain,omitempty"`
}

// AssumeRole is one link of a chain of roles.
type AssumeRole struct {
	RoleARN    string `json:"roleARN"`
	ExternalID string `json:"externalID,omitempty"`
}

// Refresh bounds the response's time to live.
type Refresh struct {
	StableSeconds   int32 `json:"stableSeconds,omitempty"`
	ChangingSeconds int32 `json:"changingSeconds,omitempty"`
}
