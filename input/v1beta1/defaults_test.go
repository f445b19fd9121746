package v1beta1

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"sigs.k8s.io/yaml"
)

func TestDefault(t *testing.T) {
	// As a string, because what is absent matters here.
	cases := map[string]struct {
		reason string
		input  string
		want   Input
	}{
		"Empty": {
			reason: "An Input that says nothing should get every default.",
			input:  `{}`,
			want: Input{
				ProviderConfigRef: ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"},
				AWS:               AWS{Identity: IdentityNone},
				Refresh:           Refresh{StableSeconds: 60, ChangingSeconds: 15},
			},
		},
		"Partial": {
			reason: "Objects that are there should get the defaults of what they lack.",
			input:  `{"providerConfigRef": {"name": "team-a"}, "aws": {"credentials": "aws-creds"}, "refresh": {"changingSeconds": 5}}`,
			want: Input{
				ProviderConfigRef: ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "team-a"},
				AWS:               AWS{Identity: IdentityNone, Credentials: "aws-creds"},
				Refresh:           Refresh{StableSeconds: 60, ChangingSeconds: 5},
			},
		},
		"Set": {
			reason: "What is set should stay.",
			input:  `{"providerConfigRef": {"kind": "ProviderConfig", "name": "a"}, "tags": {"a": "b"}, "aws": {"identity": "Pod", "assumeRoleChain": [{"roleARN": "r"}]}, "refresh": {"stableSeconds": 1, "changingSeconds": 2}}`,
			want: Input{
				ProviderConfigRef: ProviderConfigReference{Kind: "ProviderConfig", Name: "a"},
				Tags:              map[string]string{"a": "b"},
				AWS:               AWS{Identity: IdentityPod, AssumeRoleChain: []AssumeRole{{RoleARN: "r"}}},
				Refresh:           Refresh{StableSeconds: 1, ChangingSeconds: 2},
			},
		},
	}

	structural := fromCRD(t)

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ours := &Input{}
			if err := json.Unmarshal([]byte(tc.input), ours); err != nil {
				t.Fatal(err)
			}
			ours.Default()
			if diff := cmp.Diff(&tc.want, ours); diff != "" {
				t.Errorf("%s\nDefault(): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(&tc.want, defaultedByAPIServer(t, structural, tc.input)); diff != "" {
				t.Errorf("%s\nThe CRD: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func fromCRD(t *testing.T) *schema.Structural {
	t.Helper()

	data, err := os.ReadFile("../../package/input/machinepool.fn.crossplane.io_inputs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		t.Fatal(err)
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}

	return structural
}

func defaultedByAPIServer(t *testing.T, structural *schema.Structural, input string) *Input {
	t.Helper()

	object := map[string]any{}
	if err := json.Unmarshal([]byte(input), &object); err != nil {
		t.Fatal(err)
	}
	defaulting.Default(object, structural)

	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	out := &Input{}
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}

	return out
}
