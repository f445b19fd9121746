package aws

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// One bad name never costs another its answer, wherever it stands; more of them cost a bounded number of calls.
func TestIsolate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := make([]string, rapid.IntRange(1, 100).Draw(t, "names"))
		for i := range names {
			names[i] = fleetPool(i)
		}
		bad := map[string]bool{}
		for range rapid.IntRange(0, 3).Draw(t, "bad") {
			bad[rapid.SampledFrom(names).Draw(t, "badName")] = true
		}
		calls := 0
		got := isolate(names, func(part []string) (map[string]string, *failure) {
			calls++
			if slices.ContainsFunc(part, func(n string) bool { return bad[n] }) {
				return nil, &failure{badInput: true}
			}
			out := map[string]string{}
			for _, n := range part {
				out[n] = "value of " + n
			}
			return out, nil
		})
		if calls > 1+maxSplits {
			t.Errorf("want at most %d calls, got %d", 1+maxSplits, calls)
		}
		for _, n := range names {
			o, ok := got[n]
			switch {
			case !ok:
				t.Errorf("%s: want an outcome", n)
			case bad[n] && o.failure == nil:
				t.Errorf("%s: want a failure", n)
			case !bad[n] && len(bad) <= 2 && (o.failure != nil || o.value != "value of "+n):
				t.Errorf("%s: want its value, got %+v", n, o)
			}
		}
	})
}

func TestIsolateOnlyBadInput(t *testing.T) {
	calls := 0
	got := isolate([]string{"a", "b"}, func([]string) (map[string]string, *failure) {
		calls++
		return nil, throttled(opGroups)
	})
	if calls != 1 || got["a"].failure == nil || got["b"].failure == nil {
		t.Errorf("want one call that fails for both, got %d calls, %+v", calls, got)
	}
}
