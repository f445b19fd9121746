package validation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// Whoever may write an object may make it as large as etcd takes it, 1.5 MiB, of whatever field has no bound. So each has one.
func TestEveryFieldOfTheXRDHasABound(t *testing.T) {
	if unbounded := unbounded("", schemaIn(t, xrdPath)); len(unbounded) > 0 {
		t.Errorf("these fields have no bound:\n%s", strings.Join(unbounded, "\n"))
	}
}

func TestEveryFieldOfTheInputHasABound(t *testing.T) {
	schema := schemaIn(t, inputPath)
	// The API server bounds these of every object.
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(schema.Properties, name)
	}
	if unbounded := unbounded("", schema); len(unbounded) > 0 {
		t.Errorf("these fields have no bound:\n%s", strings.Join(unbounded, "\n"))
	}
}

// TestUnbounded holds that the tests above can fail.
func TestUnbounded(t *testing.T) {
	schema := &extv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(`
type: object
properties:
  text: {type: string}
  bounded: {type: string, maxLength: 1}
  choice: {type: string, enum: [a]}
  list: {type: array, items: {type: string}}
  boundedList: {type: array, maxItems: 1, items: {type: object, properties: {text: {type: string}}}}
  map: {type: object, additionalProperties: {type: string}}
  boundedMap: {type: object, maxProperties: 1, additionalProperties: {type: array, maxItems: 1, items: {type: integer}}}
  unknown: {type: object, x-kubernetes-preserve-unknown-fields: true}
  untyped: {x-kubernetes-int-or-string: true}
`), schema); err != nil {
		t.Fatal(err)
	}
	want := []string{
		".boundedList[*].text: string without maxLength",
		".list: array without maxItems",
		".list[*]: string without maxLength",
		".map: map without maxProperties",
		".map.*: string without maxLength",
		".text: string without maxLength",
		".unknown: keeps unknown fields",
		".untyped: no type",
	}
	if diff := cmp.Diff(want, unbounded("", schema)); diff != "" {
		t.Errorf("unbounded(...): -want, +got:\n%s", diff)
	}
}

// unbounded are the fields of a schema whose size has no bound, sorted by path.
func unbounded(path string, s *extv1.JSONSchemaProps) []string {
	var out []string
	add := func(what string) { out = append(out, path+": "+what) }
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields {
		add("keeps unknown fields")
	}
	switch s.Type {
	case "boolean", "integer", "number":
	case "string":
		if s.MaxLength == nil && len(s.Enum) == 0 {
			add("string without maxLength")
		}
	case "array":
		if s.MaxItems == nil {
			add("array without maxItems")
		}
		out = append(out, unbounded(path+"[*]", s.Items.Schema)...)
	case "object":
		if s.AdditionalProperties != nil {
			if s.MaxProperties == nil {
				add("map without maxProperties")
			}
			out = append(out, unbounded(path+".*", s.AdditionalProperties.Schema)...)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			out = append(out, unbounded(path+"."+name, new(s.Properties[name]))...)
		}
	default:
		add("no type")
	}

	return out
}

// A schema cannot bound the keys of a map, only a rule can.
func TestEveryKeyOfAMapHasABound(t *testing.T) {
	for _, tc := range []struct {
		definition string
		object     string
		maps       []string
	}{
		{
			xrdPath,
			`{spec: {cluster: {exports: {schema: captf.io/aws-cluster/v1}}, bootstrap: {dataSecretRef: {name: demo}}}}`,
			[]string{"spec.additionalTags", "spec.cluster.exports.failure_domains", "spec.nodeLabels"},
		},
		{inputPath, `{}`, []string{"tags"}},
	} {
		schema := schemaIn(t, tc.definition)
		found := mapsOf("", schema)
		if diff := cmp.Diff(tc.maps, slices.Sorted(maps.Keys(found))); diff != "" {
			t.Errorf("maps of %s: -want, +got:\n%s", tc.definition, diff)
		}
		admit := admitting(t, schema)
		for path, values := range found {
			for _, length := range []int{318, 100_000} {
				var value any = "x"
				if values.Type == "object" {
					value = map[string]any{}
				}
				var patch any = map[string]any{strings.Repeat("k", length): value}
				for _, name := range slices.Backward(strings.Split(path, ".")) {
					patch = map[string]any{name: patch}
				}
				object := map[string]any{}
				if err := yaml.Unmarshal([]byte(tc.object), &object); err != nil {
					t.Fatal(err)
				}
				merge(object, patch.(map[string]any))
				said := messages(admit(object))
				if len(said) != 1 || !strings.HasPrefix(said[0], path+": Invalid value") {
					t.Errorf("%s: a key of %d characters is admitted: %.200q", path, length, said)
				}
			}
		}
	}
}

