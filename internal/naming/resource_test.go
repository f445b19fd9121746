package naming

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRollKeyOfTemplate(t *testing.T) {
	type want struct {
		rollKey string
		ok      bool
	}
	cases := map[string]struct {
		reason string
		args   string
		want   want
	}{
		"Template": {reason: "A template's resource name gives its roll key back.", args: ResourceTemplate("497384ff"), want: want{rollKey: "497384ff", ok: true}},
		"Group":    {reason: "The group is no template.", args: ResourceGroup, want: want{rollKey: ResourceGroup}},
		"Foreign":  {reason: "A resource of another step of the pipeline is none of ours.", args: "my-launch-template-497384ff", want: want{rollKey: "my-launch-template-497384ff"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rollKey, ok := RollKeyOfTemplate(tc.args)
			if diff := cmp.Diff(tc.want, want{rollKey: rollKey, ok: ok}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nRollKeyOfTemplate(%q): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}

func TestIsHook(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   bool
	}{
		"Hook":    {reason: "A hook is known by its prefix.", args: ResourceHook("drain"), want: true},
		"Policy":  {reason: "The policy is no hook.", args: ResourcePolicy},
		"Foreign": {reason: "A resource of another step of the pipeline is none of ours.", args: "my-lifecycle-hook-drain"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsHook(tc.args); got != tc.want {
				t.Errorf("\n%s\nIsHook(%q): want %t, got %t", tc.reason, tc.args, tc.want, got)
			}
		})
	}
}
