package observation

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// protojson is the reference: what it writes and what is written here are the same values.
func TestAppendJSON(t *testing.T) {
	deep := structpb.NewStringValue("bottom")
	for range 100 {
		deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{deep, structpb.NewNullValue()}})
	}
	cases := map[string]struct {
		reason string
		args   any
	}{
		"Null":        {reason: "Null is a value.", args: nil},
		"Bools":       {reason: "So are booleans.", args: []any{true, false}},
		"Empty":       {reason: "Empty objects and lists are neither null nor left out.", args: map[string]any{"o": map[string]any{}, "l": []any{}, "": ""}},
		"Nested":      {reason: "Objects and lists nest.", args: map[string]any{"a": []any{map[string]any{"b": []any{"c", "d"}}, "e"}, "f": "g"}},
		"Quotes":      {reason: "What JSON must escape is escaped.", args: []any{`"`, `\`, `a"b\c`, "\n\r\t\b\f", "\x00\x1f\x7f"}},
		"QuotedField": {reason: "In the names of fields too.", args: map[string]any{"a\"b\n": 1, "ü": 2, "<&>": 3}},
		"Unicode":     {reason: "Text of any script stays as it is.", args: []any{"ü", "đ", "\u2028", "😀", "<script>&"}},
		"Integers":    {reason: "A whole number is one, so that it decodes into an integer.", args: []any{0, 1, -1, 60, math.MaxInt32, math.MinInt32, 1 << 53, 1e20}},
		"Fractions":   {reason: "Fractions lose nothing.", args: []any{0.1, -2.5, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v, err := structpb.NewValue(tc.args)
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, tc.reason, v)
		})
	}
	t.Run("Deep", func(t *testing.T) { sameJSON(t, "Depth is no matter.", deep) })
}

func sameJSON(t *testing.T, reason string, v *structpb.Value) {
	t.Helper()
	want, err := protojson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	// cmp takes exponential time for what is nested deep.
	if got := appendJSON(nil, v); !reflect.DeepEqual(values(t, want), values(t, got)) {
		t.Errorf("\n%s\nappendJSON(...): want as protojson %s, got %s", reason, want, got)
	}
}

func values(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("no JSON: %v: %s", err, b)
	}
	return v
}

// protojson refuses these, and so an error would not say which field has one.
func TestAppendJSONOfNoJSONValue(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *structpb.Value
		want   string
	}{
		"NaN":      {reason: "No number is text.", args: structpb.NewNumberValue(math.NaN()), want: `"NaN"`},
		"Infinity": {reason: "Nor is one without end.", args: structpb.NewNumberValue(math.Inf(-1)), want: `"-Inf"`},
		"NoKind":   {reason: "A value of no kind is null.", args: &structpb.Value{}, want: `null`},
		"Nil":      {reason: "So is none at all.", args: nil, want: `null`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(appendJSON(nil, tc.args))); diff != "" {
				t.Errorf("\n%s\nappendJSON(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzAppendJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"b",null,true]}`, `"\ud800"`, `[[[]]]`, `-0`, `{"":{"":""}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := &structpb.Value{}
		if err := protojson.Unmarshal([]byte(s), v); err != nil {
			t.Skip()
		}
		sameJSON(t, "What protojson reads is written as protojson writes it.", v)
	})
}
