package main

import (
	"fmt"
	"os"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// inputValueLengths are those of maps in the Input, see mapValueLengths.
var inputValueLengths = map[string]int64{"tags": 256} //nolint:gochecknoglobals // A constant, if Go had maps of them.

// An inputDefinition is a CRD without the status that the API server gives it.
type inputDefinition struct {
	APIVersion string                             `json:"apiVersion"`
	Kind       string                             `json:"kind"`
	Metadata   map[string]any                     `json:"metadata"`
	Spec       extv1.CustomResourceDefinitionSpec `json:"spec"`
}

// boundInput bounds the values of maps in the Input's CRD, in place.
func boundInput(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the Input's CRD: %w", err)
	}
	crd := inputDefinition{}
	if err := yaml.UnmarshalStrict(data, &crd); err != nil {
		return fmt.Errorf("cannot parse CRD %s: %w", path, err)
	}
	for _, v := range crd.Spec.Versions {
		if err := boundMapValues(v.Schema.OpenAPIV3Schema, inputValueLengths); err != nil {
			return fmt.Errorf("cannot bound CRD %s: %w", path, err)
		}
	}
	out, err := yaml.Marshal(crd)
	if err != nil {
		return fmt.Errorf("cannot marshal CRD: %w", err)
	}
	if err := os.WriteFile(path, append([]byte("---\n"), out...), 0o644); err != nil {
		return fmt.Errorf("cannot write CRD: %w", err)
	}

	return nil
}
