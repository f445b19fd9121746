package admission

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	xv2 "github.com/crossplane/crossplane/apis/v2/apiextensions/v2"
	"sigs.k8s.io/yaml"
)

const (
	xrdPath    = "../../configuration/machinepools.yaml"
	readmePath = "../../configuration/README.md"
)

// variants returns the XRD as it is and with each patch that the README shows, by scope.
func variants(t *testing.T) map[string]*xv1.CompositeResourceDefinition {
	t.Helper()

	readme, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}

	xrds := map[string]*xv1.CompositeResourceDefinition{}
	add := func(patch string) {
		xrd := variant(t, patch)
		xrds[string(*xrd.Spec.Scope)] = xrd
	}

	add("{}")
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(readme, -1) {
		add(string(block[1]))
	}

	return xrds
}

func variant(t *testing.T, patch string) *xv1.CompositeResourceDefinition {
	t.Helper()

	file, err := os.ReadFile(xrdPath)
	if err != nil {
		t.Fatal(err)
	}
	object, change := map[string]any{}, map[string]any{}
	if err := yaml.UnmarshalStrict(file, &object); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(patch), &change); err != nil {
		t.Fatal(err)
	}
	merge(object, change)

	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	// An XRD of v2 has the fields of v2 only. Crossplane handles either as v1.
	if object["apiVersion"] == xv2.SchemeGroupVersion.String() {
		if err := yaml.UnmarshalStrict(data, &xv2.CompositeResourceDefinition{}); err != nil {
			t.Fatal(err)
		}
	}
	xrd := &xv1.CompositeResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, xrd); err != nil {
		t.Fatal(err)
	}
	xrd.UID = "an-api-server-sets-it"

	return xrd
}
