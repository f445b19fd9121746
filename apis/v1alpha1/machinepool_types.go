package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:resource:path=machinepools,scope=Namespaced,shortName=awsmp,categories={crossplane,aws}
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".spec.kubernetesVersion",description="The Kubernetes version that is asked for."
// +kubebuilder:printcolumn:name="DESIRED",type="integer",JSONPath=".status.replicas",description="The group's desired capacity, as last observed."
// +kubebuilder:printcolumn:name="MEMBERS",type="integer",JSONPath=".status.readyReplicas",description="How many members run. Empty when AWS is not read."
// +kubebuilder:printcolumn:name="HEALTH",type="string",JSONPath=".status.health.state",description="The state of the pool."
// +kubebuilder:printcolumn:name="HEALTHY",type="boolean",JSONPath=".status.health.healthy",description="Whether the pool is as it should be."
// +kubebuilder:printcolumn:name="ROLLOUT",type="string",JSONPath=".status.rollout.phase",description="How far a roll is."
// +kubebuilder:printcolumn:name="IMAGE",type="string",JSONPath=".status.imageID",priority=1,description="The AMI that new instances boot."
// +kubebuilder:printcolumn:name="GROUP",type="string",JSONPath=".status.autoscalingGroupName",priority=1,description="The Auto Scaling group."

// A MachinePool is a pool of Kubernetes workers run as one AWS Auto Scaling group.
//
// Each field of its spec says what a change of it does. A change is made in place (no instance notices), or reaches
// new instances only (running ones keep what they booted with). Or it rolls (every instance is replaced, the
// replacement launched first), or moves the desired capacity (the group grows or shrinks).
type MachinePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   MachinePoolSpec   `json:"spec"`
	Status MachinePoolStatus `json:"status,omitempty"`
}

