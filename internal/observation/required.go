package observation

import (
	"encoding/base64"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/bootstrap"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/cluster"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/validation"
)

// maxFormatBytes is far more than the longest format's name, and what a shell adds to it.
const maxFormatBytes = 64

// Names of the resources that the function asks Crossplane to fetch.
const (
	RequiredExports   = "cluster-exports"
	RequiredBootstrap = "bootstrap-data"
)

// fetched returns a required resource, and how far it has come. One that Crossplane was not asked for yet is missing
// from the request; one that does not exist is there without items. One without a name that an object can have is never
// asked for. An object that was not asked for counts for none: a request that names a namespace finds a cluster-scoped object as
// well, and to say more of it would tell which there are.
func fetched(required map[string]*fnv1.Resources, requirement, kind, namespace, name string) (*structpb.Struct, pool.Source) {
	rs, ok := required[requirement]
	switch {
	case !syntax.ObjectName.Matches(name):
		return nil, pool.SourceNotFound
	case !ok:
		return nil, pool.SourceNotFetched
	case len(rs.GetItems()) == 0:
		return nil, pool.SourceNotFound
	}
	object := rs.GetItems()[0].GetResource()
	if text(object, "kind") != kind || text(object, "metadata", "namespace") != namespace || text(object, "metadata", "name") != name {
		return nil, pool.SourceNotFound
	}
	return object, pool.SourceFound
}

// exportsOf a pool's cluster: from the object that publishes them, else inline ones.
func exportsOf(composite *v1alpha1.MachinePool, namespace string, allowed v1beta1.ExportsSources, required map[string]*fnv1.Resources) pool.Exports {
	source := composite.Spec.Cluster
	e := pool.Exports{Source: pool.SourceEmpty}
	if ref := source.ExportsFrom; ref != nil {
		e = allowedExports(ref, namespace, allowed, required)
	}
	if source.Exports != nil && e.Source == pool.SourceEmpty {
		return pool.Exports{Source: pool.SourceFound, Inline: true, Value: source.Exports}
	}
	return e
}

// allowedExports are those of an object that the pool may name. Nothing is read of any other object.
func allowedExports(ref *v1alpha1.ExportsReference, namespace string, allowed v1beta1.ExportsSources, required map[string]*fnv1.Resources) pool.Exports {
	path := field.NewPath("spec", "cluster", "exportsFrom")
	if err := cluster.CheckSource(allowed, ref, namespace, path); err != nil {
		return pool.Exports{Source: pool.SourceRefused, Refused: err}
	}
	object, state := fetched(required, RequiredExports, ref.Kind, cluster.NamespaceOf(allowed, ref), ref.Name)
	if state != pool.SourceFound {
		return pool.Exports{Source: state}
	}
	return publishedExports(ref, object)
}

func publishedExports(ref *v1alpha1.ExportsReference, object *structpb.Struct) pool.Exports {
	v, err := lookUp(object, ref.FieldPath)
	if err != nil {
		return pool.Exports{Source: pool.SourceMalformed, Detail: err.Error()}
	}
	fields := v.GetStructValue()
	switch {
	case v == nil, fields != nil && len(fields.GetFields()) == 0:
		return pool.Exports{Source: pool.SourceEmpty}
	case fields == nil:
		return pool.Exports{Source: pool.SourceMalformed, Detail: ref.FieldPath + " must be an object"}
	}
	exports, wrong := decodeExports(fields)
	if len(wrong) > 0 {
		return pool.Exports{Source: pool.SourceMalformed, Detail: ref.FieldPath + "." + strings.Join(wrong, ", "+ref.FieldPath+".")}
	}
	return pool.Exports{Source: pool.SourceFound, Value: exports}
}

// lookUp a field path as Crossplane writes them, for example status.exports or status.outputs[0].value. It returns nil
// for a field that is not there or null, and an error for a path that cannot be parsed.
func lookUp(s *structpb.Struct, path string) (*structpb.Value, error) {
	segments, err := fieldpath.Parse(path)
	if err != nil {
		return nil, err
	}
	v := structpb.NewStructValue(s)
	for _, segment := range segments {
		if segment.Type == fieldpath.SegmentField {
			v = v.GetStructValue().GetFields()[segment.Field]
			continue
		}
		values := v.GetListValue().GetValues()
		if segment.Index >= uint(len(values)) {
			return nil, nil //nolint:nilnil // Nothing is there, which is no error.
		}
		v = values[segment.Index]
	}
	if _, null := v.GetKind().(*structpb.Value_NullValue); null {
		return nil, nil //nolint:nilnil // As above.
	}
	return v, nil
}

// bootstrapOf decodes the bootstrap Secret. Nothing of it may enter an error, and nothing is read of a Secret that the pool
// may not name.
func bootstrapOf(composite *v1alpha1.MachinePool, namespace string, required map[string]*fnv1.Resources) pool.BootstrapData {
	if len(validation.Namespaces(composite, namespace)) > 0 {
		return pool.BootstrapData{Source: pool.SourceRefused}
	}
	ref := composite.Spec.Bootstrap.DataSecretRef
	secret, state := fetched(required, RequiredBootstrap, "Secret", ref.Namespace, ref.Name)
	if state != pool.SourceFound {
		return pool.BootstrapData{Source: state}
	}
	encoded := text(secret, "data", ref.Key)
	if len(encoded) > base64.StdEncoding.EncodedLen(bootstrap.MaxPayloadBytes) {
		return pool.BootstrapData{Source: pool.SourceTooLarge}
	}
	payload, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return pool.BootstrapData{Source: pool.SourceMalformed}
	}
	switch {
	case len(payload) == 0:
		return pool.BootstrapData{Source: pool.SourceEmpty}
	case len(payload) > bootstrap.MaxPayloadBytes:
		return pool.BootstrapData{Source: pool.SourceTooLarge}
	}
	// A format that cannot be decoded is one that is not supported, and is refused as such.
	format, err := base64.StdEncoding.DecodeString(text(secret, "data", "format"))
	if err != nil || len(format) > maxFormatBytes {
		format = []byte("not base64")
	}
	return pool.BootstrapData{Source: pool.SourceFound, Payload: payload, Format: strings.TrimSpace(string(format))}
}
