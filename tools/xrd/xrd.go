package main

import (
	"errors"
	"fmt"

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

// Longest values of maps that CEL rules read. The rules' cost cannot be estimated without them, and no marker reaches a
// map's values.
var mapValueLengths = map[string]int64{ //nolint:gochecknoglobals // A constant, if Go had maps of them.
	"additionalTags": 256,
	"nodeLabels":     63,
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

	for name, length := range mapValueLengths {
		m, ok := root.Properties["spec"].Properties[name]
		if !ok || m.AdditionalProperties == nil || m.AdditionalProperties.Schema == nil {
			return nil, fmt.Errorf("want a map at spec.%s", name)
		}
		m.AdditionalProperties.Schema.MaxLength = &length
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
