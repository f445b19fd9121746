package decision

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

func TestQueryFor(t *testing.T) {
	type want struct {
		query pool.Query
		ask   bool
	}
	pod := func(o *pool.Observation) { o.Input.AWS.Identity = v1beta1.IdentityPod }
	lookUp := func(o *pool.Observation) {
		o.Composite.Spec.MachineImage.ID = nil
		// The key of v1.34.1 without a pinned image, by sha256sum.
		o.Composite.Status.Rollout = &v1alpha1.RolloutStatus{RollKey: "a537c9ea", Phase: "Idle"}
	}
	imageQuery := &pool.ImageQuery{Owner: "819546954734", Name: "capa-ami-ubuntu-24.04-?{semver}-*", Version: "v1.34.1", Architecture: "x86_64"}
	query := func(changes ...func(q *pool.Query)) pool.Query {
		q := pool.Query{Identity: pool.Identity{Source: "Pod"}, Region: "us-east-1", GroupName: groupNameInAWS, Image: &pool.ImageQuery{ID: pinnedImage}, MaxAge: 7500 * time.Millisecond}
		for _, f := range changes {
			f(&q)
		}
		return q
	}
	refresh := func(q *pool.Query) { q.Refresh = true }
	claimed := func(q *pool.Query) { q.GroupName, q.Claims = "", []string{newGroupName, groupNameInAWS} }
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"None": {
			reason: "Without an identity nothing is asked, whatever there is to ask.",
			args:   steadyPool(lookUp),
		},
		"Fetching": {
			reason: "A run whose answer Crossplane throws away asks nothing.",
			args:   steadyPool(pod, func(o *pool.Observation) { o.Bootstrap = pool.BootstrapData{Source: pool.SourceNotFetched} }),
		},
		"Steady": {
			reason: "A pool at rest asks for its group, which brings the members, and looks at its pinned image.",
			args:   steadyPool(pod),
			want:   want{ask: true, query: query()},
		},
		"NotInAWS": {
			reason: "A group that the provider has not seen yet has no refresh to ask for.",
			args:   steadyPool(pod, func(o *pool.Observation) { o.Managed.Group.ARN, o.Composite.Status.Rollout = "", nil }),
			want:   want{ask: true, query: query()},
		},
		"Unnamed": {
			reason: "A group without annotations that the provider has not seen yet has the name that its launch templates were named after. The status names nothing.",
			args: steadyPool(pod, func(o *pool.Observation) {
				o.Managed.Group.Name, o.Managed.Group.ExternalName, o.Managed.Group.ARN = "", "", ""
				o.Composite.Status.AutoscalingGroupName = "mp-team-b-payments-0123abcd"
			}),
			want: want{ask: true, query: query()},
		},
		"Image": {
			reason: "An image that is not pinned is looked up.",
			args:   steadyPool(pod, lookUp),
			want:   want{ask: true, query: query(func(q *pool.Query) { q.Image = imageQuery })},
		},
		"NewPinned": {
			reason: "A new pool asks whose the groups are that have a name which it would have or had. The status names none.",
			args:   newPool(pod, func(o *pool.Observation) { o.Composite.Status.AutoscalingGroupName = "mp-team-b-payments-0123abcd" }),
			want:   want{ask: true, query: query(claimed)},
		},
		"NewImage": {
			reason: "A new pool asks for its image too.",
			args:   newPool(pod, lookUp),
			want:   want{ask: true, query: query(claimed, func(q *pool.Query) { q.Image = imageQuery })},
		},
		"NewWithoutExports": {
			reason: "Without exports nobody knows the region to ask.",
			args:   newPool(pod, lookUp, noExports),
			want:   want{},
		},
		"ExportsGone": {
			reason: "A group says which region it is in, and an image would go into no template.",
			args:   steadyPool(pod, lookUp, noExports),
			want:   want{ask: true, query: query(func(q *pool.Query) { q.Image = nil })},
		},
		"Secret": {
			reason: "Credentials and roles come along.",
			args: steadyPool(func(o *pool.Observation) {
				o.Input.AWS = v1beta1.AWS{Identity: v1beta1.IdentitySecret, AssumeRoleChain: []v1beta1.AssumeRole{{RoleARN: "arn:aws:iam::123456789012:role/read"}}}
				o.Credentials = []byte("[default]")
			}),
			want: want{ask: true, query: query(func(q *pool.Query) {
				q.Identity = pool.Identity{Source: "Secret", SharedCredentials: []byte("[default]"), AssumeRoleChain: []v1beta1.AssumeRole{{RoleARN: "arn:aws:iam::123456789012:role/read"}}}
			})},
		},
		"Tenant": {
			reason: "Whose pool it is comes along, so that tenants share what is read fairly.",
			args:   steadyPool(pod, func(o *pool.Observation) { o.Tenant = "team-a" }),
			want:   want{ask: true, query: query(func(q *pool.Query) { q.Tenant = "team-a" })},
		},
		"MaxAge": {
			reason: "An answer may be half as old as the time between two runs of a pool that changes.",
			args:   steadyPool(pod, func(o *pool.Observation) { o.Input.Refresh.ChangingSeconds = 60 }),
			want:   want{ask: true, query: query(func(q *pool.Query) { q.MaxAge = 30 * time.Second })},
		},
		"NewKey": {
			reason: "A roll asks for the refresh.",
			args:   steadyPool(pod, newVersion),
			want:   want{ask: true, query: query(refresh)},
		},
		"TwoTemplates": {
			reason: "So does a pool with a template too many.",
			args:   steadyPool(pod, func(o *pool.Observation) { o.Managed.Templates[newerTemplate] = template(newerKey, "lt-newer") }),
			want:   want{ask: true, query: query(refresh)},
		},
		"Switching": {
			reason: "And a group that is not on what it was sent.",
			args:   steadyPool(pod, func(o *pool.Observation) { o.Managed.Group.TemplateID = "lt-old" }),
			want:   want{ask: true, query: query(refresh)},
		},
		"LastRunRolled": {
			reason: "And one that the last run saw roll.",
			args:   steadyPool(pod, func(o *pool.Observation) { o.Composite.Status.Rollout.Phase = "Refreshing" }),
			want:   want{ask: true, query: query(refresh)},
		},
		"LastRunUnknown": {
			reason: "And one of which nothing is remembered.",
			args:   steadyPool(pod, func(o *pool.Observation) { o.Composite.Status.Rollout = nil }),
			want:   want{ask: true, query: query(refresh)},
		},
		"Outdated": {
			reason: "And one with members left that are outdated.",
			args:   steadyPool(pod, func(o *pool.Observation) { o.Composite.Status.Rollout.OutdatedInstances = new(int32(1)) }),
			want:   want{ask: true, query: query(refresh)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, ask := QueryFor(tc.args)
			if ask != tc.want.ask {
				t.Fatalf("\n%s\nQueryFor(...): want %t, got %t with %+v", tc.reason, tc.want.ask, ask, q)
			}
			if !ask {
				return
			}
			if diff := cmp.Diff(tc.want.query, q); diff != "" {
				t.Errorf("\n%s\nQueryFor(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
