package v1alpha1

// Types of conditions, in the order in which they are reported. The names are Cluster API's where it has one. Ready, Synced and
// Responsive are Crossplane's own.
const (
	// ConditionInputsValid says whether the pool's spec and the function's Input can be used.
	ConditionInputsValid = "InputsValid"
	// ConditionClusterExportsAvailable says whether the cluster's exports are there, complete and well formed.
	ConditionClusterExportsAvailable = "ClusterExportsAvailable"
	// ConditionBootstrapConfigReady says whether the bootstrap data is staged in S3.
	ConditionBootstrapConfigReady = "BootstrapConfigReady"
	// ConditionImageResolved says whether the machine image is known and can be used.
	ConditionImageResolved = "ImageResolved"
	// ConditionInfrastructureReady says whether every managed resource of the pool is Ready and Synced.
	ConditionInfrastructureReady = "InfrastructureReady"
	// ConditionInfrastructureHealthy says what status.health says: whether the desired instances run.
	ConditionInfrastructureHealthy = "InfrastructureHealthy"
	// ConditionAutoscalingActive says whether something other than spec.replicas sets the desired capacity.
	ConditionAutoscalingActive = "AutoscalingActive"
	// ConditionMachinesUpToDate says whether every member was launched from the current launch template.
	ConditionMachinesUpToDate = "MachinesUpToDate"
	// ConditionRollingOut says whether a roll is under way. Its reason says how far the roll is.
	ConditionRollingOut = "RollingOut"
	// ConditionScalingUp says whether the group has fewer members than desired.
	ConditionScalingUp = "ScalingUp"
	// ConditionScalingDown says whether the group has more members than desired.
	ConditionScalingDown = "ScalingDown"
)

// Reasons of InputsValid.
const (
	// ReasonValid says that every input is valid.
	ReasonValid = "Valid"
	// ReasonRefused says that the pool was refused, and that nothing was changed. The message names each field. Of other
	// conditions: the object that the pool names is one that the pool may not name.
	ReasonRefused = "Refused"
	// ReasonInputUnusable says that the function's Input, which stands in the Composition, cannot be used.
	ReasonInputUnusable = "InputUnusable"
	// ReasonUnknownFailureDomains says that the cluster does not export some zones of spec.failureDomains.
	ReasonUnknownFailureDomains = "UnknownFailureDomains"
)

// Reasons of ClusterExportsAvailable and BootstrapConfigReady.
const (
	// ReasonNotFetched says that Crossplane has not fetched the object yet.
	ReasonNotFetched = "NotFetched"
	// ReasonNotFound says that the object does not exist. Of ImageResolved: AWS has no such image.
	ReasonNotFound = "NotFound"
	// ReasonEmpty says that the object has nothing at the field or key.
	ReasonEmpty = "Empty"
	// ReasonMalformed says that what the object holds cannot be read or used.
	ReasonMalformed = "Malformed"
	// ReasonTooLarge says that the bootstrap data does not fit into a managed resource.
	ReasonTooLarge = "TooLarge"
	// ReasonTooMany says that security groups or tags are more than AWS takes, together with those of others.
	ReasonTooMany = "TooMany"
	// ReasonIncomplete says that the exports lack a field.
	ReasonIncomplete = "Incomplete"
	// ReasonSchemaNotSupported says that the exports are of another schema.
	ReasonSchemaNotSupported = "SchemaNotSupported"
	// ReasonClusterIDChanged says that the exports are of another cluster than the pool's resources.
	ReasonClusterIDChanged = "ClusterIDChanged"
	// ReasonRegionChanged says that the exports are of another region than the pool's resources.
	ReasonRegionChanged = "RegionChanged"
	// ReasonNoFailureDomains says that the cluster exports none of the pool's zones.
	ReasonNoFailureDomains = "NoFailureDomains"
	// ReasonAvailable says that the exports are complete.
	ReasonAvailable = "Available"
	// ReasonStaging says that the bootstrap data is on its way to S3.
	ReasonStaging = "Staging"
	// ReasonStaged says that the bootstrap data is in S3.
	ReasonStaged = "Staged"
)

