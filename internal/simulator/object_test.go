package simulator

import "testing"

func TestHash(t *testing.T) {
	base := func() Object { return Object{"a": []any{"x", 1.0, nil}, "b": Object{"c": true}} }
	cases := map[string]struct {
		reason string
		other  Object
		same   bool
	}{
		"Equal":    {reason: "Equal values have equal hashes.", other: base(), same: true},
		"Value":    {reason: "Another value.", other: Object{"a": []any{"x", 1.0, nil}, "b": Object{"c": false}}},
		"Key":      {reason: "Another key.", other: Object{"a": []any{"x", 1.0, nil}, "b": Object{"d": true}}},
		"Order":    {reason: "Another order.", other: Object{"a": []any{1.0, "x", nil}, "b": Object{"c": true}}},
		"Swapped":  {reason: "Values under each other's keys.", other: Object{"b": []any{"x", 1.0, nil}, "a": Object{"c": true}}},
		"OneLess":  {reason: "A shorter list.", other: Object{"a": []any{"x", 1.0}, "b": Object{"c": true}}},
		"OneField": {reason: "A missing field.", other: Object{"a": []any{"x", 1.0, nil}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Hash(base()) == Hash(tc.other); got != tc.same {
				t.Errorf("%s\nequal hashes: %t, want %t", tc.reason, got, tc.same)
			}
		})
	}
}
