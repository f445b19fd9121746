package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machinepools.example.org}
spec:
  group: example.org
  names: {kind: MachinePool, plural: machinepools}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
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
            properties:
              additionalTags: {type: object, additionalProperties: {type: string}}
              nodeLabels: {type: object, additionalProperties: {type: string}}
          status: {type: object}
`

const xrd = `# Generated from apis/v1alpha1 by ` + "`make generate`" + `. Change the markers there.
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: machinepools.example.org
spec:
  group: example.org
  names:
    kind: MachinePool
    plural: machinepools
  scope: Namespaced
  versions:
  - name: v1
    referenceable: true
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              additionalTags:
                additionalProperties:
                  maxLength: 256
                  type: string
                type: object
              nodeLabels:
                additionalProperties:
                  maxLength: 63
                  type: string
                type: object
            type: object
          status:
            type: object
        required:
        - spec
        type: object
    served: true
    subresources:
      scale:
        specReplicasPath: .spec.replicas
        statusReplicasPath: .status.replicas
`

func TestGenerate(t *testing.T) {
	type args struct {
		crd string
	}

	type want struct {
		xrd string
		err string
	}

	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"MachinePool": {
			reason: "Fields that Crossplane makes should go, and values of maps should get a length.",
			args:   args{crd: crd},
			want:   want{xrd: xrd},
		},
		"Conditions": {
			reason: "Conditions are Crossplane's to declare.",
			args:   args{crd: strings.ReplaceAll(crd, "status: {type: object}", "status: {type: object, properties: {conditions: {type: array}}}")},
			want:   want{err: "status.conditions is Crossplane's"},
		},
		"NoTags": {
			reason: "A map that was renamed should not silently lose its length.",
			args:   args{crd: strings.ReplaceAll(crd, "additionalTags", "tags")},
			want:   want{err: "want a map at spec.additionalTags"},
		},
		"NotACRD": {
			reason: "Anything but a CRD should be refused.",
			args:   args{crd: "replicas: 3"},
			want:   want{err: "cannot parse CRD"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in, out := filepath.Join(t.TempDir(), "crd.yaml"), filepath.Join(t.TempDir(), "xrd.yaml")
			if err := os.WriteFile(in, []byte(tc.args.crd), 0o600); err != nil {
				t.Fatal(err)
			}

			err := generate(in, out)
			if tc.want.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want.err) {
					t.Errorf("%s\ngenerate(...): want error with %q, got %v", tc.reason, tc.want.err, err)
				}

				return
			}
			if err != nil {
				t.Fatalf("%s\ngenerate(...): %v", tc.reason, err)
			}

			got, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want.xrd, string(got)); diff != "" {
				t.Errorf("%s\ngenerate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBoundInput(t *testing.T) {
	const input = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: inputs.example.org
spec:
  group: example.org
  names:
    kind: Input
    plural: inputs
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          tags:
            additionalProperties:
              type: string
            type: object
        type: object
    served: true
    storage: true
`
	path := filepath.Join(t.TempDir(), "input.yaml")
	if err := os.WriteFile(path, []byte(input), 0o600); err != nil {
		t.Fatal(err)
	}
	// Twice, since what is completed already stays as it is.
	for range 2 {
		if err := boundInput(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(input, "              type: string\n", "              maxLength: 256\n              type: string\n", 1)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("boundInput(...): -want, +got:\n%s", diff)
	}

	if err := os.WriteFile(path, []byte(strings.ReplaceAll(input, "tags", "labels")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := boundInput(path); err == nil || !strings.Contains(err.Error(), "want a map at tags") {
		t.Errorf("boundInput(...): a map that was renamed should not silently lose its length, got %v", err)
	}
}
