// Package capacity decides how many instances a pool's group may and should have.
package capacity

import "github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"

// A Capacity is a group's size in instances.
type Capacity struct {
	Min, Max int32
	// Initial is the desired capacity that a group is created with. Whoever changes it in AWS afterwards keeps their
	// change, so it must only ever go where a provider reads it on creation.
	Initial int32
}

// Of returns a defaulted pool's capacity: min, max and desired all equal replicas, unless autoscaling brings bounds of
// its own, into which desired is then clamped.
func Of(s *v1alpha1.MachinePoolSpec) Capacity {
	replicas := *s.Replicas
	if s.Autoscaling == nil {
		return Capacity{Min: replicas, Max: replicas, Initial: replicas}
	}
	lowest, highest := s.Autoscaling.MinReplicas, s.Autoscaling.MaxReplicas
	return Capacity{Min: lowest, Max: highest, Initial: min(max(replicas, lowest), highest)}
}
