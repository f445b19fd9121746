package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
)

// pool returns a pool with which nothing is wrong, changed.
func pool(change func(*v1alpha1.MachinePoolSpec)) *v1alpha1.MachinePool {
	p := &v1alpha1.MachinePool{Spec: v1alpha1.MachinePoolSpec{
		Cluster:   v1alpha1.ClusterSource{Exports: &v1alpha1.Exports{Schema: v1alpha1.ExportsSchema}},
		Bootstrap: v1alpha1.Bootstrap{DataSecretRef: v1alpha1.SecretKeyReference{Name: "demo-pool-0"}},
	}}
	change(&p.Spec)
	p.Default()

	return p
}

// input returns an Input with which nothing is wrong, changed.
func input(change func(*v1beta1.Input)) *v1beta1.Input {
	in := &v1beta1.Input{}
	in.Default()
	change(in)

	return in
}

// messages returns what the errors say, in their order.
func messages(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}

	return all
}
