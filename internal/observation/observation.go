// Package observation decodes a request, once, into the plain values that the rules work on. The function's own Input
// and composite are decoded strictly as to types; what others wrote is read leniently, field by field, since a field of
// an unexpected shape must never cost a pool its group.
package observation

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/validation"
)

// From decodes a request. It returns an error that names the field when the composite has a field of the wrong type, and never one
// for anything else that the request holds.
func From(req *fnv1.RunFunctionRequest) (*pool.Observation, error) {
	xr := req.GetObserved().GetComposite().GetResource()
	if holdsMore(at(xr, "spec"), maxSpecValues) {
		return nil, fmt.Errorf("cannot decode the composite: spec: Too many: must hold at most %d values", maxSpecValues)
	}
	spec := plain(at(xr, "spec"))
	composite, err := decodeComposite(xr, spec)
	if err != nil {
		return nil, err
	}
	in, wrong := inputOf(req.GetInput())
	return &pool.Observation{
		Composite:   composite,
		Tenant:      namespaceOf(xr),
		Undecodable: undecodable(xr, spec, composite),
		Conditions:  ownConditions(xr),
		Input:       in,
		InputErrors: wrong,
		Exports:     exportsOf(composite, namespaceOf(xr), in.ExportsFrom, req.GetRequiredResources()),
		Bootstrap:   bootstrapOf(composite, namespaceOf(xr), req.GetRequiredResources()),
		Credentials: credentialsOf(in.AWS, req.GetCredentials()),
		Taken:       takenBy(req.GetDesired().GetResources(), req.GetObserved().GetResources()),
		Managed:     managedOf(req.GetObserved().GetResources(), req.GetDesired().GetResources()),
	}, nil
}

// credentialsKey is the key of a credentials Secret, as provider-aws's documentation names it.
const credentialsKey = "credentials"

// credentialsOf the step for AWS: the documented key, else the only one there is.
func credentialsOf(aws v1beta1.AWS, credentials map[string]*fnv1.Credentials) []byte {
	if aws.Identity != v1beta1.IdentitySecret {
		return nil
	}
	data := credentials[aws.Credentials].GetCredentialData().GetData()
	if ini, ok := data[credentialsKey]; ok || len(data) != 1 {
		return ini
	}
	for _, ini := range data {
		return ini
	}
	return nil
}

// inputOf the pipeline step, with its defaults, and what is wrong with it, sorted. An Input that is wrong is no identity and no limit:
// nothing is read with it. No identity is not the same as None, which would empty what is known of the members.
func inputOf(s *structpb.Struct) (*v1beta1.Input, field.ErrorList) {
	in, err := decodeInput(s)
	if err != nil {
		return withoutIdentity(&v1beta1.Input{}), field.ErrorList{field.Forbidden(field.NewPath("input"), "cannot be decoded: "+strings.ReplaceAll(err.Error(), "\n", ", "))}
	}
	in.Default()
	if errs := validation.Input(in); len(errs) > 0 {
		return withoutIdentity(&v1beta1.Input{ExportsFrom: in.ExportsFrom}), errs
	}
	return in, nil
}

func withoutIdentity(in *v1beta1.Input) *v1beta1.Input {
	in.Default()
	in.AWS.Identity = ""
	return in
}

// decodeInput is strict: a misspelt field would silently be its default. All of them are named.
func decodeInput(s *structpb.Struct) (*v1beta1.Input, error) {
	in := &v1beta1.Input{}
	if s == nil {
		return in, nil
	}
	if holdsMore(structpb.NewStructValue(s), maxInputValues) {
		return nil, fmt.Errorf("input: Too many: must hold at most %d values", maxInputValues)
	}
	b, err := json.Marshal(s.AsMap())
	if err != nil {
		return nil, err
	}
	unknown, err := kjson.UnmarshalStrict(b, in)
	if err != nil {
		return nil, inField("input", err)
	}
	return in, errors.Join(unknown...)
}

func decodeComposite(xr *structpb.Struct, spec any) (*v1alpha1.MachinePool, error) {
	composite := &v1alpha1.MachinePool{}
	composite.SetName(text(xr, "metadata", "name"))
	composite.SetNamespace(text(xr, "metadata", "namespace"))
	if created, err := time.Parse(time.RFC3339, text(xr, "metadata", "creationTimestamp")); err == nil {
		composite.SetCreationTimestamp(metav1.NewTime(created))
	}
	if err := decodePlain(spec, &composite.Spec); err != nil {
		return nil, fmt.Errorf("cannot decode the composite: %w", inField("spec", err))
	}
	// The status is our own, but anyone may have edited it: what cannot be read is as good as lost.
	// It is most of a large pool's request, so it goes without a detour over JSON.
	composite.Status = statusOf(at(xr, "status"))
	composite.Default()
	defaultNamespaces(composite, namespaceOf(xr))
	return composite, nil
}

// statusOf a composite, as the last run left it. A status that is larger than any that a run writes is as good as lost.
func statusOf(v *structpb.Value) v1alpha1.MachinePoolStatus {
	s := v1alpha1.MachinePoolStatus{}
	if holdsMore(v, maxStatusValues) || runtime.DefaultUnstructuredConverter.FromUnstructured(v.GetStructValue().AsMap(), &s) != nil {
		return v1alpha1.MachinePoolStatus{}
	}
	s.Bound()
	return s
}

// undecodable is what the API server would refuse of the composite and the decoded one no longer shows.
func undecodable(xr *structpb.Struct, spec any, composite *v1alpha1.MachinePool) field.ErrorList {
	return append(validation.Object(map[string]any{"spec": spec}), validation.Namespaces(composite, namespaceOf(xr))...)
}

// plain value of a spec, made once as it costs; without one it is empty.
func plain(spec *structpb.Value) any {
	if v := spec.AsInterface(); v != nil {
		return v
	}
	return map[string]any{}
}

func decodePlain(v, into any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// inField says which field of which parent has which wrong type.
func inField(parent string, err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", parent, err)
	}
	path := parent
	if wrong.Field != "" {
		path += "." + wrong.Field
	}
	got := "a " + wrong.Value
	switch wrong.Value {
	case "array":
		got = "a list"
	case "object":
		got = "an object"
	}
	return fmt.Errorf("%s: Invalid value: got %s where %s belongs", path, got, inWords(wrong.Type))
}

// inWords is a Go type as who writes YAML knows it.
func inWords(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // The others are no fields of ours.
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int32:
		return "a whole number of 32 bits"
	case reflect.Slice:
		return "a list"
	case reflect.Pointer:
		return inWords(t.Elem())
	}
	return "an object"
}
