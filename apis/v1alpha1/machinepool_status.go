package v1alpha1

// MachinePoolStatus is what is known of a pool. Crossplane adds the conditions.
type MachinePoolStatus struct {
	// AutoscalingGroupName is the Auto Scaling group's name, which never changes.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	AutoscalingGroupName string `json:"autoscalingGroupName,omitempty"`

	// ProviderID is the group's ARN.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID string `json:"providerID,omitempty"`

	// ProviderIDList holds aws:///<zone>/<instance id> of every member that is pending, running, stopping or stopped,
	// sorted. A read of AWS that fails or is partial never shortens it, nor one of more than 5,000 members.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MaxLength=128
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// Replicas is the group's desired capacity, as last observed.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// ReadyReplicas is how many members run, as last read from AWS. Absent when AWS is not read.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// Instances are the first 1,000 members, as last read from AWS, sorted by providerID.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Instances []Instance `json:"instances,omitempty"`

	// ListedReading is the reading of AWS that last changed providerIDList, by its time. Internal: a replica of the function that
	// cannot read AWS adds no member which it last saw before that.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ListedReading string `json:"listedReading,omitempty"`

	// DoubtedReading is the reading of AWS that was first doubted for the reason that health has now, by its time. EC2 lacked a
	// member that the group lists, or the group listed none where there were some. A later one that says the same is believed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	DoubtedReading string `json:"doubtedReading,omitempty"`

	// Health of the pool.
	// +optional
	Health *Health `json:"health,omitempty"`

	// LaunchTemplateID is the id of the launch template that the group was told to use. It changes only when the pool rolls.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LaunchTemplateID string `json:"launchTemplateID,omitempty"`

	// ImageID is the AMI that new instances boot.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ImageID string `json:"imageID,omitempty"`

	// FailureDomains are the availability zones in effect, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	FailureDomains []string `json:"failureDomains,omitempty"`

	// InheritedFailureDomains are the cluster's zones at the pool's first composition, sorted. They are in effect while
	// spec.failureDomains is empty.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	InheritedFailureDomains []string `json:"inheritedFailureDomains,omitempty"`

	// DroppedNodeLabels are the keys of spec.nodeLabels that a kubelet may not set on its own node, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=317
	DroppedNodeLabels []string `json:"droppedNodeLabels,omitempty"`

	// Rollout says how far a roll is.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty"`

	// Ready is set once the pool is no longer pending, and then stays.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// Initialization holds Cluster API's initialization flags.
	// +optional
	Initialization *Initialization `json:"initialization,omitempty"`
}

// An Instance is one member of the pool.
type Instance struct {
	// ProviderID is aws:///<zone>/<instance id>, the providerID of the member's Node.
	// +kubebuilder:validation:MaxLength=128
	ProviderID string `json:"providerID"`

	// InstanceID is the EC2 instance's id.
	// +kubebuilder:validation:MaxLength=64
	InstanceID string `json:"instanceID"`

	// Addresses of the member.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Addresses []Address `json:"addresses,omitempty"`

	// FailureDomain is the availability zone that the member runs in.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	FailureDomain string `json:"failureDomain,omitempty"`

	// State of the EC2 instance: pending, running, stopping or stopped.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State string `json:"state,omitempty"`

	// UpToDate says whether the member was launched from the launch template that the group uses.
	// +optional
	UpToDate *bool `json:"upToDate,omitempty"`
}

// An Address is a network address of an instance.
type Address struct {
	// Type of the address, as Cluster API spells it: InternalIP.
	// +kubebuilder:validation:MaxLength=63
	Type string `json:"type"`

	// Address itself.
	// +kubebuilder:validation:MaxLength=64
	Address string `json:"address"`
}

// Health is the pool's health.
type Health struct {
	// State of the pool: pending, running, stopped, terminated or unknown.
	// +kubebuilder:validation:MaxLength=63
	State string `json:"state"`

	// Healthy says whether the pool is as it should be.
	Healthy bool `json:"healthy"`

	// Message for a person.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// Reasons in PascalCase, with :<instance id> where they are about one member, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=128
	Reasons []string `json:"reasons,omitempty"`
}

// RolloutStatus says how far a roll is.
type RolloutStatus struct {
	// RollKey stands for what rolls: kubernetesVersion, machineImage.id and rollout.trigger.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	RollKey string `json:"rollKey,omitempty"`

	// Phase of the roll.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Phase string `json:"phase,omitempty"`

	// PercentageComplete of the group's instance refresh, 0 to 100.
	// +optional
	PercentageComplete *int32 `json:"percentageComplete,omitempty"`

	// OutdatedInstances is how many members are not up to date.
	// +optional
	OutdatedInstances *int32 `json:"outdatedInstances,omitempty"`

	// Message for a person.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// LostReading is the reading of AWS that first found the roll lost, by the time of its newest part. One that is wholly
	// from after it and finds the same starts the roll again.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LostReading string `json:"lostReading,omitempty"`

	// EarlierRefresh is the newest instance refresh from before the group was told to use the launch template of
	// status.launchTemplateID, by its id, or none. How it ended says nothing of this roll. Empty when it was not read.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	EarlierRefresh string `json:"earlierRefresh,omitempty"`

	// NewestRefresh is the newest instance refresh, by its id, or none, while the group is yet to be told to use another
	// launch template.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	NewestRefresh string `json:"newestRefresh,omitempty"`

	// RetiredAttempts are the latest roll keys, with the number of the attempt, whose launch templates were let go and
	// may still exist in AWS, at most 10. Their names are not taken again.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=32
	RetiredAttempts []string `json:"retiredAttempts,omitempty"`

	// GroupGeneration is the generation of the group's managed resource from which the last run went on. What is not
	// beyond it lacks what that run changed.
	// +optional
	GroupGeneration int64 `json:"groupGeneration,omitempty"`
}

// Initialization holds Cluster API's initialization flags.
type Initialization struct {
	// Provisioned is set once the pool is no longer pending, and then stays.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}
