package observation

import (
	"encoding/base64"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// Names of the resources that the function asks Crossplane to fetch.
const (
	RequiredExports   = "cluster-exports"
	RequiredBootstrap = "bootstrap-data"
)

// fetched returns a required resource, and how far it has come. One that Crossplane was not asked for yet is missing
// from the request; one that does not exist is there without items. One without a name is never asked for.
func fetched(required map[string]*fnv1.Resources, requirement, name string) (*structpb.Struct, pool.Source) {
	rs, ok := required[requirement]
	switch {
	case name == "":
		return nil, pool.SourceNotFound
	case !ok:
		return nil, pool.SourceNotFetched
	case len(rs.GetItems()) == 0:
		return nil, pool.SourceNotFound
	}
	return rs.GetItems()[0].GetResource(), pool.SourceFound
}

// exportsOf a pool's cluster: from the object that publishes them, else inline ones.
func exportsOf(composite *v1alpha1.MachinePool, required map[string]*fnv1.Resources) pool.Exports {
	source := composite.Spec.Cluster
	e := pool.Exports{Source: pool.SourceEmpty}
	if ref := source.ExportsFrom; ref != nil && !ref.IsSecret() {
		e = publishedExports(ref, required)
	}
	if source.Exports != nil && e.Source == pool.SourceEmpty {
		return pool.Exports{Source: pool.SourceFound, Inline: true, Value: source.Exports}
	}
	return e
}

func publishedExports(ref *v1alpha1.ExportsReference, required map[string]*fnv1.Resources) pool.Exports {
	object, state := fetched(required, RequiredExports, ref.Name)
	if state != pool.SourceFound {
		return pool.Exports{Source: state}
	}
	v, err := lookUp(object, ref.FieldPath)
	if err != nil {
		return pool.Exports{Source: pool.SourceMalformed, Detail: err.Error()}
	}
	if v == nil || len(v.GetStructValue().GetFields()) == 0 && v.GetStructValue() != nil {
		return pool.Exports{Source: pool.SourceEmpty}
	}
	exports := &v1alpha1.Exports{}
	if err := decode(v, exports); err != nil {
		return pool.Exports{Source: pool.SourceMalformed, Detail: inField(ref.FieldPath, err).Error()}
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

// bootstrapOf decodes the bootstrap Secret. Nothing of it may enter an error.
func bootstrapOf(ref v1alpha1.SecretKeyReference, required map[string]*fnv1.Resources) pool.BootstrapData {
	secret, state := fetched(required, RequiredBootstrap, ref.Name)
	if state != pool.SourceFound {
		return pool.BootstrapData{Source: state}
	}
	payload, err := base64.StdEncoding.DecodeString(text(secret, "data", ref.Key))
	if err != nil {
		return pool.BootstrapData{Source: pool.SourceMalformed}
	}
	if len(payload) == 0 {
		return pool.BootstrapData{Source: pool.SourceEmpty}
	}
	// A format that cannot be decoded is one that is not supported, and is refused as such.
	format, err := base64.StdEncoding.DecodeString(text(secret, "data", "format"))
	if err != nil {
		format = []byte("not base64")
	}
	return pool.BootstrapData{Source: pool.SourceFound, Payload: payload, Format: strings.TrimSpace(string(format))}
}