// Reasons of ImageResolved, beside NotFound.
const (
	// ReasonPinned says that the spec names the image.
	ReasonPinned = "Pinned"
	// ReasonFound says that the newest image of the name was found.
	ReasonFound = "Found"
	// ReasonNotAvailable says that instances cannot be launched from the image in its state.
	ReasonNotAvailable = "NotAvailable"
	// ReasonArchitectureMismatch says that the image is of another architecture than spec.machineImage.architecture.
	ReasonArchitectureMismatch = "ArchitectureMismatch"
	// ReasonInstanceTypeMismatch says that the image is of another architecture than the instance type.
	ReasonInstanceTypeMismatch = "InstanceTypeMismatch"
	// ReasonRootDeviceMismatch says that the image has another root device than spec.machineImage.rootDeviceName.
	ReasonRootDeviceMismatch = "RootDeviceMismatch"
	// ReasonImageNotRead says that the image is to be looked up, and that the function does not read AWS.
	ReasonImageNotRead = "ImageNotRead"
	// ReasonNoKubernetesVersion says that the image is to be looked up by a version that the spec lacks.
	ReasonNoKubernetesVersion = "NoKubernetesVersion"
	// ReasonNoClusterExports says that the image is looked up once the exports say in which region.
	ReasonNoClusterExports = "NoClusterExports"
)

// Reasons of InfrastructureReady.
const (
	// ReasonProvisioning says that a managed resource is not Ready and Synced. The message names it.
	ReasonProvisioning = "Provisioning"
	// ReasonProvisioned says that every managed resource is Ready and Synced.
	ReasonProvisioned = "Provisioned"
	// ReasonGroupNameTaken says that AWS has a group of the pool's name that is not the pool's.
	ReasonGroupNameTaken = "GroupNameTaken"
	// ReasonGroupNameNotRead says that AWS was not asked yet whether the group's name is free.
	ReasonGroupNameNotRead = "GroupNameNotRead"
	// ReasonGroupDeleting says that the group of the pool's name is being deleted. Of InfrastructureHealthy: the pool's own
	// group is.
	ReasonGroupDeleting = "GroupDeleting"
	// ReasonGroupExists says that AWS has a group of the pool's own, and that the pool waits before it takes the group up.
	ReasonGroupExists = "GroupExists"
)

// States of status.health.
const (
	// HealthUnknown says that the members are not known.
	HealthUnknown = "unknown"
	// HealthPending says that the group has no member yet.
	HealthPending = "pending"
	// HealthRunning says that members run, or that none is desired.
	HealthRunning = "running"
	// HealthStopped says that a member is stopped or about to stop.
	HealthStopped = "stopped"
	// HealthTerminated says that the group is gone or about to go.
	HealthTerminated = "terminated"
)

// Reasons of status.health, and of InfrastructureHealthy, beside those of a read that failed. Those that end in a colon are followed
// by an instance id in status.health, and by nothing in the condition.
const (
	// ReasonHealthy says that the desired instances run.
	ReasonHealthy = "Healthy"
	// ReasonMembershipNotRead says that the function did not read the members.
	ReasonMembershipNotRead = "MembershipNotRead"
	// ReasonGroupNotFound says that AWS has no such group.
	ReasonGroupNotFound = "GroupNotFound"
	// ReasonNoMembers says that the group has no member.
	ReasonNoMembers = "NoMembers"
	// ReasonInstanceStopped is of an instance that is stopped or about to stop.
	ReasonInstanceStopped = "InstanceStopped:"
	// ReasonInstancePending is of an instance that does not run yet.
	ReasonInstancePending = "InstancePending:"
	// ReasonUnknownState is of an instance in a state that EC2 does not document.
	ReasonUnknownState = "UnknownState:"
	// ReasonScalingInProgress says that the group has more or fewer members than desired.
	ReasonScalingInProgress = "ScalingInProgress"
)

// Reasons for which a read of AWS fails. Conditions that need the read are then Unknown or False.
const (
	// ReasonThrottled says that the account makes too many calls in the region.
	ReasonThrottled = "Throttled"
	// ReasonAccessDenied says that the identity lacks a permission.
	ReasonAccessDenied = "AccessDenied"
	// ReasonCredentialsInvalid says that AWS does not know the credentials, or that they have expired.
	ReasonCredentialsInvalid = "CredentialsInvalid"
	// ReasonTimedOut says that AWS did not answer in time.
	ReasonTimedOut = "TimedOut"
	// ReasonClockSkewed says that the function's clock is too far from that of AWS.
	ReasonClockSkewed = "ClockSkewed"
	// ReasonPartialRead says that an answer of AWS lacks a part.
	ReasonPartialRead = "PartialRead"
	// ReasonReadFailed says that a read failed for any other reason.
	ReasonReadFailed = "ReadFailed"
)

