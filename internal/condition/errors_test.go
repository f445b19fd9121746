package condition

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestErrors(t *testing.T) {
	required := func(n int) (errs field.ErrorList) {
		for range n {
			errs = append(errs, field.Required(field.NewPath("spec", "a"), ""))
		}
		return errs
	}
	const one = "spec.a: Required value"
	const ten = one + "; " + one + "; " + one + "; " + one + "; " + one + "; " + one + "; " + one + "; " + one + "; " + one + "; " + one
	cases := map[string]struct {
		reason string
		args   field.ErrorList
		want   string
	}{
		"None": {reason: "No error is no text.", want: ""},
		"One":  {reason: "One error is itself.", args: required(1), want: one},
		"Ten":  {reason: "Ten errors are all named.", args: required(10), want: ten},
		"More": {reason: "More are counted: nobody reads hundreds.", args: required(12), want: ten + "; and 2 more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Errors(tc.args)); diff != "" {
				t.Errorf("\n%s\nErrors(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"None": {reason: "No name is no text.", want: ""},
		"Ten":  {reason: "Ten names are all told.", args: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, want: "a, b, c, d, e, f, g, h, i, j"},
		"More": {reason: "More are counted.", args: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}, want: "a, b, c, d, e, f, g, h, i, j and 1 more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Names(tc.args)); diff != "" {
				t.Errorf("\n%s\nNames(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
