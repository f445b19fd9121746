package condition

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// TestTypes holds the types to design.md, and to be ones that Crossplane lets a function set.
func TestTypes(t *testing.T) {
	want := []Type{
		"InputsValid", "ClusterExportsAvailable", "BootstrapConfigReady", "ImageResolved", "InfrastructureReady",
		"InfrastructureHealthy", "AutoscalingActive", "MachinesUpToDate", "RollingOut", "ScalingUp", "ScalingDown",
	}
	if diff := cmp.Diff(want, Types()); diff != "" {
		t.Errorf("Types(): -want, +got:\n%s", diff)
	}
	// Crossplane skips these silently when a function sets them.
	reserved := []Type{"Ready", "Synced", "Healthy", "UpToDate", "Responsive"}
	pascalCase := regexp.MustCompile(`^([A-Z][a-z]+)+$`)
	seen := map[Type]bool{}
	for _, typ := range Types() {
		if slices.Contains(reserved, typ) {
			t.Errorf("Types(): %s is Crossplane's", typ)
		}
		if !pascalCase.MatchString(typ) {
			t.Errorf("Types(): %s is not in PascalCase", typ)
		}
		if seen[typ] {
			t.Errorf("Types(): %s is there twice", typ)
		}
		seen[typ] = true
	}
}

func TestNew(t *testing.T) {
	want := Condition{Type: v1alpha1.ConditionImageResolved, Status: Unknown, Reason: "NotRead", Message: "because"}
	if diff := cmp.Diff(want, New(v1alpha1.ConditionImageResolved, Unknown, "NotRead", "because")); diff != "" {
		t.Errorf("New(...): -want, +got:\n%s", diff)
	}
}
