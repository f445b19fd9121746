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
	// +optional
	// +kubebuilder:default={}
	ProviderConfigRef ProviderConfigReference `json:"providerConfigRef,omitempty"`

	// Tags are AWS tags on every pool of this Composition, at most 40, with the syntax and the reserved keys of a pool's
	// additionalTags. A pool's own tags win over them, but on the bootstrap object, which has room for a few: there they come
	// first, and win. A change is made in place on groups, and reaches new instances only.
	// +optional
	// +kubebuilder:validation:MaxProperties=40
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() >= 1 && k.size() <= 128)",message="a tag's key must have 1 to 128 characters"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([\\\\p{L}\\\\p{N}+=._:/@-]([\\\\p{L}\\\\p{N}\\\\p{Z}+=._:/@-]*[\\\\p{L}\\\\p{N}+=._:/@-])?)?$'))",message="a tag's key may hold only letters, numbers, + - = . _ : / @, and spaces that are not at its ends"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('(?i)^(aws:|captf[.]io/|crossplane-|kubernetes[.]io/cluster/|kubernetescluster$|machinepool[.]fn[.]crossplane[.]io/)'))",message="a tag's key must not be KubernetesCluster or start with aws:, captf.io/, crossplane-, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/, in any case: these are reserved"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].matches('^[\\\\p{L}\\\\p{N}\\\\p{Z}+=._:/@-]*$'))",message="a tag's value may hold only letters, numbers, spaces and + - = . _ : / @"
	Tags map[string]string `json:"tags,omitempty"`

	// ExportsFrom says which objects a pool may name in spec.cluster.exportsFrom. By default these are the namespaced objects
	// of the pool's own namespace, of any kind that Crossplane may read. An object that a pool may not name is not fetched.
	// +optional
	// +kubebuilder:default={}
	ExportsFrom ExportsSources `json:"exportsFrom,omitempty"`

	// AWS says whether and as whom the function itself reads AWS.
	// +optional
	// +kubebuilder:default={}
	AWS AWS `json:"aws,omitempty"`

	// Refresh bounds how old what the function knows may get.
	// +optional
	// +kubebuilder:default={}
	Refresh Refresh `json:"refresh,omitempty"`
}

// ExportsSources are the objects that a pool may name in spec.cluster.exportsFrom.
type ExportsSources struct {
	// Namespaces beside the pool's own whose objects pools may name, at most 64.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of a namespace: lower-case letters, digits and -, with a letter or digit first and last"
	Namespaces []string `json:"namespaces,omitempty"`

	// Kinds of namespaced objects that pools may name, at most 64. Empty: any kind. Name the kinds that publish exports here:
	// a kind that Crossplane may not read holds each run of such a pool for two minutes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Kinds []Kind `json:"kinds,omitempty"`

	// ClusterKinds are the kinds of cluster-scoped objects that pools may name, at most 64. None by default.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	ClusterKinds []Kind `json:"clusterKinds,omitempty"`
}

// A Kind of object.
type Kind struct {
	// APIVersion of the kind, for example example.org/v1.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*$')",message="must be an API version such as v1 or example.org/v1"
	APIVersion string `json:"apiVersion"`

	// Kind itself, for example Cluster.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z][A-Za-z0-9]*$')",message="must be a kind such as Cluster"
	Kind string `json:"kind"`
}

// A ProviderConfigReference names the provider-aws configuration to use.
type ProviderConfigReference struct {
	// Kind of the configuration. Namespaced pools take either; cluster-scoped and claimed ones have ProviderConfig only, and
	// ignore this.
	// +optional
	// +kubebuilder:default=ClusterProviderConfig
	// +kubebuilder:validation:Enum=ClusterProviderConfig;ProviderConfig
	Kind string `json:"kind,omitempty"`

	// Name of the configuration.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a provider configuration: lower-case letters, digits, - and ., with a letter or digit first and last"
	Name string `json:"name,omitempty"`
}

// Kinds of provider-aws configurations.
const (
	KindClusterProviderConfig = "ClusterProviderConfig"
	KindProviderConfig        = "ProviderConfig"
)

// An Identity is how the function signs in to AWS.
// +kubebuilder:validation:Enum=None;Secret;Pod
type Identity string

// Identities.
const (
	// IdentityNone makes no AWS call at all. Members, and health with them, are then not known.
	IdentityNone Identity = "None"
	// IdentitySecret signs in with the pipeline step's credential that AWS.Credentials names.
	IdentitySecret Identity = "Secret"
	// IdentityPod signs in as the function's pod: IRSA or EKS Pod Identity.
	IdentityPod Identity = "Pod"
)

// AWS says whether and as whom the function itself reads AWS.
// +kubebuilder:validation:XValidation:rule="!has(self.identity) || self.identity != 'Secret' || has(self.credentials) && size(self.credentials) > 0",fieldPath=".credentials",message="identity Secret needs the name of a credential of this pipeline step"
type AWS struct {
	// Identity is how the function signs in: None makes no AWS call at all, Secret takes a credential of the pipeline step,
	// Pod the function's own pod identity.
	// +optional
	// +kubebuilder:default=None
	Identity Identity `json:"identity,omitempty"`

	// Credentials is the name of the pipeline step's credential that holds a shared-credentials INI under the key
	// "credentials". Needed by identity Secret.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Credentials string `json:"credentials,omitempty"`

	// AssumeRoleChain are roles to assume, in order, on top of the identity. At most 10.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	AssumeRoleChain []AssumeRole `json:"assumeRoleChain,omitempty"`
}

// AssumeRole is one link of a chain of roles.
type AssumeRole struct {
	// RoleARN of the role to assume.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$')",message="must be the ARN of an IAM role"
	RoleARN string `json:"roleARN"`

	// ExternalID that the role's trust policy asks for, 2 to 1224 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=1224
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[A-Za-z0-9_+=,.@:/-]{2,}$')",message="must be 2 to 1224 letters, digits and + = , . @ : / - _"
	ExternalID string `json:"externalID,omitempty"`
}

// Refresh bounds the response's time to live: how long Crossplane waits before it asks again when nothing it watches
// changes.
type Refresh struct {
	// StableSeconds is the time to live while nothing changes, in seconds, 1 to 86400.
	// +optional
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	StableSeconds int32 `json:"stableSeconds,omitempty"`

	// ChangingSeconds is the time to live while the pool changes, in seconds, 1 to 86400. Crossplane stops reconciling an XR
	// for 5 minutes when it is asked more than about once a second for long.
	// +optional
	// +kubebuilder:default=15
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	ChangingSeconds int32 `json:"changingSeconds,omitempty"`
}
