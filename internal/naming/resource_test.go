package naming

import "testing"

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
