package validation

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// testdata of the admission tests: what an API server says of the same XRs. test/admission holds it against the XRD.
const admission = "../../test/admission/testdata"

type admissionCase struct {
	Name   string          `json:"name"`
	Reason string          `json:"reason"`
	Spec   json.RawMessage `json:"spec"`
	Says   []string        `json:"says"`
}

func TestSaysWhatTheAPIServerSays(t *testing.T) {
	for _, file := range []string{"accepted.yaml", "refused.yaml"} {
		for _, tc := range readCases(t, file) {
			t.Run(tc.Name, func(t *testing.T) {
				got := judge(t, tc.Spec)
				if diff := cmp.Diff(len(tc.Says), len(got)); diff != "" {
					t.Fatalf("%s\nThe API server says %q, the function %q", tc.Reason, tc.Says, got)
				}
				for _, err := range got {
					if !slices.ContainsFunc(tc.Says, func(said string) bool { return same(said, err) }) {
						t.Errorf("%s\nThe API server says %q, the function %q", tc.Reason, tc.Says, err)
					}
				}
			})
		}
	}
}

func TestAcceptsTheDesign(t *testing.T) {
	if got := judgeXR(t, readYAML(t, "pool.yaml")); len(got) > 0 {
		t.Errorf("MachinePool(...): want nothing, got %q", got)
	}
}

// same reports whether both messages are about the same field, and have the same words. The API server names the value where
// it has one, and a key of a map in the message where it cannot in the path.
func same(said string, err *field.Error) bool {
	path, words, _ := strings.Cut(said, ": ")
	where, key, inMap := strings.Cut(err.Field, "[")
	key, rest, _ := strings.Cut(key, "]")

	about := path == err.Field ||
		inMap && (path == where || path == where+"."+key+rest) ||
		// What is absent is the API server's outermost field, and the function's innermost.
		err.Type == field.ErrorTypeRequired && strings.HasPrefix(err.Field, path+".")

	return about && strings.HasPrefix(words, err.Type.String()) && strings.HasSuffix(words, err.Detail) ||
		// The API server requires the cluster, the function only what it is for.
		said == "spec.cluster: Required value" && err.Field == "spec.cluster"
}

func judge(t *testing.T, patch []byte) field.ErrorList {
	t.Helper()

	xr := readYAML(t, "sparse.yaml")
	merge(xr["spec"].(map[string]any), decode(t, patch))

	return judgeXR(t, xr)
}

func judgeXR(t *testing.T, xr map[string]any) field.ErrorList {
	t.Helper()

	data, err := json.Marshal(xr)
	if err != nil {
		t.Fatal(err)
	}
	pool := &v1alpha1.MachinePool{}
	if err := json.Unmarshal(data, pool); err != nil {
		t.Fatal(err)
	}
	pool.Default()

	return append(MachinePool(pool), Object(xr)...)
}

func readCases(t *testing.T, name string) []admissionCase {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(admission, name))
	if err != nil {
		t.Fatal(err)
	}
	var cases []admissionCase
	if err := yaml.UnmarshalStrict(data, &cases); err != nil {
		t.Fatal(err)
	}

	return cases
}

func readYAML(t *testing.T, name string) map[string]any {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(admission, name))
	if err != nil {
		t.Fatal(err)
	}
	data, err = yaml.YAMLToJSONStrict(data)
	if err != nil {
		t.Fatal(err)
	}

	return decode(t, data)
}

func decode(t *testing.T, data []byte) map[string]any {
	t.Helper()

	object := map[string]any{}
	if err := utiljson.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}

	return object
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
