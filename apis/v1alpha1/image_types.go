package v1alpha1

// An Architecture is a CPU architecture as EC2 spells it.
// +kubebuilder:validation:Enum=x86_64;arm64
type Architecture string

// Architectures.
const (
	ArchitectureX8664 Architecture = "x86_64"
	ArchitectureARM64 Architecture = "arm64"
)

// MachineImage says which AMI the instances boot. Without an id it is the newest AMI of owner whose name matches
// nameFormat; which one that is may change and reaches new instances only.
type MachineImage struct {
	// ID pins the AMI. None by default: the image is looked up. A change rolls the pool. Where the function reads AWS, an id
	// that AWS does not have, or of another architecture, makes ImageResolved False and rolls nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:XValidation:rule="self.matches('^ami-[0-9a-f]{8}([0-9a-f]{9})?$')",message="must be an AMI id such as ami-0123456789abcdef0"
	ID *string `json:"id,omitempty"`

	// Owner of the images to look among: a 12-digit AWS account id, self, amazon, aws-marketplace or aws-backup-vault. The
	// default is the account of Cluster API Provider AWS, whose images are for tests, not for production.
	// +optional
	// +kubebuilder:default="819546954734"
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{12}|self|amazon|aws-marketplace|aws-backup-vault)$')",message="must be a 12-digit AWS account id, self, amazon, aws-marketplace or aws-backup-vault"
	Owner string `json:"owner,omitempty"`

	// NameFormat of the images to look among. {semver} stands for the Kubernetes version without its v and +suffix, {version} for the
	// version without its +suffix. One of them must be there. The placeholder {suffix} stands for what is behind the +, as in
	// rke2-{semver}-{suffix}-*: rke2r1 in v1.34.1+rke2r1. The wildcards are * and ?, at most 10. An image whose name has another
	// version in that place is never taken, whatever a wildcard matches: not 1.34.10 or 1.34.1-rc.1 for 1.34.1, and not 1.34.1-rke2r2
	// for 1.34.1+rke2r1. An image whose name has no suffix there is taken, unless the format asks for {suffix}.
	// +optional
	// +kubebuilder:default="capa-ami-ubuntu-24.04-?{semver}-*"
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^*?]*([*?][^*?]*){0,10}$')",message="may hold at most 10 wildcards"
	// +kubebuilder:validation:XValidation:rule="self.contains('{semver}') || self.contains('{version}')",message="must hold {semver} or {version}, where the Kubernetes version goes"
	// +kubebuilder:validation:XValidation:rule="self.matches('^([][A-Za-z0-9 ()./@_\\'*?-]|[{](semver|version|suffix)[}])*$')",message="may hold only what an AMI's name can (letters, digits, spaces and ( ) [ ] . / @ _ - and single quotes), the wildcards * and ?, {semver}, {version} and {suffix}"
	NameFormat string `json:"nameFormat,omitempty"`

	// Architecture of the images to look among, and of a pinned one: x86_64 or arm64. It must be the instance type's. Where the
	// instance type's name tells another one, as m7g.large does, ImageResolved is False and the launch template stays as it is.
	// +optional
	// +kubebuilder:default=x86_64
	Architecture Architecture `json:"architecture,omitempty"`

	// RootDeviceName is the image's root device: /dev/sda1 for Ubuntu, /dev/xvda for Amazon Linux and Flatcar. rootVolume
	// configures the volume behind it. Where the function reads AWS, the image's own root device is taken in place of the
	// default, and any other name that is not the image's makes ImageResolved False. Where it does not, this must be the
	// image's, or instances boot a root volume that rootVolume says nothing of. A change reaches new instances only.
	// +optional
	// +kubebuilder:default="/dev/sda1"
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^/dev/[a-z0-9]+$')",message="must be a device such as /dev/sda1 or /dev/xvda"
	RootDeviceName string `json:"rootDeviceName,omitempty"`
}

// RootVolume is the instances' root EBS volume.
type RootVolume struct {
	// SizeGiB is the volume's size in GiB, 8 to 16384, and at least the image's.
	// +optional
	// +kubebuilder:default=40
	// +kubebuilder:validation:Minimum=8
	// +kubebuilder:validation:Maximum=16384
	SizeGiB int32 `json:"sizeGiB,omitempty"`

	// Type of the volume: gp3 or gp2.
	// +optional
	// +kubebuilder:default=gp3
	// +kubebuilder:validation:Enum=gp3;gp2
	Type string `json:"type,omitempty"`

	// KMSKeyID is the ARN of the KMS key that encrypts the volume. Default: the account's key for EBS. A customer managed
	// key must grant the service-linked role AWSServiceRoleForAutoScaling.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$')",message="must be the ARN of a KMS key: arn:<partition>:kms:<region>:<account>:key/<id>"
	KMSKeyID *string `json:"kmsKeyID,omitempty"`
}