// mapsOf a schema, with the schemas of their values.
func mapsOf(path string, s *extv1.JSONSchemaProps) map[string]*extv1.JSONSchemaProps {
	found := map[string]*extv1.JSONSchemaProps{}
	if s.AdditionalProperties != nil {
		found[strings.TrimPrefix(path, ".")] = s.AdditionalProperties.Schema
	}
	for name, property := range s.Properties {
		maps.Copy(found, mapsOf(path+"."+name, &property))
	}
	if s.Items != nil {
		maps.Copy(found, mapsOf(path+"[*]", s.Items.Schema))
	}

	return found
}

// What the function writes the XRD takes: a status that it refuses is refused in every run. And what fits is not cut.
func TestStatusIsBoundAsInTheXRD(t *testing.T) {
	schema := schemaIn(t, xrdPath)
	admit := admitting(t, schema)
	status := schema.Properties["status"]
	decoded := func(object any) v1alpha1.MachinePoolStatus {
		t.Helper()
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		s := v1alpha1.MachinePoolStatus{}
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}

		return s
	}
	refused := func(s v1alpha1.MachinePoolStatus) []string {
		t.Helper()
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		xr := readYAML(t, "sparse.yaml")
		xr["status"] = decode(t, data)

		return messages(admit(xr))
	}

	largest := decoded(sized(&status, 0))
	if got := refused(largest); len(got) > 0 {
		t.Errorf("the XRD refuses the largest status that it should take: %q", got)
	}
	bound := largest
	bound.Bound()
	if diff := cmp.Diff(largest, bound); diff != "" {
		t.Errorf("Bound() cuts what the XRD takes: -before, +after:\n%.2000s", diff)
	}

	larger := decoded(sized(&status, 1))
	if got := refused(larger); len(got) == 0 {
		t.Error("the XRD takes a status that is larger than it should take")
	}
	larger.Bound()
	if got := refused(larger); len(got) > 0 {
		t.Errorf("Bound() leaves what the XRD refuses: %.2000q", got)
	}
}

// sized is a value of a schema with everything that has a bound that far beyond it. Of the items of a list one is so: all of
// them would be more than an object can hold.
func sized(s *extv1.JSONSchemaProps, beyond int) any {
	switch s.Type {
	case "boolean":
		return true
	case "integer":
		return 1
	case "string":
		return strings.Repeat("x", int(*s.MaxLength)+beyond)
	case "array":
		items := make([]any, 0, int(*s.MaxItems)+beyond)
		small := smallest(s.Items.Schema)
		for range int(*s.MaxItems) - 1 {
			items = append(items, small)
		}
		items = append(items, sized(s.Items.Schema, beyond))
		if beyond > 0 {
			items = append(items, small)
		}

		return items
	case "object":
		object := map[string]any{}
		for name, property := range s.Properties {
			object[name] = sized(&property, beyond)
		}

		return object
	}
	panic(fmt.Sprintf("a status has no %s", s.Type))
}

// smallest is a value of a schema with what is required.
func smallest(s *extv1.JSONSchemaProps) any {
	if s.Type != "object" {
		return "x"
	}
	object := map[string]any{}
	for _, name := range s.Required {
		object[name] = smallest(new(s.Properties[name]))
	}

	return object
}
