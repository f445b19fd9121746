package naming

import "testing"

func TestIsTemplate(t *testing.T) {
	for resource, want := range map[string]bool{
		ResourceTemplate(Attempt{RollKey: "497384ff"}):             true,
		ResourceTemplate(Attempt{RollKey: "497384ff", Number: 13}): true,
		ResourceGroup:                  false,
		"launch-template-":             false,
		"launch-template-base":         false,
		"launch-template-base-2":       false,
		"launch-template-497384FF":     false,
		"launch-template-497384ff-x":   false,
		"launch-template-497384ff-1-2": false,
	} {
		if got := IsTemplate(resource); got != want {
			t.Errorf("IsTemplate(%q): want %t, got %t", resource, want, got)
		}
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

// TestAttempt holds the names of attempts, and that each gives its attempt back.
func TestAttempt(t *testing.T) {
	cases := map[string]struct {
		reason   string
		args     Attempt
		text     string
		resource string
		template string
	}{
		"First": {
			reason:   "A roll's first attempt is named after its key alone.",
			args:     Attempt{RollKey: "497384ff"},
			text:     "497384ff",
			resource: "launch-template-497384ff",
			template: "mp-a-bfc02ea5-497384ff",
		},
		"Retry": {
			reason:   "Later ones tell their number.",
			args:     Attempt{RollKey: "497384ff", Number: 13},
			text:     "497384ff-13",
			resource: "launch-template-497384ff-13",
			template: "mp-a-bfc02ea5-497384ff-13",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.args.String(); got != tc.text {
				t.Errorf("\n%s\nString(): want %q, got %q", tc.reason, tc.text, got)
			}
			if got := ParseAttempt(tc.text); got != tc.args {
				t.Errorf("\n%s\nParseAttempt(%q): want %+v, got %+v", tc.reason, tc.text, tc.args, got)
			}
			if got := ResourceTemplate(tc.args); got != tc.resource {
				t.Errorf("\n%s\nResourceTemplate(...): want %q, got %q", tc.reason, tc.resource, got)
			}
			if got, ok := AttemptOfTemplate(tc.resource); !ok || got != tc.args {
				t.Errorf("\n%s\nAttemptOfTemplate(%q): want %+v, got %+v, %t", tc.reason, tc.resource, tc.args, got, ok)
			}
			if got := Template("mp-a-bfc02ea5", tc.args); got != tc.template {
				t.Errorf("\n%s\nTemplate(...): want %q, got %q", tc.reason, tc.template, got)
			}
		})
	}
}

func TestParseAttemptOfAnyText(t *testing.T) {
	for text, want := range map[string]Attempt{
		"":           {},
		"abc":        {RollKey: "abc"},
		"abc-0":      {RollKey: "abc-0"},
		"abc--1":     {RollKey: "abc--1"},
		"abc-x":      {RollKey: "abc-x"},
		"abc-1-2":    {RollKey: "abc-1-2"},
		"abc-2":      {RollKey: "abc", Number: 2},
		"abc-99999":  {RollKey: "abc", Number: MaxAttempt},
		"abc-100000": {RollKey: "abc-100000"},
		// Larger than a number of 64 bits, and the largest.
		"abc-9000000000000000000000": {RollKey: "abc-9000000000000000000000"},
		"abc-9223372036854775807":    {RollKey: "abc-9223372036854775807"},
	} {
		if got := ParseAttempt(text); got != want {
			t.Errorf("ParseAttempt(%q): want %+v, got %+v", text, want, got)
		}
	}
}

func TestAttemptOfOtherResources(t *testing.T) {
	for _, resource := range []string{ResourceGroup, ResourceObject, ResourcePolicy, "my-launch-template-497384ff", "launch-template"} {
		if a, ok := AttemptOfTemplate(resource); ok {
			t.Errorf("AttemptOfTemplate(%q): %+v, though it is no launch template", resource, a)
		}
	}
}
