// Package admission asks the API server's own libraries what they make of the XRD in configuration/. It is a module of
// its own because it derives CRDs with Crossplane's own code, which needs a newer crossplane-runtime than the function
// can have.
package admission

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// A Server admits XRs as an API server with one CRD does.
type Server struct {
	schema    *schema.Structural
	validator validation.SchemaValidator
	rules     *cel.Validator
}

// Validate says what an API server finds wrong with a CRD: structure, defaults, and the cost of CEL rules among it.
func Validate(crd *extv1.CustomResourceDefinition) error {
	crd = crd.DeepCopy()
	extv1.SetDefaults_CustomResourceDefinition(crd)
	extv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}

	internal := &apiextensions.CustomResourceDefinition{}
	if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		return fmt.Errorf("cannot convert CRD: %w", err)
	}

	return apivalidation.ValidateCustomResourceDefinition(context.Background(), internal).ToAggregate()
}

// NewServer returns a server that has the CRD.
func NewServer(crd *extv1.CustomResourceDefinition) (*Server, error) {
	props := &apiextensions.JSONSchemaProps{}
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil); err != nil {
		return nil, fmt.Errorf("cannot convert schema: %w", err)
	}

	structural, err := schema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("cannot make schema structural: %w", err)
	}

	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, fmt.Errorf("cannot make validator: %w", err)
	}

	return &Server{
		schema:    structural,
		validator: validator,
		rules:     cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// Admit defaults an XR in place and says why it is refused. Fields that the CRD does not know are refused, as kubectl asks
// a server to do.
func (s *Server) Admit(xr map[string]any) field.ErrorList {
	errs := s.prune(xr)

	defaulting.PruneNonNullableNullsWithoutDefaults(xr, s.schema)
	defaulting.Default(xr, s.schema)

	errs = append(errs, validation.ValidateCustomResource(nil, xr, s.validator)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.schema, xr)...)
	if blocking(errs) {
		return errs
	}

	rules, _ := s.rules.Validate(context.Background(), nil, s.schema, xr, nil, celconfig.RuntimeCELCostBudget)

	return append(errs, rules...)
}

// prune removes the fields that the CRD does not know, and says which.
func (s *Server) prune(xr map[string]any) field.ErrorList {
	unknown := pruning.PruneWithOptions(xr, s.schema, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})

	errs := make(field.ErrorList, 0, len(unknown))
	for _, path := range unknown {
		errs = append(errs, field.Forbidden(field.NewPath(path), "unknown field"))
	}

	return errs
}

// blocking reports whether CEL rules are not evaluated, as in the API server's customResourceStrategy.
func blocking(errs field.ErrorList) bool {
	for _, err := range errs {
		switch err.Type { //nolint:exhaustive // The others do not block.
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}

	return false
}

// ReadCRD reads a CRD, strictly.
func ReadCRD(path string) (*extv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read CRD: %w", err)
	}

	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		return nil, fmt.Errorf("cannot parse CRD: %w", err)
	}

	return crd, nil
}
