package main

import (
	"errors"
	"fmt"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The part of apiextensions.crossplane.io/v2 that a MachinePool needs. Crossplane's own types need a crossplane-runtime
// that the function cannot have; test/admission reads the result with them.
type (
	definition struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   metadata       `json:"metadata"`
		Spec       definitionSpec `json:"spec"`
	}

	metadata struct {
		Name string `json:"name"`
	}

	definitionSpec struct {
		Group    string                              `json:"group"`
		Names    extv1.CustomResourceDefinitionNames `json:"names"`
		Scope    extv1.ResourceScope                 `json:"scope"`
		Versions []version                           `json:"versions"`
	}

	version struct {
		Name                     string                                 `json:"name"`
		Served                   bool                                   `json:"served"`
		Referenceable            bool                                   `json:"referenceable"`
		AdditionalPrinterColumns []extv1.CustomResourceColumnDefinition `json:"additionalPrinterColumns,omitempty"`
		Subresources             *subresources                          `json:"subresources,omitempty"`
		Schema                   schema                                 `json:"schema"`
	}

	subresources struct {
		Scale *extv1.CustomResourceSubresourceScale `json:"scale,omitempty"`
	}

	schema struct {
		OpenAPIV3Schema *extv1.JSONSchemaProps `json:"openAPIV3Schema"` //nolint:tagliatelle // Kubernetes spells it so.
	}
)

// Longest values of maps. The cost of the CEL rules that read them cannot be estimated without, and no marker reaches a map's
// values.
var mapValueLengths = map[string]int64{ //nolint:gochecknoglobals // A constant, if Go had maps of them.
	"spec.additionalTags": 256,
	"spec.nodeLabels":     63,
}

// fromCRD makes the XRD that Crossplane derives the same CRD from, and its own fields with it.
func fromCRD(crd *extv1.CustomResourceDefinition) (*definition, error) {
	if len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Schema == nil || crd.Spec.Versions[0].Subresources == nil {
		return nil, errors.New("want 1 version, with a schema and subresources")
	}

	v := crd.Spec.Versions[0]
	root := v.Schema.OpenAPIV3Schema

	// Crossplane makes these itself.
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(root.Properties, name)
	}

	if _, ok := root.Properties["status"].Properties["conditions"]; ok {
		return nil, errors.New("status.conditions is Crossplane's")
	}

	if err := boundMapValues(root, mapValueLengths); err != nil {
		return nil, err
	}

	return &definition{
		APIVersion: "apiextensions.crossplane.io/v2",
		Kind:       "CompositeResourceDefinition",
		Metadata:   metadata{Name: crd.GetName()},
		Spec: definitionSpec{
			Group: crd.Spec.Group,
			Names: crd.Spec.Names,
			Scope: crd.Spec.Scope,
			Versions: []version{{
				Name:                     v.Name,
				Served:                   true,
				Referenceable:            true,
				AdditionalPrinterColumns: v.AdditionalPrinterColumns,
				Subresources:             &subresources{Scale: v.Subresources.Scale},
				Schema:                   schema{OpenAPIV3Schema: root},
			}},
		},
	}, nil
}

// boundMapValues sets how long the values of maps may be, by the maps' paths.
func boundMapValues(root *extv1.JSONSchemaProps, lengths map[string]int64) error {
	for path, length := range lengths {
		m := *root
		for name := range strings.SplitSeq(path, ".") {
			m = m.Properties[name]
		}
		if m.AdditionalProperties == nil || m.AdditionalProperties.Schema == nil {
			return fmt.Errorf("want a map at %s", path)
		}
		m.AdditionalProperties.Schema.MaxLength = &length
	}

	return nil
}
