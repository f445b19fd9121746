// Package cluster understands what a cluster exports for its pools: contract captf.io/aws-cluster/v1.
package cluster

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// Missing returns the paths of all the fields that a pool needs and the exports lack, sorted. Paths are relative to
// the exports, for example failure_domains.us-east-1a.subnet_id.
func Missing(e *v1alpha1.Exports) []string {
	var missing []string
	for path, value := range map[string]string{
		"schema":                   e.Schema,
		"region":                   e.Region,
		"kubernetes_cluster_id":    e.KubernetesClusterID,
		"instance_profiles.worker": e.InstanceProfiles.Worker,
		"bootstrap_bucket":         e.BootstrapBucket,
	} {
		if value == "" {
			missing = append(missing, path)
		}
	}
	if len(e.FailureDomains) == 0 {
		missing = append(missing, "failure_domains")
	}
	for zone, fd := range e.FailureDomains {
		if fd.SubnetID == "" {
			missing = append(missing, "failure_domains."+zone+".subnet_id")
		}
	}
	if len(e.SecurityGroupIDs.Worker) == 0 || slices.Contains(e.SecurityGroupIDs.Worker, "") {
		missing = append(missing, "security_group_ids.worker")
	}
	slices.Sort(missing)
	return missing
}

// CheckSchema refuses exports of another contract, naming both. Exports that name none at all are incomplete.
func CheckSchema(e *v1alpha1.Exports, path *field.Path) *field.Error {
	if e.Schema == "" || e.Schema == v1alpha1.ExportsSchema {
		return nil
	}
	return field.Invalid(path.Child("schema"), e.Schema,
		fmt.Sprintf("the cluster exports schema %q, this function reads %q: point the pool at exports of that schema", e.Schema, v1alpha1.ExportsSchema))
}

// CheckComplete refuses exports that lack a field, naming all of them in one error.
func CheckComplete(e *v1alpha1.Exports, path *field.Path) *field.Error {
	missing := Missing(e)
	if len(missing) == 0 {
		return nil
	}
	return field.Required(path, "the exports lack "+strings.Join(missing, ", ")+": add them")
}
