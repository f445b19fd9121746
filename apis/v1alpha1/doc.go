// Package v1alpha1 holds the MachinePool composite resource.
//
// The kubebuilder markers on its fields are the source of the XRD in configuration/. A rule that a marker states is
// stated again, in the same words, by internal/validation, for XRs that never met this XRD.
// +kubebuilder:object:generate=true
// +groupName=aws.machinepool.fn.crossplane.io
// +versionName=v1alpha1
package v1alpha1