// Reasons of AutoscalingActive.
const (
	// ReasonDisabled says that the pool has spec.replicas instances.
	ReasonDisabled = "Disabled"
	// ReasonExternalScaler says that something other than the function sets the desired capacity.
	ReasonExternalScaler = "ExternalScaler"
	// ReasonPolicyPending says that the scaling policy is not Ready and Synced yet.
	ReasonPolicyPending = "PolicyPending"
	// ReasonPolicyActive says that the scaling policy sets the desired capacity.
	ReasonPolicyActive = "PolicyActive"
)

// Reasons of MachinesUpToDate, ScalingUp and ScalingDown, beside those of a read that failed.
const (
	// ReasonUpToDate says that every member was launched from the current launch template. Of RollingOut: the roll is over.
	ReasonUpToDate = "UpToDate"
	// ReasonOutdated says that a member was launched from an older launch template.
	ReasonOutdated = "Outdated"
	// ReasonScaling says that the group has another number of members than desired.
	ReasonScaling = "Scaling"
	// ReasonAtDesiredCapacity says that the group has as many members as desired.
	ReasonAtDesiredCapacity = "AtDesiredCapacity"
)

// Phases of status.rollout. docs/rollouts.md draws how they follow one another.
const (
	// PhaseIdle says that the group uses the current template, and that nothing is known to be left to replace.
	PhaseIdle = "Idle"
	// PhaseTemplatePending says that the current template does not exist in AWS yet.
	PhaseTemplatePending = "TemplatePending"
	// PhaseSwitchPending says that the group is told to use the current template and does not yet.
	PhaseSwitchPending = "SwitchPending"
	// PhaseRefreshing says that the group uses the current template and replaces its members.
	PhaseRefreshing = "Refreshing"
	// PhaseLost says that members are left to replace and that no refresh was ever started to do so.
	PhaseLost = "Lost"
	// PhaseStalled says that members are left to replace and that only a person can get the roll going again.
	PhaseStalled = "Stalled"
)

// Reasons of RollingOut, beside UpToDate. docs/rollouts.md says what to do about each.
const (
	// ReasonCreating says that the pool is being created.
	ReasonCreating = "Creating"
	// ReasonMembersNotRead says that the group uses the current template, and that members are not read.
	ReasonMembersNotRead = "MembersNotRead"
	// ReasonMembersUnknown says that AWS cannot be read. The phase is the last one that was known.
	ReasonMembersUnknown = "MembersUnknown"
	// ReasonTemplateCreating says that the launch template does not exist in AWS yet.
	ReasonTemplateCreating = "TemplateCreating"
	// ReasonTooManyTemplates says that so many launch templates of earlier settings may still be in use that no other is made.
	ReasonTooManyTemplates = "TooManyTemplates"
	// ReasonTemplateFailing says that the provider cannot create the launch template, and tries again.
	ReasonTemplateFailing = "TemplateFailing"
	// ReasonTemplateNameTaken says that AWS has templates of this name and of the next three.
	ReasonTemplateNameTaken = "TemplateNameTaken"
	// ReasonTemplateCreationUndetermined says that the provider was interrupted while it created the template.
	ReasonTemplateCreationUndetermined = "TemplateCreationUndetermined"
	// ReasonRetrying says that a lost roll, or a template that is stuck in creation, is attempted anew.
	ReasonRetrying = "Retrying"
	// ReasonGroupUpdating says that the group is told to use the template.
	ReasonGroupUpdating = "GroupUpdating"
	// ReasonRefreshActive says that the instance refresh is at work.
	ReasonRefreshActive = "RefreshActive"
	// ReasonRefreshExpected says that the provider is about to start the instance refresh, or that it was not read yet.
	ReasonRefreshExpected = "RefreshExpected"
	// ReasonRefreshSucceeded says that the instance refresh is over and that members are left.
	ReasonRefreshSucceeded = "RefreshSucceeded"
	// ReasonRefreshNotStarted says that members are left and that no instance refresh was started.
	ReasonRefreshNotStarted = "RefreshNotStarted"
	// ReasonRefreshFailed says that AWS gave the instance refresh up.
	ReasonRefreshFailed = "RefreshFailed"
	// ReasonRefreshCancelled says that the instance refresh was cancelled.
	ReasonRefreshCancelled = "RefreshCancelled"
	// ReasonRetriesExhausted says that three more attempts did not replace the members.
	ReasonRetriesExhausted = "RetriesExhausted"
	// ReasonMembersSkipped says that what is left is protected from scale-in or in Standby.
	ReasonMembersSkipped = "MembersSkipped"
)
