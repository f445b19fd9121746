package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestCheckSecurityGroups(t *testing.T) {
	path := field.NewPath("spec", "additionalSecurityGroupIDs")
	if err := CheckSecurityGroups(make([]string, 16), path); err != nil {
		t.Errorf("CheckSecurityGroups(16): unexpected error: %v", err)
	}
	const want = "spec.additionalSecurityGroupIDs: Invalid value: 18: with the cluster's worker groups these are 18 security groups, a network interface has 16 at most: remove 2"
	if diff := cmp.Diff(want, CheckSecurityGroups(make([]string, 18), path).Error()); diff != "" {
		t.Errorf("CheckSecurityGroups(18): -want, +got:\n%s", diff)
	}
}
