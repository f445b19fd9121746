package crd

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Small enough to see why each object below is refused.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.org}
spec:
  group: example.org
  names: {kind: Gadget, plural: gadgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            required: [size]
            x-kubernetes-validations:
            - {rule: "!has(self.color) || self.color != 'red' || self.size < 10", message: red gadgets are small}
            properties:
              size: {type: integer, minimum: 1}
              weight: {type: number}
              color: {type: string, enum: [red, blue], default: blue}
              sides: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              parts: {type: array, items: {type: object, properties: {name: {type: string}}}}
              anything: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - name: v0
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

// A check that lets everything pass would make every test that uses it worthless.
func TestCheck(t *testing.T) {
	def, err := Parse([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		version string
		args    string
		want    []string
	}{
		"Good": {
			reason: "What fits is not refused; whole numbers are numbers too.",
			args:   `{metadata: {name: a, annotations: {a: b}}, spec: {size: 1, weight: 2, color: blue, parts: [{name: a}], anything: {goes: 1}}}`,
		},
		"Default": {
			reason: "Defaults are filled in before anything is required.",
			args:   `{spec: {size: 1000}}`,
		},
		"UnknownField": {
			reason: "A field that no one knows would vanish without a word.",
			args:   `{spec: {size: 1, colour: red}}`,
			want:   []string{"spec.colour: unknown field"},
		},
		"UnknownFieldInList": {
			reason: "Also deep inside.",
			args:   `{spec: {size: 1, parts: [{name: a}, {nam: b}]}}`,
			want:   []string{"spec.parts[1].nam: unknown field"},
		},
		"UnknownFieldAtTheTop": {
			reason: "Also at the top.",
			args:   `{spec: {size: 1}, status: {}}`,
			want:   []string{"status: unknown field"},
		},
		"UnknownMetadata": {
			reason: "Metadata has the fields that all objects have.",
			args:   `{metadata: {nom: a}, spec: {size: 1}}`,
			want:   []string{"metadata.nom: unknown field"},
		},
		"WrongType": {
			reason: "A text is no number.",
			args:   `{spec: {size: "1"}}`,
			want:   []string{`spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`},
		},
		"MissingRequired": {
			reason: "What is required must be there.",
			args:   `{spec: {color: red}}`,
			want:   []string{`spec.size: Required value`},
		},
		"OutOfRange": {
			reason: "Bounds hold.",
			args:   `{spec: {size: 0}}`,
			want:   []string{`spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1`},
		},
		"NotInEnum": {
			reason: "Enums hold.",
			args:   `{spec: {size: 1, color: green}}`,
			want:   []string{`spec.color: Unsupported value: "green": supported values: "red", "blue"`},
		},
		"RuleBroken": {
			reason: "CEL rules are evaluated.",
			args:   `{spec: {size: 10, color: red}}`,
			want:   []string{`spec: Invalid value: red gadgets are small`},
		},
		"RepeatInSet": {
			reason: "A list that is a set holds each value once.",
			args:   `{spec: {size: 1, sides: [a, b, a]}}`,
			want:   []string{`spec.sides[2]: Duplicate value: "a"`},
		},
		"AllAtOnce": {
			reason: "Everything that is wrong is reported, not the first.",
			args:   `{spec: {size: "1", color: green, colour: red}}`,
			want: []string{
				`spec.color: Unsupported value: "green": supported values: "red", "blue"`,
				`spec.colour: unknown field`,
				`spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`,
			},
		},
		"NotServed": {
			reason:  "An API server does not know a version that is not served.",
			version: "v0",
			args:    `{spec: {size: 1}}`,
			want:    []string{"version v0 is not served"},
		},
		"NoSuchVersion": {
			reason:  "Nor one that is not there.",
			version: "v2",
			args:    `{spec: {size: 1}}`,
			want:    []string{"version v2 is not served"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			version := "v1"
			if tc.version != "" {
				version = tc.version
			}
			object := map[string]any{}
			if err := yaml.Unmarshal([]byte(tc.args), &object); err != nil {
				t.Fatal(err)
			}
			object["apiVersion"], object["kind"] = "example.org/"+version, "Gadget"
			got, err := def.Check(context.Background(), version, object)
			if err != nil {
				t.Fatalf("\n%s\nCheck(...): unexpected error: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheck(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	def, err := Parse([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	if def.Storage != "v1" {
		t.Errorf("Parse(...): want storage version v1, got %q", def.Storage)
	}
	if diff := cmp.Diff([]string{"v1"}, def.Served); diff != "" {
		t.Errorf("Parse(...): served: -want, +got:\n%s", diff)
	}
	if _, err := Parse([]byte("kind: CustomResourceDefinition\nspec: {typo: true}")); err == nil {
		t.Error("Parse(...): want an error for a CRD with an unknown field")
	}
}

// A directory without the kind must not look like one whose objects are all fine.
func TestDefinitionNotThere(t *testing.T) {
	if _, err := Open(t.TempDir()).Definition(schema.GroupKind{Group: "example.org", Kind: "Gadget"}); err == nil {
		t.Error("Definition(...): want an error for a kind that is not there")
	}
}
