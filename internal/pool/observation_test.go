package pool

import (
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestScope(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   Scope
	}{
		"Namespaced":    {reason: "A namespaced composite may only compose namespaced resources.", args: "team-a", want: ScopeNamespaced},
		"ClusterScoped": {reason: "A cluster-scoped composite, claimed or not, has no namespace to put resources in.", want: ScopeCluster},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &Observation{Composite: &v1alpha1.MachinePool{}}
			o.Composite.SetNamespace(tc.args)
			if got := o.Scope(); got != tc.want {
				t.Errorf("\n%s\nScope(): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

func TestInAWS(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *ObservedGroup
		want   bool
	}{
		"NotComposed": {reason: "A group that was never composed is not in AWS."},
		"Composed":    {reason: "A group without an ARN was not seen in AWS, even under its name.", args: &ObservedGroup{Name: "mp-a"}},
		"Created":     {reason: "AWS gives a group its ARN.", args: &ObservedGroup{ARN: "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:1:autoScalingGroupName/mp-a"}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.args.InAWS(); got != tc.want {
				t.Errorf("\n%s\nInAWS(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestHealthy(t *testing.T) {
	for _, r := range []Resource{{}, {Ready: true}, {Synced: true}, {Ready: true, Synced: true}} {
		if got, want := r.Healthy(), r.Ready && r.Synced; got != want {
			t.Errorf("%+v.Healthy(): want %t, got %t", r, want, got)
		}
	}
}
