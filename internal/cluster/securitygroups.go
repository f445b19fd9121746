package cluster

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// CheckSecurityGroups refuses more security groups, the cluster's included, than an interface can have.
func CheckSecurityGroups(ids []string, path *field.Path) *field.Error {
	const most = v1alpha1.MaxWorkerSecurityGroups
	if len(ids) <= most {
		return nil
	}
	return field.Invalid(path, len(ids),
		fmt.Sprintf("with the cluster's worker groups these are %d security groups, a network interface has %d at most: remove %d", len(ids), most, len(ids)-most))
}
