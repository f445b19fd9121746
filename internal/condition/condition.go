// Package condition names the conditions of a MachinePool. The names are Cluster API's where it has one; Ready, Synced,
// Healthy, UpToDate and Responsive belong to Crossplane, which ignores a function that sets them.
package condition

// A Type of condition.
type Type = string

// Types of conditions, in the order in which they are reported.
const (
	TypeInputsValid             Type = "InputsValid"
	TypeClusterExportsAvailable Type = "ClusterExportsAvailable"
	TypeBootstrapConfigReady    Type = "BootstrapConfigReady"
	TypeImageResolved           Type = "ImageResolved"
	TypeInfrastructureReady     Type = "InfrastructureReady"
	TypeInfrastructureHealthy   Type = "InfrastructureHealthy"
	TypeAutoscalingActive       Type = "AutoscalingActive"
	TypeMachinesUpToDate        Type = "MachinesUpToDate"
	TypeRollingOut              Type = "RollingOut"
	TypeScalingUp               Type = "ScalingUp"
	TypeScalingDown             Type = "ScalingDown"
)

// A Status of a condition, as Kubernetes spells it.
type Status string

// Statuses.
const (
	True    Status = "True"
	False   Status = "False"
	Unknown Status = "Unknown"
)

// A Condition of a MachinePool.
type Condition struct {
	Type   Type
	Status Status
	// Reason in PascalCase, for programs.
	Reason string
	// Message that a person can act on.
	Message string
}

// New returns a condition whose message is one line of bounded length.
func New(t Type, s Status, reason, message string) Condition {
	return Condition{Type: t, Status: s, Reason: reason, Message: Message(message)}
}

// Types in the order in which they are reported.
func Types() []Type {
	return []Type{
		TypeInputsValid, TypeClusterExportsAvailable, TypeBootstrapConfigReady, TypeImageResolved, TypeInfrastructureReady,
		TypeInfrastructureHealthy, TypeAutoscalingActive, TypeMachinesUpToDate, TypeRollingOut, TypeScalingUp, TypeScalingDown,
	}
}
