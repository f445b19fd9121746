package observation

import (
	"math"

	"google.golang.org/protobuf/types/known/structpb"
)

// at returns the value at a path of fields, nil when there is none.
func at(s *structpb.Struct, path ...string) *structpb.Value {
	for i, name := range path {
		v := s.GetFields()[name]
		if i == len(path)-1 {
			return v
		}
		s = v.GetStructValue()
	}
	return nil
}

// text at a path, empty when there is none.
func text(s *structpb.Struct, path ...string) string { return at(s, path...).GetStringValue() }

// texts at a path; values of another type are left out.
func texts(s *structpb.Struct, path ...string) []string {
	var out []string
	for _, v := range at(s, path...).GetListValue().GetValues() {
		if t := v.GetStringValue(); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// count at a path, nil when there is no whole number that a count can be. Numbers arrive as floats.
func count(s *structpb.Struct, path ...string) *int32 {
	v, ok := at(s, path...).GetKind().(*structpb.Value_NumberValue)
	if !ok || v.NumberValue != math.Trunc(v.NumberValue) || math.Abs(v.NumberValue) > math.MaxInt32 {
		return nil
	}
	return new(int32(v.NumberValue))
}
