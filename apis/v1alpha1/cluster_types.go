package v1alpha1

// ExportsSchema is the one schema of cluster exports that this version understands.
const ExportsSchema = "captf.io/aws-cluster/v1"

// ClusterSource says where cluster-wide facts come from.
// +kubebuilder:validation:XValidation:rule="has(self.exports) || has(self.exportsFrom)",message="set exportsFrom, exports or both: a pool takes its region, subnets and bucket from its cluster's exports"
type ClusterSource struct {
	// ExportsFrom names an object that publishes the exports, for example the cluster's own XR.
	// +optional
	ExportsFrom *ExportsReference `json:"exportsFrom,omitempty"`

	// Exports inline. They are used when exportsFrom is not set, or when it leads to {} or null. Write the fields below only:
	// the API server drops others that the contract has, or refuses them where a client asks for that, as kubectl and every
	// server-side apply do.
	// +optional
	Exports *Exports `json:"exports,omitempty"`
}

// An ExportsReference names the object that publishes the cluster's exports. Crossplane must be allowed to read it: grant
// get, list and watch of its kind to Crossplane's service account. A Secret cannot publish them, as they end up in names,
// tags and messages.
// +kubebuilder:validation:XValidation:rule="self.apiVersion != 'v1' || self.kind != 'Secret'",message="a Secret cannot publish exports, which end up in names, tags and messages: name another object",fieldPath=".kind"
type ExportsReference struct {
	// APIVersion of the object, for example example.org/v1.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*$')",message="must be an API version such as v1 or example.org/v1"
	APIVersion string `json:"apiVersion"`

	// Kind of the object, for example Cluster.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z][A-Za-z0-9]*$')",message="must be a kind such as Cluster"
	Kind string `json:"kind"`

	// Name of the object: letters, digits, -, ., _ and :.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_:-][A-Za-z0-9._:-]*$')",message="must be the name of an object: letters, digits, -, ., _ and :, and no . first"
	Name string `json:"name"`

	// Namespace of the object. Default: the XR's. Leave it empty for a cluster-scoped object of a cluster-scoped XR.
	// An object without a namespace is found only if exportsFrom.clusterKinds of the function's Input lists its kind.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$')",message="must be the name of a namespace: lower-case letters, digits and -, with a letter or digit first and last"
	Namespace string `json:"namespace,omitempty"`

	// FieldPath of the exports in the object, of printable ASCII characters. Of the exports there only the fields that
	// exports has below are read.
	// +optional
	// +kubebuilder:default="status.exports"
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[[:print:]]+$')",message="must be a field path such as status.exports, of printable ASCII characters"
	FieldPath string `json:"fieldPath,omitempty"`
}

// IsSecret reports whether the reference names a Secret. It must not be followed.
func (r *ExportsReference) IsSecret() bool { return r.APIVersion == "v1" && r.Kind == "Secret" }

// Exports are the cluster-wide facts of contract captf.io/aws-cluster/v1, as far as a pool reads them. Others that the contract
// has are not read, and unknown ones are not kept: they would have no bound.
type Exports struct {
	// Schema of the exports: captf.io/aws-cluster/v1.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == 'captf.io/aws-cluster/v1'",message="this function reads \"captf.io/aws-cluster/v1\": point the pool at exports of that schema",messageExpression="'the cluster exports schema \"' + self + '\", this function reads \"captf.io/aws-cluster/v1\": point the pool at exports of that schema'"
	Schema string `json:"schema,omitempty"`

	// Region of the cluster, for example us-east-1.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$')",message="must be an AWS region such as us-east-1"
	Region string `json:"region,omitempty"`

	// KubernetesClusterID is the id in the cluster's kubernetes.io/cluster/<id> tags: 1 to 106 of letters, digits and
	// the characters + - = . _ : / @.
	// +optional
	// +kubebuilder:validation:MaxLength=106
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[A-Za-z0-9+=._:/@-]+$')",message="must be 1 to 106 letters, digits and + - = . _ : / @"
	KubernetesClusterID string `json:"kubernetes_cluster_id,omitempty"`

	// FailureDomains are the cluster's availability zones by name, at most 64. Local Zones and Wavelength Zones are zones
	// too.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 63 && k.matches('^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}([a-z]|(-[a-z0-9]+)+)$'))",message="must be the name of an availability zone such as us-east-1a or us-west-2-lax-1a",messageExpression="self.filter(k, !(size(k) <= 63 && k.matches('^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}([a-z]|(-[a-z0-9]+)+)$')))[0] + ': must be the name of an availability zone such as us-east-1a or us-west-2-lax-1a'"
	FailureDomains map[string]FailureDomain `json:"failure_domains,omitempty"`

	// SecurityGroupIDs are the cluster's security groups by role.
	// +optional
	SecurityGroupIDs SecurityGroupIDs `json:"security_group_ids,omitempty"`

	// InstanceProfiles are the cluster's instance profiles by role.
	// +optional
	InstanceProfiles InstanceProfiles `json:"instance_profiles,omitempty"`

	// BootstrapBucket is the S3 bucket that bootstrap data is staged in, 3 to 63 characters. The worker profile can read it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[A-Za-z0-9][A-Za-z0-9._-]+[A-Za-z0-9]$')",message="must be the name of an S3 bucket: 3 to 63 letters, digits, -, . and _, with a letter or digit first and last"
	BootstrapBucket string `json:"bootstrap_bucket,omitempty"`
}

// A FailureDomain is an availability zone of the cluster.
type FailureDomain struct {
	// SubnetID of the zone's subnet for nodes.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^subnet-[0-9a-f]{8}([0-9a-f]{9})?$')",message="must be a subnet id such as subnet-0123456789abcdef0"
	SubnetID string `json:"subnet_id,omitempty"`
}

// SecurityGroupIDs are the cluster's security groups by role.
type SecurityGroupIDs struct {
	// Worker groups, put on every instance, at most 16.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=20
	// +kubebuilder:validation:items:XValidation:rule="size(self) == 0 || self.matches('^sg-[0-9a-f]{8}([0-9a-f]{9})?$')",message="must be a security group id such as sg-0123456789abcdef0"
	Worker []string `json:"worker,omitempty"`
}

// InstanceProfiles are the cluster's instance profiles by role.
type InstanceProfiles struct {
	// Worker profile's name, at most 128 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[A-Za-z0-9+=,.@_-]+$')",message="must be the name of an instance profile, not its ARN"
	Worker string `json:"worker,omitempty"`
}