// MachinePoolSpec is what a user wants of a pool.
// +kubebuilder:validation:XValidation:rule="!has(self.bootstrap.format) || self.bootstrap.format != 'ignition' || !has(self.nodeLabels) || self.nodeLabels.all(k, k.matches('^([^/]+[.])?(kubernetes|k8s)[.]io/') && !k.matches('^([^/]+[.])?(kubelet|node)[.]kubernetes[.]io/') && !(k in ['beta.kubernetes.io/arch', 'beta.kubernetes.io/instance-type', 'beta.kubernetes.io/os', 'failure-domain.beta.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/zone', 'kubernetes.io/arch', 'kubernetes.io/hostname', 'kubernetes.io/os', 'node.kubernetes.io/instance-type', 'topology.kubernetes.io/region', 'topology.kubernetes.io/zone']))",fieldPath=".nodeLabels",message="nodeLabels need bootstrap format cloud-config: with ignition, remove them and set the labels in the Ignition config"
type MachinePoolSpec struct {
	// Cluster says where the pool's cluster-wide facts come from: region, subnets, security groups, instance profile
	// and bootstrap bucket. A change of them is made in place or reaches new instances only; another cluster id never
	// renames a pool that exists.
	Cluster ClusterSource `json:"cluster"`

	// KubernetesVersion of the pool, for example v1.34.1 or v1.34.1+rke2r1, taken verbatim. It chooses the image when
	// machineImage.id is not set. A change, of the suffix too, rolls the pool.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^v?[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?$')",message="must be a Kubernetes version such as v1.34.1 or v1.34.1+rke2r1"
	KubernetesVersion *string `json:"kubernetesVersion,omitempty"`

	// Replicas is how many instances the pool runs, 0 or more. A change moves the desired capacity. Without autoscaling it
	// is the group's minimum and maximum too; with autoscaling it is only the size that the group is created with, moved
	// into [minReplicas, maxReplicas].
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Replicas *int32 `json:"replicas,omitempty"`

	// Autoscaling is on when this is set: something else than replicas then moves the desired capacity. Turning it on or
	// off is made in place; turning it off moves the desired capacity to replicas.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// FailureDomains are the availability zones to run in, each one that the cluster exports; their order means nothing.
	// Empty: the cluster's zones at the pool's first composition, which are then kept. An added zone reaches new
	// instances only. Instances in a zone that is removed are replaced elsewhere, undrained.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}([a-z]|(-[a-z0-9]+)+)$')",message="must be the name of an availability zone such as us-east-1a or us-west-2-lax-1a"
	FailureDomains []string `json:"failureDomains,omitempty"`

	// Bootstrap says where the data that turns an instance into a node comes from.
	Bootstrap Bootstrap `json:"bootstrap"`

	// NodeLabels are labels that the kubelet registers its node with, in Kubernetes' label syntax. Those that a kubelet may
	// not set on its own node are left out and listed in status.droppedNodeLabels. At most 128, and they must fit into
	// EC2's 16,384 bytes of user data with the rest of the stub. Not with Ignition. A change reaches new instances only.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && k.indexOf('/') <= 253)",message="a node label's key must be a name of at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with an optional DNS prefix as in example.com/tier",messageExpression="self.filter(k, !(k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && k.indexOf('/') <= 253))[0] + ': a node label\\'s key must be a name of at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with an optional DNS prefix as in example.com/tier'"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'))",message="a node label's value must be empty or at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with a letter or digit first and last",messageExpression="self.filter(k, !self[k].matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'))[0] + ': a node label\\'s value must be empty or at most 63 characters from A-Z, a-z, 0-9, -, _ and ., with a letter or digit first and last'"
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`

	// InstanceType is the EC2 instance type. A change reaches new instances only.
	// +optional
	// +kubebuilder:default="m6i.large"
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9-]+[.][a-z0-9-]+$')",message="must be an EC2 instance type such as m6i.large"
	InstanceType string `json:"instanceType,omitempty"`

	// MachineImage says which AMI the instances boot.
	// +optional
	// +kubebuilder:default={}
	MachineImage MachineImage `json:"machineImage,omitempty"`

	// RootVolume is the instances' root EBS volume. It is always encrypted. A change reaches new instances only.
	// +optional
	// +kubebuilder:default={}
	RootVolume RootVolume `json:"rootVolume,omitempty"`

	// Spot launches Spot Instances, with capacity rebalancing. A change reaches new instances only.
	// +optional
	// +kubebuilder:default=false
	Spot bool `json:"spot,omitempty"`

	// PublicIP gives instances a public IPv4 address. A change reaches new instances only.
	// +optional
	// +kubebuilder:default=false
	PublicIP bool `json:"publicIP,omitempty"`

	// SSHKeyName is the name of an EC2 key pair, at most 255 characters. None by default. Who reaches SSH is up
	// to the security groups. A change reaches new instances only.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^[:cntrl:]]+$')",message="must be the name of an EC2 key pair: 1 to 255 characters and no control characters"
	SSHKeyName *string `json:"sshKeyName,omitempty"`

	// AdditionalSecurityGroupIDs are security groups on top of the cluster's worker groups, at most 15: EC2 allows 16 on
	// one network interface, and 5 unless your quota is raised. A change reaches new instances only.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=15
	// +kubebuilder:validation:items:MaxLength=20
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^sg-[0-9a-f]{8}([0-9a-f]{9})?$')",message="must be a security group id such as sg-0123456789abcdef0"
	AdditionalSecurityGroupIDs []string `json:"additionalSecurityGroupIDs,omitempty"`

	// AdditionalTags are AWS tags on every resource of the pool that takes tags, at most 40. They win over the tags of the
	// Composition and lose against the function's own; a key that another has in another case counts as the same, as it
	// does to IAM. Keys have 1 to 128 characters, values at most 256: letters, numbers, spaces and + - = . _ : / @. A key has
	// no space at its ends. KubernetesCluster and keys that start with aws:, captf.io/, crossplane-, kubernetes.io/cluster/
	// or machinepool.fn.crossplane.io/ are reserved, in any case. The bootstrap object takes only as many as S3 has room for,
	// the Composition's first, which win there; the condition BootstrapConfigReady names the others. A change is made in
	// place on the group, and reaches new instances only.
	// +optional
	// +kubebuilder:validation:MaxProperties=40
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() >= 1 && k.size() <= 128)",message="a tag's key must have 1 to 128 characters",messageExpression="self.filter(k, k.size() < 1 || k.size() > 128)[0] + ': a tag\\'s key must have 1 to 128 characters'"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([\\\\p{L}\\\\p{N}+=._:/@-]([\\\\p{L}\\\\p{N}\\\\p{Z}+=._:/@-]*[\\\\p{L}\\\\p{N}+=._:/@-])?)?$'))",message="a tag's key may hold only letters, numbers, + - = . _ : / @, and spaces that are not at its ends",messageExpression="self.filter(k, !k.matches('^([\\\\p{L}\\\\p{N}+=._:/@-]([\\\\p{L}\\\\p{N}\\\\p{Z}+=._:/@-]*[\\\\p{L}\\\\p{N}+=._:/@-])?)?$'))[0] + ': a tag\\'s key may hold only letters, numbers, + - = . _ : / @, and spaces that are not at its ends'"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('(?i)^(aws:|captf[.]io/|crossplane-|kubernetes[.]io/cluster/|kubernetescluster$|machinepool[.]fn[.]crossplane[.]io/)'))",message="a tag's key must not be KubernetesCluster or start with aws:, captf.io/, crossplane-, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/, in any case: these are reserved",messageExpression="self.filter(k, k.matches('(?i)^(aws:|captf[.]io/|crossplane-|kubernetes[.]io/cluster/|kubernetescluster$|machinepool[.]fn[.]crossplane[.]io/)'))[0] + ': a tag\\'s key must not be KubernetesCluster or start with aws:, captf.io/, crossplane-, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/, in any case: these are reserved'"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].matches('^[\\\\p{L}\\\\p{N}\\\\p{Z}+=._:/@-]*$'))",message="a tag's value may hold only letters, numbers, spaces and + - = . _ : / @",messageExpression="self.filter(k, !self[k].matches('^[\\\\p{L}\\\\p{N}\\\\p{Z}+=._:/@-]*$'))[0] + ': a tag\\'s value may hold only letters, numbers, spaces and + - = . _ : / @'"
	AdditionalTags map[string]string `json:"additionalTags,omitempty"`

	// InstanceMetadataHopLimit is how many network hops an answer of the instance metadata service (IMDSv2) may make, 1 to
	// 64. 2 lets pods without host networking reach it, and with it the instance's credentials. A change reaches new
	// instances only.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	InstanceMetadataHopLimit int32 `json:"instanceMetadataHopLimit,omitempty"`

	// Rollout steers rolls.
	// +optional
	// +kubebuilder:default={}
	Rollout Rollout `json:"rollout,omitempty"`

	// LifecycleHooks pause instances that launch or terminate, at most 50 (AWS's quota for a group). A change is made in
	// place, and counts for transitions that start afterwards.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	LifecycleHooks []LifecycleHook `json:"lifecycleHooks,omitempty"`
}

// A Scaler is what sets an autoscaled pool's desired capacity.
// +kubebuilder:validation:Enum=Native;External
type Scaler string

// Scalers.
const (
	// ScalerNative is a target tracking policy of Auto Scaling.
	ScalerNative Scaler = "Native"
	// ScalerExternal is something else, for example a schedule or a person.
	ScalerExternal Scaler = "External"
)

// Autoscaling turns autoscaling on by its presence.
// +kubebuilder:validation:XValidation:rule="self.minReplicas <= self.maxReplicas",fieldPath=".minReplicas",message="minReplicas must not be greater than maxReplicas"
type Autoscaling struct {
	// MinReplicas is the group's minimum, 0 or more. Raising it above the desired capacity moves that up.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	MinReplicas int32 `json:"minReplicas"`

	// MaxReplicas is the group's maximum, at least minReplicas. Lowering it below the desired capacity moves that down.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	MaxReplicas int32 `json:"maxReplicas"`

	// Scaler that moves the desired capacity: Native is a target tracking policy on the group's average CPU, External makes
	// no policy. A change is made in place.
	// +optional
	// +kubebuilder:default=Native
	Scaler Scaler `json:"scaler,omitempty"`

	// TargetCPUPercent is the average CPU utilization that the policy holds the group at, 1 to 100 percent. Read with scaler
	// Native only. A change is made in place; the policy then moves the desired capacity.
	// +optional
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	TargetCPUPercent int32 `json:"targetCPUPercent,omitempty"`
}

// Bootstrap says where the bootstrap data comes from.
type Bootstrap struct {
	// DataSecretRef names the Secret that holds the bootstrap data. New data is staged in place and reaches new instances
	// only.
	DataSecretRef SecretKeyReference `json:"dataSecretRef"`

	// Format of the bootstrap data: cloud-config or ignition. Default: what the Secret's key "format" says, else
	// cloud-config. A change reaches new instances only.
	// +optional
	Format BootstrapFormat `json:"format,omitempty"`
}

// A BootstrapFormat is the format of bootstrap data.
// +kubebuilder:validation:Enum=cloud-config;ignition
type BootstrapFormat string

// Bootstrap formats.
const (
	// BootstrapFormatCloudConfig is cloud-init's YAML, plain or gzip.
	BootstrapFormatCloudConfig BootstrapFormat = "cloud-config"
	// BootstrapFormatIgnition is an Ignition config, plain.
	BootstrapFormatIgnition BootstrapFormat = "ignition"
)

// A SecretKeyReference names a key of a Secret.
type SecretKeyReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a Secret: lower-case letters, digits, - and ., with a letter or digit first and last"
	Name string `json:"name"`

	// Namespace of the Secret. Default: the XR's, or its claim's, and then it can be no other: who may create a pool in a
	// namespace must not get at another's Secrets. A cluster-scoped XR without a claim must set it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$')",message="must be the name of a namespace: lower-case letters, digits and -, with a letter or digit first and last"
	Namespace string `json:"namespace,omitempty"`

	// Key of the Secret whose bytes are the bootstrap data.
	// +optional
	// +kubebuilder:default=value
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$') && self != '.' && !self.startsWith('..')",message="must be a Secret's key: letters, digits, -, _ and ., not . alone and not .. first"
	Key string `json:"key,omitempty"`
}

// Rollout steers rolls.
type Rollout struct {
	// InstanceWarmupSeconds is how long a roll waits after a new instance is in service, in seconds, 0 or more. A change is
	// made in place and counts for rolls that start afterwards.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	InstanceWarmupSeconds *int32 `json:"instanceWarmupSeconds,omitempty"`

	// Trigger is any text of at most 255 characters, for example a date. A change rolls the pool.
	// +optional
	// +kubebuilder:default=""
	// +kubebuilder:validation:MaxLength=255
	Trigger string `json:"trigger,omitempty"`
}

// A LifecycleTransition is when a lifecycle hook acts.
// +kubebuilder:validation:Enum=Launching;Terminating
type LifecycleTransition string

// Lifecycle transitions.
const (
	LifecycleTransitionLaunching   LifecycleTransition = "Launching"
	LifecycleTransitionTerminating LifecycleTransition = "Terminating"
)

// A LifecycleHookResult is what happens when a hook's time runs out.
// +kubebuilder:validation:Enum=Continue;Abandon
type LifecycleHookResult string

// Lifecycle hook results.
const (
	LifecycleHookResultContinue LifecycleHookResult = "Continue"
	LifecycleHookResultAbandon  LifecycleHookResult = "Abandon"
)

// A LifecycleHook pauses instances that launch or terminate, until something completes the action or time runs out. See
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutLifecycleHook.html.
// +kubebuilder:validation:XValidation:rule="has(self.notificationTargetARN) == has(self.roleARN)",message="set notificationTargetARN and roleARN together or neither: Auto Scaling needs the role to notify the target"
type LifecycleHook struct {
	// Name of the hook, unique in the pool, 1 to 255 letters, digits, -, _ and /. Another name is another hook.
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_/-]+$')",message="must be 1 to 255 letters, digits, -, _ and /"
	Name string `json:"name"`

	// Transition that the hook pauses: Launching or Terminating.
	Transition LifecycleTransition `json:"transition"`

	// HeartbeatTimeoutSeconds is how long an instance is paused, in seconds, 30 to 7200, unless a heartbeat prolongs it.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=7200
	HeartbeatTimeoutSeconds *int32 `json:"heartbeatTimeoutSeconds,omitempty"`

	// DefaultResult is what happens when time runs out: Continue or Abandon. An instance that launches is put in service or
	// terminated; one that terminates does so either way.
	// +optional
	// +kubebuilder:default=Abandon
	DefaultResult LifecycleHookResult `json:"defaultResult,omitempty"`

	// NotificationTargetARN is an SNS topic or an SQS queue that is told, in the group's region, at most 255 characters. None by default:
	// EventBridge sees every transition. Needs roleARN.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:(sns|sqs):[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$')",message="must be the ARN of an SNS topic or an SQS queue"
	NotificationTargetARN *string `json:"notificationTargetARN,omitempty"`

	// RoleARN is the IAM role with which Auto Scaling notifies the target, at most 255 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$')",message="must be the ARN of an IAM role"
	RoleARN *string `json:"roleARN,omitempty"`
}
