package decision

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// exportsFrom makes the exports come from another object, as far as that has come.
func exportsFrom(e pool.Exports) change {
	return func(o *pool.Observation) {
		o.Composite.Spec.Cluster = v1alpha1.ClusterSource{ExportsFrom: &v1alpha1.ExportsReference{
			APIVersion: "example.org/v1", Kind: "Cluster", Name: "demo", Namespace: "team-a", FieldPath: "status.exports",
		}}
		o.Exports = e
	}
}

func incomplete() *v1alpha1.Exports {
	e := clusterExports()
	e.Region, e.BootstrapBucket = "", ""
	e.FailureDomains["us-east-1b"] = v1alpha1.FailureDomain{}
	return e
}

func otherSchema() *v1alpha1.Exports {
	e := clusterExports()
	e.Schema = "captf.io/azure-cluster/v1"
	return e
}

func TestExports(t *testing.T) {
	type want struct {
		condition condition.Condition
		used      bool
		refused   string
	}
	available := func(s condition.Status, reason, message string) condition.Condition {
		return condition.New("ClusterExportsAvailable", s, reason, message)
	}
	from := field.NewPath("spec", "cluster", "exportsFrom")
	refusedSecret := field.Invalid(from.Child("kind"), "Secret", "a Secret cannot publish exports, which end up in names, tags and messages: name another object")
	refusedNamespace := field.Forbidden(from.Child("namespace"), "not yours")
	const wrongSchema = `spec.cluster.exportsFrom: Invalid value: the exports' schema: this function reads "captf.io/aws-cluster/v1": point the pool at exports of that schema`
	const lacks = "the exports lack bootstrap_bucket, failure_domains.us-east-1b.subnet_id, region: add them"
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"Found": {
			reason: "Exports of another object are used when they are complete.",
			args:   newPool(exportsFrom(pool.Exports{Source: pool.SourceFound, Value: clusterExports()})),
			want:   want{used: true, condition: available("True", "Available", "the cluster's exports are complete")},
		},
		"Inline": {
			reason: "Inline exports are as good.",
			args:   newPool(),
			want:   want{used: true, condition: available("True", "Available", "the cluster's exports are complete")},
		},
		"NotFetched": {
			reason: "What Crossplane has not fetched yet is not known to be missing.",
			args:   newPool(exportsFrom(pool.Exports{Source: pool.SourceNotFetched})),
			want:   want{condition: available("Unknown", "NotFetched", "waiting for Crossplane to fetch the object of status.exports of Cluster team-a/demo")},
		},
		"NotFound": {
			reason: "An object that does not exist is named, and what to do.",
			args:   newPool(exportsFrom(pool.Exports{Source: pool.SourceNotFound})),
			want:   want{condition: available("False", "NotFound", "status.exports of Cluster team-a/demo: the object does not exist; create it, or change spec.cluster.exportsFrom")},
		},
		"NotFoundClusterScoped": {
			reason: "An object without a namespace is named without one.",
			args:   newPool(exportsFrom(pool.Exports{Source: pool.SourceNotFound}), func(o *pool.Observation) { o.Composite.Spec.Cluster.ExportsFrom.Namespace = "" }),
			want:   want{condition: available("False", "NotFound", "status.exports of Cluster demo: the object does not exist; create it, or change spec.cluster.exportsFrom")},
		},
		"Empty": {
			reason: "An object that holds none yet is waited for.",
			args:   newPool(exportsFrom(pool.Exports{Source: pool.SourceEmpty})),
			want:   want{condition: available("False", "Empty", "status.exports of Cluster team-a/demo holds no exports: wait for the cluster to publish them, or change spec.cluster.exportsFrom.fieldPath")},
		},
		"Malformed": {
			reason: "Exports of another shape are told with the field.",
			args:   newPool(exportsFrom(pool.Exports{Source: pool.SourceMalformed, Detail: "status.exports.region: Invalid value: got a number where a string belongs"})),
			want:   want{condition: available("False", "Malformed", "cannot read the exports of status.exports of Cluster team-a/demo: status.exports.region: Invalid value: got a number where a string belongs")},
		},
		"OtherSchema": {
			reason: "Another schema is refused, without being quoted.",
			args:   newPool(exportsFrom(pool.Exports{Source: pool.SourceFound, Value: otherSchema()})),
			want: want{
				condition: available("False", "SchemaNotSupported", wrongSchema),
				refused:   wrongSchema,
			},
		},
		"OtherSchemaLater": {
			reason: "A pool that exists goes on as it is when what another object publishes changes its schema.",
			args:   steadyPool(exportsFrom(pool.Exports{Source: pool.SourceFound, Value: otherSchema()})),
			want:   want{condition: available("False", "SchemaNotSupported", wrongSchema)},
		},
		"BadSyntax": {
			reason: "What AWS could not take is not rendered, and who publishes it can mend it.",
			args: newPool(exportsFrom(pool.Exports{Source: pool.SourceFound, Value: clusterExports()}), func(o *pool.Observation) {
				o.Exports.Value.BootstrapBucket = "a/b"
			}),
			want: want{condition: available("False", "Malformed", "spec.cluster.exportsFrom: Invalid value: the exports' bootstrap_bucket: must be the name of an S3 bucket: 3 to 63 letters, digits, -, . and _, with a letter or digit first and last")},
		},
		"LongBucket": {
			reason: "An old bucket's name, which was taken before, holds a pool that exists as it is, and refuses none.",
			args: steadyPool(exportsFrom(pool.Exports{Source: pool.SourceFound, Value: clusterExports()}), func(o *pool.Observation) {
				o.Exports.Value.BootstrapBucket = strings.Repeat("b", 255)
			}),
			want: want{condition: available("False", "Malformed", "spec.cluster.exportsFrom: Invalid value: the exports' bootstrap_bucket: must be the name of an S3 bucket: 3 to 63 letters, digits, -, . and _, with a letter or digit first and last")},
		},
		"TooMany": {
			reason: "Exports that hold too many zones are told so before anything is made of them, and refuse no pool.",
			args: newPool(exportsFrom(pool.Exports{Source: pool.SourceFound, Value: clusterExports()}), func(o *pool.Observation) {
				for i := range 64 {
					o.Exports.Value.FailureDomains[fmt.Sprintf("none-%d", i)] = v1alpha1.FailureDomain{}
				}
			}),
			want: want{condition: available("False", "Malformed", "spec.cluster.exportsFrom: Invalid value: the exports' failure_domains: must have at most 64 items")},
		},
		"Secret": {
			reason: "A Secret is not even looked at.",
			args: newPool(exportsFrom(pool.Exports{Source: pool.SourceRefused, Refused: refusedSecret}), func(o *pool.Observation) {
				o.Composite.Spec.Cluster.ExportsFrom.APIVersion, o.Composite.Spec.Cluster.ExportsFrom.Kind = "v1", "Secret"
			}),
			want: want{
				condition: available("False", "Refused", refusedSecret.Error()),
				refused:   `spec.cluster.exportsFrom.kind: Invalid value: "Secret": a Secret cannot publish exports, which end up in names, tags and messages: name another object`,
			},
		},
		"OtherNamespace": {
			reason: "An object that the pool may not name refuses a new pool.",
			args:   newPool(exportsFrom(pool.Exports{Source: pool.SourceRefused, Refused: refusedNamespace})),
			want:   want{condition: available("False", "Refused", refusedNamespace.Error()), refused: refusedNamespace.Error()},
		},
		"OtherNamespaceOfAPool": {
			reason: "A pool that exists goes on as it is: what it may name is for the platform to say.",
			args:   steadyPool(exportsFrom(pool.Exports{Source: pool.SourceRefused, Refused: refusedNamespace})),
			want:   want{condition: available("False", "Refused", refusedNamespace.Error())},
		},
		"RegionOfTheObject": {
			reason: "A pool is bound to its region before it has a group: its template and its bootstrap data are there.",
			args: steadyPool(func(o *pool.Observation) {
				o.Managed.Group = nil
				o.Managed.Object.Region, o.Managed.Object.InAWS = "us-east-1", true
				o.Exports.Value = clusterExports()
				o.Exports.Value.Region = "eu-west-1"
			}),
			want: want{condition: available("False", "RegionChanged", "the cluster now exports another region, the pool's resources are in us-east-1 and cannot move: restore the exports, or create another pool")},
		},
		"RegionThatHoldsNothing": {
			reason: "A mistyped region, where nothing was ever made, can be corrected.",
			args: steadyPool(func(o *pool.Observation) {
				o.Managed.Group = nil
				o.Managed.Object.Region = "us-esat-1"
				o.Managed.Templates[currentTemplate] = pool.ObservedTemplate{Resource: pool.Resource{Region: "us-esat-1"}}
			}),
			want: want{used: true, condition: available("True", "Available", "the cluster's exports are complete")},
		},
		"RegionOfATemplate": {
			reason: "A template that is in AWS binds a pool to its region.",
			args: steadyPool(func(o *pool.Observation) {
				o.Managed.Group = nil
				tpl := template(currentKey, "lt-current")
				tpl.Region = "us-west-2"
				o.Managed.Templates[currentTemplate] = tpl
			}),
			want: want{condition: available("False", "RegionChanged", "the cluster now exports another region, the pool's resources are in us-west-2 and cannot move: restore the exports, or create another pool")},
		},
		"ClusterIDChanged": {
			reason: "Exports of another cluster id than the group is tagged with are another cluster's.",
			args:   steadyPool(func(o *pool.Observation) { o.Managed.Group.ClusterID = "demo-another" }),
			want:   want{condition: available("False", "ClusterIDChanged", "the cluster now exports another kubernetes_cluster_id, the pool's resources are tagged for demo-another and its nodes have joined that cluster: restore the exports, or create another pool")},
		},
		"Incomplete": {
			reason: "Exports that another object publishes may still become complete; all that is missing is in one message.",
			args:   newPool(exportsFrom(pool.Exports{Source: pool.SourceFound, Value: incomplete()})),
			want:   want{condition: available("False", "Incomplete", "spec.cluster.exportsFrom: Required value: the exports lack bootstrap_bucket, failure_domains[*].subnet_id, region: add them")},
		},
		"InlineIncomplete": {
			reason: "Inline exports are complete or refused: no one but the pool's author can complete them.",
			args: newPool(func(o *pool.Observation) {
				o.Composite.Spec.Cluster.Exports = incomplete()
				o.Exports.Value = incomplete()
			}),
			want: want{
				condition: available("False", "Incomplete", "spec.cluster.exports: Required value: "+lacks),
				refused:   "spec.cluster.exports: Required value: " + lacks,
			},
		},
		"RegionChanged": {
			reason: "Exports of another region than the group's are another cluster's.",
			args: steadyPool(func(o *pool.Observation) {
				o.Exports.Value = clusterExports()
				o.Exports.Value.Region = "eu-west-1"
			}),
			want: want{condition: available("False", "RegionChanged", "the cluster now exports another region, the pool's resources are in us-east-1 and cannot move: restore the exports, or create another pool")},
		},
		"NoZones": {
			reason: "Exports that leave the pool without a zone are of no use to its group.",
			args:   steadyPool(func(o *pool.Observation) { o.Composite.Spec.FailureDomains = []string{"us-east-1y", "us-east-1x"} }),
			want: want{
				used:      true,
				condition: available("False", "NoFailureDomains", "the cluster exports none of the pool's zones (us-east-1x, us-east-1y): change spec.failureDomains, or restore the exports"),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			got := want{condition: conditionOf(t, d, v1alpha1.ConditionClusterExportsAvailable), used: d.Common != nil, refused: condition.Errors(d.Refused)}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestExportsGone holds that a pool whose exports go, in any way, keeps everything exactly as it was observed.
func TestExportsGone(t *testing.T) {
	cases := map[string]pool.Exports{
		"NotFetched": {Source: pool.SourceNotFetched},
		"NotFound":   {Source: pool.SourceNotFound},
		"Empty":      {Source: pool.SourceEmpty},
		"Malformed":  {Source: pool.SourceMalformed},
		"Incomplete": {Source: pool.SourceFound, Value: incomplete()},
		"Region": {Source: pool.SourceFound, Value: func() *v1alpha1.Exports {
			e := clusterExports()
			e.Region = "eu-west-1"
			return e
		}()},
	}
	for name, e := range cases {
		t.Run(name, func(t *testing.T) {
			o := steadyPool(exportsFrom(e), func(o *pool.Observation) {
				autoscale(o)
				o.Composite.Spec.LifecycleHooks = nil // What is asked for does not matter; what exists does.
				o.Managed.Policy = new(resource("Policy"))
				o.Managed.Hooks["lifecycle-hook-b"] = resource("LifecycleHook")
				o.Managed.Hooks["lifecycle-hook-a"] = resource("LifecycleHook")
				o.Composite.Status.FailureDomains = []string{"us-east-1a"}
				o.Composite.Status.InheritedFailureDomains = []string{"us-east-1a", "us-east-1b"}
			})
			d := Of(o)
			if len(d.Refused) > 0 {
				t.Fatalf("Of(...): refused: %s", condition.Errors(d.Refused))
			}
			held := map[string]Held{
				"group": d.Group.Held, "object": d.Object.Held, "policy": d.Policy.Held,
				"template": d.Templates[0].Held, "hook a": d.Hooks[0].Held, "hook b": d.Hooks[1].Held,
			}
			for what, h := range held {
				if h == nil {
					t.Errorf("Of(...): the %s is not held", what)
					continue
				}
				if diff := cmp.Diff(map[string]any{"as": "observed"}, h.Spec); diff != "" {
					t.Errorf("Of(...): the %s is not held as it was observed: -want, +got:\n%s", what, diff)
				}
			}
			if d.Hooks[0].Resource != "lifecycle-hook-a" {
				t.Errorf("Of(...): hooks are not sorted: %+v", d.Hooks)
			}
			if string(d.Object.Payload) != secretPayload {
				t.Error("Of(...): data that rotates meanwhile does not reach the object")
			}
			if diff := cmp.Diff([]string{"us-east-1a"}, d.Status.FailureDomains); diff != "" {
				t.Errorf("Of(...): status.failureDomains changed: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([]string{"us-east-1a", "us-east-1b"}, d.Status.InheritedFailureDomains); diff != "" {
				t.Errorf("Of(...): status.inheritedFailureDomains changed: -want, +got:\n%s", diff)
			}
			if d.Status.AutoscalingGroupName != groupNameInAWS || d.Status.LaunchTemplateID != "lt-current" {
				t.Errorf("Of(...): the status forgets the group: %+v", d.Status)
			}
			if !d.Changing {
				t.Error("Of(...): nothing says that the next run should come soon")
			}
		})
	}
}

// TestNothingOfExportsBeforeThem holds that a new pool composes nothing while its exports are missing.
func TestNothingOfExportsBeforeThem(t *testing.T) {
	d := Of(newPool(exportsFrom(pool.Exports{Source: pool.SourceEmpty})))
	if len(d.Templates) > 0 || d.Group != nil || d.Object != nil || d.Policy != nil || len(d.Hooks) > 0 {
		t.Errorf("Of(...): composes without exports: %+v", d)
	}
}
