package observation

import (
	"encoding/json"
	"math"
	"strconv"

	"google.golang.org/protobuf/types/known/structpb"
)

// appendJSON appends a value as JSON, an object's fields in no particular order. It does what protojson does in a fifth
// of the time: most of a request is the status of a pool, and to encode that was the largest part of a run.
func appendJSON(b []byte, v *structpb.Value) []byte {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		return appendObject(b, k.StructValue)
	case *structpb.Value_ListValue:
		return appendList(b, k.ListValue)
	case *structpb.Value_StringValue:
		return appendText(b, k.StringValue)
	case *structpb.Value_NumberValue:
		return appendNumber(b, k.NumberValue)
	case *structpb.Value_BoolValue:
		return strconv.AppendBool(b, k.BoolValue)
	}
	return append(b, "null"...)
}

func appendObject(b []byte, s *structpb.Struct) []byte {
	b = append(b, '{')
	first := true
	for name, v := range s.GetFields() {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendText(b, name)
		b = append(b, ':')
		b = appendJSON(b, v)
	}
	return append(b, '}')
}

func appendList(b []byte, l *structpb.ListValue) []byte {
	b = append(b, '[')
	for i, v := range l.GetValues() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, v)
	}
	return append(b, ']')
}

// appendNumber writes numbers that JSON does not have as the text that protobuf has for them, which no field takes.
func appendNumber(b []byte, n float64) []byte {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return strconv.AppendQuote(b, strconv.FormatFloat(n, 'g', -1, 64))
	}
	return strconv.AppendFloat(b, n, 'f', -1, 64)
}

// appendText leaves to encoding/json what needs escaping, or a closer look.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) //nolint:errchkjson // A string always encodes.
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
