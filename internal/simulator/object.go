package simulator

import (
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"
)

// An Object is a Kubernetes object as plain JSON values.
type Object = map[string]any

// Paths that several parties need.
const (
	annotationExternalName = "crossplane.io/external-name"
	annotationResourceName = "crossplane.io/composition-resource-name"
	annotationPending      = "crossplane.io/external-create-pending"
	annotationSucceeded    = "crossplane.io/external-create-succeeded"

	fieldMetadata    = "metadata"
	fieldAnnotations = "annotations"
	fieldSpec        = "spec"
	fieldStatus      = "status"
	fieldConditions  = "conditions"
	fieldForProvider = "forProvider"
	fieldAtProvider  = "atProvider"
)

// Field at a path, nil when there is none.
func Field(o any, path ...string) any {
	for _, name := range path {
		m, ok := o.(Object)
		if !ok {
			return nil
		}
		o = m[name]
	}
	return o
}

// Text at a path, empty when there is none.
func Text(o any, path ...string) string {
	s, _ := Field(o, path...).(string)
	return s
}

// Number at a path. Numbers are float64 from a function and int64 from an API server.
func Number(o any, path ...string) (int, bool) {
	switch n := Field(o, path...).(type) {
	case float64:
		return int(n), true
	case int64:
		return int(n), true
	case int:
		return n, true
	}
	return 0, false
}

// Texts at a path, in their order.
func Texts(o any, path ...string) []string {
	list, _ := Field(o, path...).([]any)
	out := make([]string, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// SetField at a path, making the maps on the way. A nil value removes it.
func SetField(o Object, value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		next, ok := o[name].(Object)
		if !ok {
			next = Object{}
			o[name] = next
		}
		o = next
	}
	if value == nil {
		delete(o, path[len(path)-1])
		return
	}
	o[path[len(path)-1]] = value
}

// Clone an object, or any other JSON value, wholly.
func Clone[T any](v T) T {
	c, _ := cloneAny(v).(T)
	return c
}

func cloneAny(v any) any {
	switch v := v.(type) {
	case Object:
		out := make(Object, len(v))
		for k, e := range v {
			out[k] = cloneAny(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cloneAny(e)
		}
		return out
	}
	return v
}

var hashSeed = maphash.MakeSeed() //nolint:gochecknoglobals // One per process.

// Hash of a JSON value, equal for equal values, whatever type their numbers have. It tells cheaply whether anything changed.
func Hash(v any) uint64 {
	switch v := v.(type) {
	case string:
		return maphash.String(hashSeed, v)
	case int:
		return Hash(float64(v))
	case int64:
		return Hash(float64(v))
	case Object:
		sum := uint64(len(v))
		for k, e := range v {
			sum += mix(maphash.String(hashSeed, k), Hash(e))
		}
		return sum
	case []any:
		sum := uint64(len(v))
		for _, e := range v {
			sum = mix(sum, Hash(e))
		}
		return sum
	}
	return maphash.Comparable(hashSeed, v)
}

// mix two hashes, in their order.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xc2b2ae3d27d4eb4f)
	return high ^ low
}

// A memo is what was made of objects, kept while they stay as they are.
type memo[T any] map[string]memoized[T]

type memoized[T any] struct {
	hash uint64
	made T
}

// of an object by its name, made anew when the object is another than the last time.
func (m memo[T]) of(name string, o Object, anew func(Object) T) T {
	hash := Hash(o)
	if e, ok := m[name]; ok && e.hash == hash {
		return e.made
	}
	m[name] = memoized[T]{hash: hash, made: anew(o)}
	return m[name].made
}

// without returns an object less some of its fields.
func without(o any, fields ...string) Object {
	m, _ := o.(Object)
	out := maps.Clone(m)
	maps.DeleteFunc(out, func(k string, _ any) bool { return slices.Contains(fields, k) })
	return out
}

// sortedKeys makes walks over maps deterministic.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
