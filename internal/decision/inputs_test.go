package decision

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/zones"
)

// manyErrors make a spec wrong in fields that several parts of the function judge: the spec's own validation, the
// exports, the bootstrap data and the tags.
func manyErrors(o *pool.Observation) {
	o.Composite.Spec.InstanceType = "big"
	o.Composite.Spec.AdditionalSecurityGroupIDs = []string{"sg-00000001", "web"}
	o.Composite.Spec.Replicas = new(int32(-1))
	o.Composite.Spec.AdditionalTags = map[string]string{"aws:x": "1"}
	o.Input.Tags = map[string]string{}
	for i := range 45 {
		o.Input.Tags[fmt.Sprintf("t%02d", i)] = ""
	}
	o.Bootstrap = pool.BootstrapData{Source: pool.SourceFound, Payload: []byte{0x1f, 0x8b}, Format: "ignition"}
}

func TestRefusal(t *testing.T) {
	withoutGroup := func(o *pool.Observation) { o.Managed.Object, o.Managed.Group = nil, nil }
	d := Of(steadyPool(manyErrors, withoutGroup))
	paths := make([]string, 0, len(d.Refused))
	for _, err := range d.Refused {
		paths = append(paths, err.Field)
	}
	want := []string{
		"spec.additionalSecurityGroupIDs[1]", "spec.additionalTags", "spec.additionalTags[aws:x]", "spec.bootstrap.dataSecretRef",
		"spec.instanceType", "spec.replicas",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("Of(...).Refused: all errors together, sorted, with their paths: -want, +got:\n%s\n%s", diff, condition.Errors(d.Refused))
	}
	if d.Group != nil || d.Object != nil || d.Policy != nil || len(d.Templates) > 0 || len(d.Hooks) > 0 {
		t.Errorf("Of(...): a refusal composes: %+v", d)
	}
	if len(d.Events) > 0 {
		t.Errorf("Of(...): a refusal is told by its fatal result, not by %+v", d.Events)
	}
	if !d.Changing || d.Ready {
		t.Errorf("Of(...): changing %t, ready %t", d.Changing, d.Ready)
	}
	c := conditionOf(t, d, v1alpha1.ConditionInputsValid)
	if c.Status != condition.False || c.Reason != "Refused" || c.Message != condition.Errors(d.Refused) {
		t.Errorf("Of(...): %+v", c)
	}
	for i := range 20 {
		if again := Of(steadyPool(manyErrors, withoutGroup)); condition.Errors(again.Refused) != condition.Errors(d.Refused) {
			t.Fatalf("Of(...): run %d refuses in another order:\n%s\n%s", i, condition.Errors(d.Refused), condition.Errors(again.Refused))
		}
	}
}

// TestRefusalKeepsConditions holds that a refusal sends what is known: a condition that a fatal response leaves out
// becomes Unknown.
func TestRefusalKeepsConditions(t *testing.T) {
	before := reported(readPool())
	before.Composite.Spec.InstanceType = "big"
	d := Of(before)
	var types []condition.Type
	for _, c := range d.Conditions {
		types = append(types, c.Type)
	}
	slices.Sort(types)
	want := slices.Sorted(slices.Values(condition.Types()))
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("Of(...).Conditions of a refusal: -want, +got:\n%s", diff)
	}
	for _, c := range d.Conditions {
		if last := before.Conditions[c.Type]; c.Type != v1alpha1.ConditionInputsValid && c != last {
			t.Errorf("Of(...): a refusal changes %+v to %+v", last, c)
		}
	}

	d = Of(newPool(func(o *pool.Observation) { o.Composite.Spec.InstanceType = "big" }))
	types = nil
	for _, c := range d.Conditions {
		types = append(types, c.Type)
	}
	want = []condition.Type{v1alpha1.ConditionInputsValid, v1alpha1.ConditionClusterExportsAvailable, v1alpha1.ConditionBootstrapConfigReady}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("Of(...).Conditions of a new pool's refusal: -want, +got:\n%s", diff)
	}
}

// TestNoRefusalBeforeAllIsFetched holds that all errors come together: Crossplane fetches in the same reconciliation.
func TestNoRefusalBeforeAllIsFetched(t *testing.T) {
	cases := map[string]change{
		"Exports": func(o *pool.Observation) { o.Exports = pool.Exports{Source: pool.SourceNotFetched} },
		"Secret":  func(o *pool.Observation) { o.Bootstrap = pool.BootstrapData{Source: pool.SourceNotFetched} },
	}
	for name, notFetched := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(steadyPool(func(o *pool.Observation) { o.Composite.Spec.InstanceType = "big" }, notFetched))
			if len(d.Refused) > 0 {
				t.Errorf("Of(...): refused early: %s", condition.Errors(d.Refused))
			}
			if got, want := verdictOf(t, d, v1alpha1.ConditionInputsValid), (verdict{Status: condition.Unknown, Reason: "NotFetched"}); got != want {
				t.Errorf("Of(...): InputsValid: want %+v, got %+v", want, got)
			}
			if d.Group == nil || d.Object == nil || len(d.Templates) != 1 {
				t.Errorf("Of(...): a pool that waits loses something: %+v", d)
			}
		})
	}
}

