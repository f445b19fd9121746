package decision

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// whose makes AWS say, when a pool is so old, whose the groups of some names are. A nil claim is a name that is free.
func whose(age time.Duration, claims map[string]*pool.Claim) change {
	return func(o *pool.Observation) {
		created := time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC)
		o.Input.AWS.Identity = v1beta1.IdentityPod
		o.Composite.SetCreationTimestamp(metav1.NewTime(created))
		o.AWS.Claims = map[string]pool.Read[*pool.Claim]{}
		for name, c := range claims {
			o.AWS.Claims[name] = pool.Read[*pool.Claim]{Asked: true, Value: c, At: created.Add(age)}
		}
	}
}

func TestClaim(t *testing.T) {
	ours := naming.Pool{ClusterID: "demo-1960e37c", Namespace: "team-a", Name: "demo-pool-0"}
	owned := func(c pool.Claim) *pool.Claim {
		c.Owner = ours
		return &c
	}
	const old = time.Hour
	unnamed := func(o *pool.Observation) {
		o.Managed.Group.Name, o.Managed.Group.ExternalName, o.Managed.Group.ARN = "", "", ""
	}
	type want struct {
		name, reason string
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"Observed": {
			reason: "The group's managed resource proves its name, whatever AWS says of others.",
			args:   steadyPool(whose(old, map[string]*pool.Claim{newGroupName: {MaxSize: 3}})),
			want:   want{name: groupNameInAWS},
		},
		"Status": {
			reason: "A status proves nothing.",
			args:   newPool(func(o *pool.Observation) { o.Composite.Status.AutoscalingGroupName = "mp-team-b-payments-0123abcd" }),
			want:   want{name: newGroupName},
		},
		"Templates": {
			reason: "The pool's launch templates were named after its group, whose managed resource lost its annotations.",
			args:   steadyPool(unnamed),
			want:   want{name: groupNameInAWS},
		},
		"TemplatesOfALostGroup": {
			reason: "So they do where the group's managed resource is lost.",
			args:   steadyPool(func(o *pool.Observation) { o.Managed.Group = nil }),
			want:   want{name: groupNameInAWS},
		},
		"TemplatesOfAnOldView": {
			reason: "A view from before the group was composed, though AWS has it by now, does not hold the group back.",
			args: steadyPool(whose(0, map[string]*pool.Claim{groupNameInAWS: owned(pool.Claim{MaxSize: 3, Members: 3})}), func(o *pool.Observation) {
				o.Managed.Group = nil
			}),
			want: want{name: groupNameInAWS},
		},
		"TemplateOnItsWay": {
			reason: "A template that is not in AWS yet proves nothing.",
			args: newPool(whose(0, map[string]*pool.Claim{newGroupName: nil, groupNameInAWS: nil}), func(o *pool.Observation) {
				o.Managed.Templates[currentTemplate] = template(currentKey, "")
			}),
			want: want{name: newGroupName},
		},
		"TemplatesWithoutExports": {
			reason: "They do it without the cluster's exports as well.",
			args:   steadyPool(unnamed, noExports),
			want:   want{name: groupNameInAWS},
		},
		"NoExports": {
			reason: "Without exports a new pool has no name yet.",
			args:   newPool(noExports),
		},
		"NotRead": {
			reason: "Without an identity a new pool's name is computed.",
			args:   newPool(),
			want:   want{name: newGroupName},
		},
		"Free": {
			reason: "A name that AWS does not have is free.",
			args:   newPool(whose(0, map[string]*pool.Claim{newGroupName: nil, groupNameInAWS: nil})),
			want:   want{name: newGroupName},
		},
		"NotAsked": {
			reason: "Where AWS is read, nothing is made before AWS was asked.",
			args:   newPool(whose(0, map[string]*pool.Claim{newGroupName: nil})),
			want:   want{name: groupNameInAWS, reason: "GroupNameNotRead"},
		},
		"ReadFails": {
			reason: "Nor while AWS does not answer.",
			args: newPool(whose(0, map[string]*pool.Claim{groupNameInAWS: nil}), func(o *pool.Observation) {
				o.AWS.Claims[newGroupName] = pool.Read[*pool.Claim]{Asked: true, Err: &pool.ReadError{Reason: pool.ReadThrottled, Message: "throttled"}}
			}),
			want: want{name: newGroupName, reason: "GroupNameNotRead"},
		},
		"Strangers": {
			reason: "A group whose tags name no pool is somebody's.",
			args:   newPool(whose(old, map[string]*pool.Claim{newGroupName: {MaxSize: 3, Members: 3}, groupNameInAWS: nil})),
			want:   want{name: newGroupName, reason: "GroupNameTaken"},
		},
		"AnotherPools": {
			reason: "So is one whose tags name another pool.",
			args: newPool(whose(old, map[string]*pool.Claim{
				newGroupName:   {Owner: naming.Pool{ClusterID: "demo-1960e37c", Namespace: "team", Name: "a-demo-pool-0"}, MaxSize: 3},
				groupNameInAWS: nil,
			})),
			want: want{name: newGroupName, reason: "GroupNameTaken"},
		},
		"AnotherClusters": {
			reason: "And one of another cluster's pool.",
			args: newPool(whose(old, map[string]*pool.Claim{
				newGroupName:   {Owner: naming.Pool{ClusterID: "prod", Namespace: "team-a", Name: "demo-pool-0"}, MaxSize: 3},
				groupNameInAWS: nil,
			})),
			want: want{name: newGroupName, reason: "GroupNameTaken"},
		},
		"FormerNameOfAnother": {
			reason: "A former name, which others can find, is nothing to a new pool unless the tags name it.",
			args:   newPool(whose(old, map[string]*pool.Claim{newGroupName: nil, groupNameInAWS: {MaxSize: 3, Members: 3}})),
			want:   want{name: newGroupName},
		},
		"OwnAfterARestore": {
			reason: "A group that is the pool's own is taken up.",
			args:   newPool(whose(old, map[string]*pool.Claim{newGroupName: owned(pool.Claim{MaxSize: 3, Members: 3}), groupNameInAWS: nil})),
			want:   want{name: newGroupName},
		},
		"OwnOfAFormerVersion": {
			reason: "So is one of an earlier version, under its name.",
			args:   newPool(whose(old, map[string]*pool.Claim{newGroupName: nil, groupNameInAWS: owned(pool.Claim{MaxSize: 3, Members: 3})})),
			want:   want{name: groupNameInAWS},
		},
		"OwnOfAYoungPool": {
			reason: "A young pool waits: the group may be that of a pool of its name that was deleted a moment ago.",
			args:   newPool(whose(2*time.Minute, map[string]*pool.Claim{newGroupName: owned(pool.Claim{MaxSize: 3, Members: 3}), groupNameInAWS: nil})),
			want:   want{name: newGroupName, reason: "GroupExists"},
		},
		"Deleting": {
			reason: "A group that AWS deletes is waited for, however old the pool is.",
			args:   newPool(whose(old, map[string]*pool.Claim{newGroupName: owned(pool.Claim{Deleting: true}), groupNameInAWS: nil})),
			want:   want{name: newGroupName, reason: "GroupDeleting"},
		},
		"Emptied": {
			reason: "So is one that the provider empties to delete it.",
			args:   newPool(whose(old, map[string]*pool.Claim{newGroupName: owned(pool.Claim{Members: 1}), groupNameInAWS: nil})),
			want:   want{name: newGroupName, reason: "GroupDeleting"},
		},
		"EmptiedFormer": {
			reason: "So is one under a former name: its object has the same key.",
			args:   newPool(whose(old, map[string]*pool.Claim{newGroupName: nil, groupNameInAWS: owned(pool.Claim{Members: 1})})),
			want:   want{name: groupNameInAWS, reason: "GroupDeleting"},
		},
		"Empty": {
			reason: "An empty one is about to go.",
			args:   newPool(whose(10*time.Minute, map[string]*pool.Claim{newGroupName: owned(pool.Claim{}), groupNameInAWS: nil})),
			want:   want{name: newGroupName, reason: "GroupDeleting"},
		},
		"EmptyForLong": {
			reason: "One that stays empty is no longer being deleted: a pool of no replicas was restored, and scaled up since.",
			args:   newPool(whose(old, map[string]*pool.Claim{newGroupName: owned(pool.Claim{}), groupNameInAWS: nil})),
			want:   want{name: newGroupName},
		},
		"Zero": {
			reason: "A pool that wants no instance has such a group.",
			args: newPool(whose(10*time.Minute, map[string]*pool.Claim{newGroupName: owned(pool.Claim{}), groupNameInAWS: nil}), func(o *pool.Observation) {
				o.Composite.Spec.Replicas = new(int32(0))
			}),
			want: want{name: newGroupName},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var e *v1alpha1.Exports
			if tc.args.Exports.Source == pool.SourceFound {
				e = tc.args.Exports.Value
			}
			got := claimOf(tc.args, e)
			if diff := cmp.Diff(tc.want, want{name: got.name, reason: got.reason}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nclaimOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got.isHeld() != (got.message != "") {
				t.Errorf("\n%s\nclaimOf(...): reason %q and message %q", tc.reason, got.reason, got.message)
			}
		})
	}
}

// TestNothingIsMadeUnderAHeldName holds that a pool composes nothing new, and says why, and keeps what it has.
func TestNothingIsMadeUnderAHeldName(t *testing.T) {
	taken := map[string]*pool.Claim{newGroupName: {MaxSize: 3, Members: 3}, groupNameInAWS: nil}
	t.Run("New", func(t *testing.T) {
		d := Of(newPool(whose(time.Hour, taken)))
		if d.Group != nil || d.Object != nil || len(d.Templates) > 0 || len(d.Refused) > 0 {
			t.Errorf("Of(...): group %v, object %v, templates %v, refused %v", d.Group, d.Object, d.Templates, d.Refused)
		}
		if c := conditionOf(t, d, v1alpha1.ConditionInfrastructureReady); c.Status != condition.False || c.Reason != "GroupNameTaken" {
			t.Errorf("Of(...): %+v", c)
		}
		if d.Ready || !d.Changing {
			t.Errorf("Of(...): ready %t, changing %t: want a pool that waits", d.Ready, d.Changing)
		}
	})
}
