// Package crd holds objects against CustomResourceDefinitions as strictly as an API server that is told to refuse
// unknown fields. Only tests import it: it is how they know that what the function renders is what a provider takes.
package crd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiversion "k8s.io/apimachinery/pkg/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// ProviderModule is the provider whose CRDs the function renders for.
const ProviderModule = "github.com/upbound/provider-aws/v2"

// PinnedDir is the directory of the CRDs of the provider that go.mod pins: its Go types and its CRDs are then of the
// same version.
func PinnedDir(ctx context.Context) (string, error) {
	// Never fetch: the module is there, since its types are compiled in.
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", ProviderModule)
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("cannot find the directory of %s: %w", ProviderModule, err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "package", "crds"), nil
}

// A Definition is a CRD, ready to hold objects against.
type Definition struct {
	// Storage version, and every version that is served, the newest first.
	Storage string
	Served  []string

	versions map[string]version
}

type version struct {
	structural *structural.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// Dir is a directory of CRDs. A provider has a thousand of them, so it reads only those that it is asked for.
type Dir struct {
	path  string
	known map[schema.GroupKind]*Definition
}

// Open a directory of CRDs, one a file, named <group>_<plural>.yaml.
func Open(path string) *Dir { return &Dir{path: path, known: map[schema.GroupKind]*Definition{}} }

// Definition of a kind.
func (d *Dir) Definition(gk schema.GroupKind) (*Definition, error) {
	if known, ok := d.known[gk]; ok {
		return known, nil
	}
	files, err := filepath.Glob(filepath.Join(d.path, gk.Group+"_*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // A test names the directory.
		if err != nil {
			return nil, err
		}
		// To parse YAML takes a thousand times as long as this.
		if !bytes.Contains(raw, []byte("\n    kind: "+gk.Kind+"\n")) {
			continue
		}
		def, err := Parse(raw)
		if err != nil {
			return nil, fmt.Errorf("cannot parse %s: %w", file, err)
		}
		d.known[gk] = def
		return def, nil
	}
	return nil, fmt.Errorf("no CRD of %s in %s", gk, d.path)
}

// Parse a CRD.
func Parse(raw []byte) (*Definition, error) {
	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, crd); err != nil {
		return nil, err
	}
	def := &Definition{versions: map[string]version{}}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			def.Storage = v.Name
		}
		if v.Served {
			def.Served = append(def.Served, v.Name)
		}
		if v.Schema == nil {
			return nil, fmt.Errorf("version %s has no schema", v.Name)
		}
		compiled, err := compile(v.Schema.OpenAPIV3Schema)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		def.versions[v.Name] = compiled
	}
	slices.SortFunc(def.Served, func(a, b string) int { return apiversion.CompareKubeAwareVersionStrings(b, a) })
	return def, nil
}

func compile(props *extv1.JSONSchemaProps) (version, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil); err != nil {
		return version{}, err
	}
	s, err := structural.NewStructural(internal)
	if err != nil {
		return version{}, err
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return version{}, err
	}
	return version{structural: s, schema: validator, rules: cel.NewValidator(s, true, celconfig.PerCallLimit)}, nil
}

// Check an object against the CRD of its kind and version. It returns everything that an API server would refuse, sorted.
func (d *Dir) Check(ctx context.Context, object map[string]any) ([]string, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	def, err := d.Definition(schema.GroupKind{Group: gv.Group, Kind: kind})
	if err != nil {
		return nil, err
	}
	return def.Check(ctx, gv.Version, object)
}

// Check an object against one version of the CRD.
func (d *Definition) Check(ctx context.Context, name string, object map[string]any) ([]string, error) {
	v, ok := d.versions[name]
	if !ok || !slices.Contains(d.Served, name) {
		return []string{fmt.Sprintf("version %s is not served", name)}, nil
	}
	o, err := asSent(object)
	if err != nil {
		return nil, err
	}

	unknown, err := v.unknownFields(o)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, path := range unknown {
		problems = append(problems, path+": unknown field")
	}
	for _, err := range v.refuse(ctx, o) {
		problems = append(problems, err.Error())
	}
	slices.Sort(problems)
	return slices.Compact(problems), nil
}

// unknownFields are cut off, and returned.
func (v version) unknownFields(o map[string]any) ([]string, error) {
	_, _, unknown, err := objectmeta.GetObjectMetaWithOptions(o, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	options := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	return append(unknown, pruning.PruneWithOptions(o, v.structural, true, options)...), nil
}

// refuse what an API server refuses, in its order: defaults, schema, lists, rules.
func (v version) refuse(ctx context.Context, o map[string]any) field.ErrorList {
	defaulting.Default(o, v.structural)
	errs := validation.ValidateCustomResource(nil, o, v.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, o)...)
	if slices.ContainsFunc(errs, stopsRules) {
		return errs
	}
	broken, _ := v.rules.Validate(ctx, nil, v.structural, o, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// stopsRules reports whether rules are not evaluated on top of an error, as hasBlockingErr of
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.
func stopsRules(err *field.Error) bool {
	switch err.Type { //nolint:exhaustive // The others do not.
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// asSent gives an object the types of numbers that it has after a way over the wire.
func asSent(object map[string]any) (map[string]any, error) {
	b, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	o := map[string]any{}
	if err := utiljson.Unmarshal(b, &o); err != nil {
		return nil, err
	}
	return o, nil
}
