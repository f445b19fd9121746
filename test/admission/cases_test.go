package admission

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// A testCase is a merge patch for the spec of sparse.yaml, and what the API server says of the result. internal/validation
// reads the same files, to hold its words against these.
type testCase struct {
	Name   string          `json:"name"`
	Reason string          `json:"reason"`
	Spec   json.RawMessage `json:"spec"`
	Says   []string        `json:"says"`
}

func readCases(t *testing.T, name string) map[string]testCase {
	t.Helper()

	var list []testCase
	if err := yaml.UnmarshalStrict(readFile(t, name), &list); err != nil {
		t.Fatalf("%s: %v", name, err)
	}

	cases := maps.Collect(func(yield func(string, testCase) bool) {
		for _, tc := range list {
			if !yield(tc.Name, tc) {
				return
			}
		}
	})
	if len(cases) != len(list) {
		t.Fatalf("%s: two cases have the same name", name)
	}

	return cases
}

// readXR decodes as the API server does: whole numbers are int64.
func readXR(t *testing.T, name string) map[string]any {
	t.Helper()

	data, err := yaml.YAMLToJSONStrict(readFile(t, name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}

	return decode(t, data)
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()

	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}

	return data
}

func decode(t *testing.T, data []byte) map[string]any {
	t.Helper()

	object := map[string]any{}
	if err := utiljson.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}

	return object
}

func patched(t *testing.T, patch []byte) map[string]any {
	t.Helper()

	xr := readXR(t, "sparse.yaml")
	merge(xr["spec"].(map[string]any), decode(t, patch))

	return xr
}

// merge is a merge patch in which null stays null.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		from, ok := value.(map[string]any)
		to, both := into[key].(map[string]any)
		if ok && both {
			merge(to, from)
			continue
		}
		into[key] = value
	}
}

// says returns the messages in an order of their own.
func says[E error](errs []E) []string {
	messages := make([]string, 0, len(errs))
	for _, err := range errs {
		messages = append(messages, err.Error())
	}
	slices.Sort(messages)

	return messages
}