func TestUnknownZones(t *testing.T) {
	o := steadyPool(func(o *pool.Observation) {
		o.Composite.Spec.FailureDomains = []string{"us-east-1a", "us-east-1z"}
	})
	d := Of(o)
	if len(d.Refused) > 0 {
		t.Fatalf("Of(...): a pool that exists is refused for a zone that the cluster can lose at any time: %s", condition.Errors(d.Refused))
	}
	if diff := cmp.Diff([]string{"us-east-1a"}, d.Status.FailureDomains); diff != "" {
		t.Errorf("Of(...).Status.FailureDomains: -want, +got:\n%s", diff)
	}
	c := conditionOf(t, d, v1alpha1.ConditionInputsValid)
	if c.Status != condition.False || c.Reason != "UnknownFailureDomains" {
		t.Errorf("Of(...): %+v", c)
	}
	for _, w := range []string{"spec.failureDomains[1]", "us-east-1z"} {
		if !strings.Contains(c.Message, w) {
			t.Errorf("Of(...): %q does not name %s", c.Message, w)
		}
	}
	if strings.Contains(c.Message, "failureDomains[0]") {
		t.Errorf("Of(...): %q names a zone that the cluster has", c.Message)
	}
}

func TestTagLimit(t *testing.T) {
	tags := func(n int) map[string]string {
		m := map[string]string{}
		for i := range n {
			m[fmt.Sprintf("t%02d", i)] = ""
		}
		return m
	}
	both := func(input, additional int) change {
		return func(o *pool.Observation) {
			o.Input.Tags = tags(input)
			o.Composite.Spec.AdditionalTags = map[string]string{}
			for k := range tags(additional) {
				o.Composite.Spec.AdditionalTags["pool-"+k] = ""
			}
		}
	}
	if d := Of(newPool(both(30, 13))); len(d.Refused) > 0 {
		t.Errorf("Of(...): 43 tags beside our 4 are refused: %s", condition.Errors(d.Refused))
	}
	d := Of(newPool(both(30, 14)))
	want := "spec.additionalTags: Invalid value: 48: the Composition's tags, additionalTags and the function's own make 48 tags, AWS takes 50 on one resource, of which provider-aws sets 3: remove 1"
	if diff := cmp.Diff(want, condition.Errors(d.Refused)); diff != "" {
		t.Errorf("Of(...): 44 tags beside our 4: -want, +got:\n%s", diff)
	}
}

func TestAutoscalingBoundsAreRefused(t *testing.T) {
	d := Of(steadyPool(func(o *pool.Observation) {
		o.Composite.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: 5, MaxReplicas: 2}
		o.Composite.Default()
	}))
	if len(d.Refused) != 1 || d.Refused[0].Field != "spec.autoscaling.minReplicas" {
		t.Errorf("Of(...): bounds that cross: %s", condition.Errors(d.Refused))
	}
}

// TestRefusalWhileFetching holds that a spec that is refused changes nothing before all that is wrong is known.
func TestRefusalWhileFetching(t *testing.T) {
	for name, source := range map[string]func(*pool.Observation){
		"Bootstrap": func(o *pool.Observation) { o.Bootstrap = pool.BootstrapData{Source: pool.SourceNotFetched} },
		"Exports": func(o *pool.Observation) {
			o.Exports = pool.Exports{Source: pool.SourceNotFetched}
			o.Composite.Spec.Cluster.ExportsFrom = &v1alpha1.ExportsReference{APIVersion: "example.org/v1", Kind: "Cluster", Name: "demo", FieldPath: "status.exports"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := Of(steadyPool(func(o *pool.Observation) { o.Composite.Spec.InstanceType = "huge" }, source))
			if len(d.Refused) > 0 {
				t.Errorf("Of(...): refused too early: %s", condition.Errors(d.Refused))
			}
			if d.Group == nil || d.Group.Held == nil || d.Object == nil || d.Object.Held == nil {
				t.Errorf("Of(...): want the group and the object held, got %+v, %+v", d.Group, d.Object)
			}
			for _, tpl := range d.Templates {
				if tpl.Held == nil {
					t.Errorf("Of(...): %s is rendered from a spec that is refused", tpl.Resource)
				}
			}
			if len(d.Templates) != 1 {
				t.Errorf("Of(...): want the one template, got %d", len(d.Templates))
			}
		})
	}
}

// TestZonesThatAreExportedNoMore holds that a pool which inherits its zones says which of them the cluster exports no more: its
// instances there are replaced elsewhere.
func TestZonesThatAreExportedNoMore(t *testing.T) {
	inherited := func(names ...string) func(*pool.Observation) {
		return func(o *pool.Observation) {
			o.Managed.Group.Annotations = map[string]string{zones.RecordAnnotation: strings.Join(names, ",")}
		}
	}
	chosen := func(o *pool.Observation) { o.Composite.Spec.FailureDomains = []string{"us-east-1a", "us-east-1f"} }
	const complete = "the cluster's exports are complete"
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   string
	}{
		"All":    {reason: "Nothing is said while all are there.", args: steadyPool(inherited("us-east-1a")), want: complete},
		"Fewer":  {reason: "Each that is gone is named.", args: steadyPool(inherited("us-east-1a", "us-east-1e", "us-east-1f")), want: complete + "; they lack zones that the pool was in (us-east-1e, us-east-1f): it goes on without them, and comes back to them if they are exported again"},
		"None":   {reason: "A pool without any zone is held, which is another message.", args: steadyPool(inherited("us-east-1f")), want: "the cluster exports none of the pool's zones (us-east-1f): change spec.failureDomains, or restore the exports"},
		"Chosen": {reason: "Of zones that the spec chooses InputsValid tells.", args: steadyPool(chosen), want: complete},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, c := range Of(tc.args).Conditions {
				if c.Type != v1alpha1.ConditionClusterExportsAvailable {
					continue
				}
				if diff := cmp.Diff(tc.want, c.Message); diff != "" {
					t.Errorf("\n%s\nClusterExportsAvailable: -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}
