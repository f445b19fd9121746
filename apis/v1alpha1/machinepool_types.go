// Package v1alpha1 holds the MachinePool composite resource.
// +kubebuilder:object:generate=true
// +groupName=aws.machinepool.fn.crossplane.io
// +versionName=v1alpha1
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true

// A MachinePool is a pool of Kubernetes workers run as one AWS Auto Scaling group.
type MachinePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   MachinePoolSpec   `json:"spec"`
	Status MachinePoolStatus `json:"status,omitempty"`
}

// MachinePoolSpec is what a user wants of a pool.
type MachinePoolSpec struct {
	Cluster                    ClusterSource     `json:"cluster"`
	KubernetesVersion          *string           `json:"kubernetesVersion,omitempty"`
	Replicas                   *int32            `json:"replicas,omitempty"`
	Autoscaling                *Autoscaling      `json:"autoscaling,omitempty"`
	FailureDomains             []string          `json:"failureDomains,omitempty"`
	Bootstrap                  Bootstrap         `json:"bootstrap"`
	NodeLabels                 map[string]string `json:"nodeLabels,omitempty"`
	InstanceType               string            `json:"instanceType,omitempty"`
	MachineImage               MachineImage      `json:"machineImage,omitempty"`
	RootVolume                 RootVolume        `json:"rootVolume,omitempty"`
	Spot                       bool              `json:"spot,omitempty"`
	PublicIP                   bool              `json:"publicIP,omitempty"`
	SSHKeyName                 *string           `json:"sshKeyName,omitempty"`
	AdditionalSecurityGroupIDs []string          `json:"additionalSecurityGroupIDs,omitempty"`
	AdditionalTags             map[string]string `json:"additionalTags,omitempty"`
	InstanceMetadataHopLimit   int32             `json:"instanceMetadataHopLimit,omitempty"`
	Rollout                    Rollout           `json:"rollout,omitempty"`
	LifecycleHooks             []LifecycleHook   `json:"lifecycleHooks,omitempty"`
}

// ClusterSource says where cluster-wide facts come from.
type ClusterSource struct {
	ExportsFrom *ExportsReference `json:"exportsFrom,omitempty"`
	Exports     *Exports          `json:"exports,omitempty"`
}

// An ExportsReference names the object that publishes the cluster's exports.
type ExportsReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace,omitempty"`
	FieldPath  string `json:"fieldPath,omitempty"`
}

// Exports are the cluster-wide facts of contract captf.io/aws-cluster/v1.
type Exports struct {
	Schema              string                   `json:"schema,omitempty"`
	Region              string                   `json:"region,omitempty"`
	KubernetesClusterID string                   `json:"kubernetes_cluster_id,omitempty"`
	FailureDomains      map[string]FailureDomain `json:"failure_domains,omitempty"`
	SecurityGroupIDs    SecurityGroupIDs         `json:"security_group_ids,omitempty"`
	InstanceProfiles    InstanceProfiles         `json:"instance_profiles,omitempty"`
	BootstrapBucket     string                   `json:"bootstrap_bucket,omitempty"`
}

// A FailureDomain is an availability zone of the cluster.
type FailureDomain struct {
	SubnetID string `json:"subnet_id,omitempty"`
}

// SecurityGroupIDs are the cluster's security groups by role.
type SecurityGroupIDs struct {
	Worker []string `json:"worker,omitempty"`
}

// InstanceProfiles are the cluster's instance profiles by role.
type InstanceProfiles struct {
	Worker string `json:"worker,omitempty"`
}

// A Scaler is what sets an autoscaled pool's desired capacity.
type Scaler string

// Scalers.
const (
	ScalerNative   Scaler = "Native"
	ScalerExternal Scaler = "External"
)

// Autoscaling turns autoscaling on by its presence.
type Autoscaling struct {
	MinReplicas      int32  `json:"minReplicas"`
	MaxReplicas      int32  `json:"maxReplicas"`
	Scaler           Scaler `json:"scaler,omitempty"`
	TargetCPUPercent int32  `json:"targetCPUPercent,omitempty"`
}

// Bootstrap says where the bootstrap data comes from.
type Bootstrap struct {
	DataSecretRef SecretKeyReference `json:"dataSecretRef"`
	Format        BootstrapFormat    `json:"format,omitempty"`
}

// A BootstrapFormat is the format of bootstrap data.
type BootstrapFormat string

// Bootstrap formats.
const (
	BootstrapFormatCloudConfig BootstrapFormat = "cloud-config"
	BootstrapFormatIgnition    BootstrapFormat = "ignition"
)

