// Package condition names the conditions of a MachinePool. The names are Cluster API's where it has one; Ready, Synced,
// Healthy, UpToDate and Responsive belong to Crossplane, which ignores a function that sets them.
package condition

import "github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"

// A Type of condition.
type Type = string

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
		v1alpha1.ConditionInputsValid, v1alpha1.ConditionClusterExportsAvailable, v1alpha1.ConditionBootstrapConfigReady, v1alpha1.ConditionImageResolved, v1alpha1.ConditionInfrastructureReady,
		v1alpha1.ConditionInfrastructureHealthy, v1alpha1.ConditionAutoscalingActive, v1alpha1.ConditionMachinesUpToDate, v1alpha1.ConditionRollingOut, v1alpha1.ConditionScalingUp, v1alpha1.ConditionScalingDown,
	}
}