// A SecretKeyReference names a key of a Secret.
type SecretKeyReference struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Key       string `json:"key,omitempty"`
}

// An Architecture is a CPU architecture as EC2 spells it.
type Architecture string

// Architectures.
const (
	ArchitectureX8664 Architecture = "x86_64"
	ArchitectureARM64 Architecture = "arm64"
)

// MachineImage says which AMI the instances boot.
type MachineImage struct {
	ID             *string      `json:"id,omitempty"`
	Owner          string       `json:"owner,omitempty"`
	NameFormat     string       `json:"nameFormat,omitempty"`
	Architecture   Architecture `json:"architecture,omitempty"`
	RootDeviceName string       `json:"rootDeviceName,omitempty"`
}

// RootVolume is the instances' root EBS volume.
type RootVolume struct {
	SizeGiB  int32   `json:"sizeGiB,omitempty"`
	Type     string  `json:"type,omitempty"`
	KMSKeyID *string `json:"kmsKeyID,omitempty"`
}

// Rollout steers rolls.
type Rollout struct {
	InstanceWarmupSeconds *int32 `json:"instanceWarmupSeconds,omitempty"`
	Trigger               string `json:"trigger,omitempty"`
}

// A LifecycleTransition is when a lifecycle hook acts.
type LifecycleTransition string

// Lifecycle transitions.
const (
	LifecycleTransitionLaunching   LifecycleTransition = "Launching"
	LifecycleTransitionTerminating LifecycleTransition = "Terminating"
)

// A LifecycleHookResult is what happens when a hook's time runs out.
type LifecycleHookResult string

// Lifecycle hook results.
const (
	LifecycleHookResultContinue LifecycleHookResult = "Continue"
	LifecycleHookResultAbandon  LifecycleHookResult = "Abandon"
)

// A LifecycleHook pauses instances that launch or terminate.
type LifecycleHook struct {
	Name                    string              `json:"name"`
	Transition              LifecycleTransition `json:"transition"`
	HeartbeatTimeoutSeconds *int32              `json:"heartbeatTimeoutSeconds,omitempty"`
	DefaultResult           LifecycleHookResult `json:"defaultResult,omitempty"`
	NotificationTargetARN   *string             `json:"notificationTargetARN,omitempty"`
	RoleARN                 *string             `json:"roleARN,omitempty"`
}

// MachinePoolStatus is what is known of a pool.
type MachinePoolStatus struct {
	AutoscalingGroupName    string          `json:"autoscalingGroupName,omitempty"`
	ProviderID              string          `json:"providerID,omitempty"`
	ProviderIDList          []string        `json:"providerIDList,omitempty"`
	Replicas                *int32          `json:"replicas,omitempty"`
	Instances               []Instance      `json:"instances,omitempty"`
	Health                  *Health         `json:"health,omitempty"`
	LaunchTemplateID        string          `json:"launchTemplateID,omitempty"`
	ImageID                 string          `json:"imageID,omitempty"`
	FailureDomains          []string        `json:"failureDomains,omitempty"`
	InheritedFailureDomains []string        `json:"inheritedFailureDomains,omitempty"`
	DroppedNodeLabels       []string        `json:"droppedNodeLabels,omitempty"`
	Rollout                 *RolloutStatus  `json:"rollout,omitempty"`
	Ready                   bool            `json:"ready,omitempty"`
	Initialization          *Initialization `json:"initialization,omitempty"`
}

// An Instance is one member of the pool.
type Instance struct {
	ProviderID    string    `json:"providerID"`
	InstanceID    string    `json:"instanceID"`
	Addresses     []Address `json:"addresses,omitempty"`
	FailureDomain string    `json:"failureDomain,omitempty"`
	State         string    `json:"state,omitempty"`
	UpToDate      *bool     `json:"upToDate,omitempty"`
}

// An Address is a network address of an instance.
type Address struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

// Health is the pool's health.
type Health struct {
	State   string   `json:"state"`
	Healthy bool     `json:"healthy"`
	Message string   `json:"message,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// RolloutStatus is how far a roll is.
type RolloutStatus struct {
	RollKey            string `json:"rollKey,omitempty"`
	Phase              string `json:"phase,omitempty"`
	PercentageComplete *int32 `json:"percentageComplete,omitempty"`
	OutdatedInstances  *int32 `json:"outdatedInstances,omitempty"`
	Message            string `json:"message,omitempty"`
}

// Initialization holds Cluster API's initialization flags.
type Initialization struct {
	Provisioned *bool `json:"provisioned,omitempty"`
}
