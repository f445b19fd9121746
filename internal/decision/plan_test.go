package decision

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/capacity"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// TestFirstComposition is the order in which a new pool comes to exist: the template and the object, then the group,
// then what hangs on the group.
func TestFirstComposition(t *testing.T) {
	templateCreated := func(o *pool.Observation) {
		o.Managed.Templates[currentTemplate] = template(currentKey, "lt-current")
	}
	objectReady := func(o *pool.Observation) {
		o.Managed.Object = &pool.ObservedObject{Resource: resource("Object"), Bucket: "demo-bootstrap", Key: "pool/demo-pool-0"}
	}
	hangers := func(o *pool.Observation) {
		autoscale(o)
		o.Composite.Spec.LifecycleHooks = []v1alpha1.LifecycleHook{{Name: "drain", Transition: "Terminating"}}
		o.Composite.Default()
	}
	type want struct {
		templates, hooks      int
		object, group, policy bool
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"Begins": {
			reason: "A template and the object are composed at once.",
			args:   newPool(hangers),
			want:   want{templates: 1, object: true},
		},
		"TemplateCreated": {
			reason: "The group waits for the data that its instances would fetch.",
			args:   newPool(hangers, templateCreated),
			want:   want{templates: 1, object: true},
		},
		"ObjectReady": {
			reason: "The group waits for the template's id.",
			args:   newPool(hangers, objectReady),
			want:   want{templates: 1, object: true},
		},
		"ObjectNotReady": {
			reason: "An object that exists and is not Ready may hold nothing yet.",
			args:   newPool(hangers, templateCreated, objectReady, func(o *pool.Observation) { o.Managed.Object.Ready = false }),
			want:   want{templates: 1, object: true},
		},
		"Both": {
			reason: "With both the group is composed, and what hangs on it waits.",
			args:   newPool(hangers, templateCreated, objectReady),
			want:   want{templates: 1, object: true, group: true},
		},
		"GroupNotInAWS": {
			reason: "A group that AWS does not have yet takes neither policy nor hook.",
			args:   steadyPool(hangers, func(o *pool.Observation) { o.Managed.Group.ARN = "" }),
			want:   want{templates: 1, object: true, group: true},
		},
		"GroupInAWS": {
			reason: "A group in AWS takes both.",
			args:   steadyPool(hangers),
			want:   want{templates: 1, object: true, group: true, policy: true, hooks: 1},
		},
		"NoSecret": {
			reason: "Without bootstrap data nothing is composed: the format is not known either.",
			args:   newPool(hangers, noSecret),
			want:   want{},
		},
		"NoImage": {
			reason: "Without an image no template is made, and the data is staged meanwhile.",
			args:   newPool(hangers, func(o *pool.Observation) { o.Composite.Spec.MachineImage.ID = nil }),
			want:   want{object: true},
		},
		"NoZone": {
			reason: "Without a zone there is no group.",
			args:   newPool(hangers, templateCreated, objectReady, func(o *pool.Observation) { o.Composite.Status.InheritedFailureDomains = []string{"us-east-1z"} }),
			want:   want{templates: 1, object: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			got := want{templates: len(d.Templates), hooks: len(d.Hooks), object: d.Object != nil, group: d.Group != nil, policy: d.Policy != nil}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s\nrefused: %s", tc.reason, diff, condition.Errors(d.Refused))
			}
		})
	}
}

func TestGroup(t *testing.T) {
	steady := func(change func(g *Group)) *Group {
		g := &Group{
			Name: groupNameInAWS, TemplateID: "lt-current", Capacity: capacity.Capacity{Min: 3, Max: 3, Initial: 3},
			Subnets: []string{"subnet-0000000a", "subnet-0000000b"}, InheritedZones: []string{"us-east-1a", "us-east-1b"}, Healthy: true,
		}
		if change != nil {
			change(g)
		}
		return g
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   *Group
	}{
		"Steady": {
			reason: "A group at rest is rendered as it is.",
			args:   steadyPool(),
			want:   steady(nil),
		},
		"NameStays": {
			reason: "The observed name wins over the one that the exports would give.",
			args: steadyPool(func(o *pool.Observation) {
				o.Managed.Group.Name, o.Managed.Group.ARN = "renamed-by-hand", ""
				o.Composite.Spec.Cluster.Exports.KubernetesClusterID = "other"
			}),
			want: steady(func(g *Group) { g.Name = "renamed-by-hand" }),
		},
		"NameInAWS": {
			reason: "The name in AWS wins over the one that was sent: a provider that saw the group without annotations gave it another.",
			args: steadyPool(func(o *pool.Observation) {
				o.Managed.Group.ARN = "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:1:autoScalingGroupName/demo-pool-0-1a2b3c"
			}),
			want: steady(func(g *Group) { g.Name = "demo-pool-0-1a2b3c" }),
		},
		"Replicas": {
			reason: "Replicas make the group grow or shrink.",
			args:   steadyPool(func(o *pool.Observation) { o.Composite.Spec.Replicas = new(int32(5)) }),
			want:   steady(func(g *Group) { g.Capacity = capacity.Capacity{Min: 5, Max: 5, Initial: 5} }),
		},
		"Autoscaling": {
			reason: "Autoscaling brings bounds of its own.",
			args:   steadyPool(autoscale),
			want:   steady(func(g *Group) { g.Capacity = capacity.Capacity{Min: 2, Max: 5, Initial: 3} }),
		},
		"ZoneAddedToCluster": {
			reason: "A zone that the cluster gains does not join.",
			args: steadyPool(func(o *pool.Observation) {
				o.Composite.Spec.Cluster.Exports.FailureDomains["us-east-1c"] = v1alpha1.FailureDomain{SubnetID: "subnet-0000000c"}
			}),
			want: steady(nil),
		},
		"AnnotationBeforeStatus": {
			reason: "The annotation wins over a status that says otherwise.",
			args: steadyPool(func(o *pool.Observation) {
				o.Composite.Spec.Cluster.Exports.FailureDomains["us-east-1c"] = v1alpha1.FailureDomain{SubnetID: "subnet-0000000c"}
				o.Composite.Status = v1alpha1.MachinePoolStatus{InheritedFailureDomains: []string{"us-east-1c"}}
			}),
			want: steady(nil),
		},
		"NoAnnotation": {
			reason: "Without the annotation the status remembers.",
			args: steadyPool(func(o *pool.Observation) {
				o.Managed.Group.Annotations = nil
				o.Composite.Status.InheritedFailureDomains = []string{"us-east-1b"}
			}),
			want: steady(func(g *Group) { g.Subnets, g.InheritedZones = []string{"subnet-0000000b"}, []string{"us-east-1b"} }),
		},
		"NoRecord": {
			reason: "Without either, what the group spans does.",
			args: steadyPool(func(o *pool.Observation) {
				o.Managed.Group.Annotations = nil
				o.Managed.Group.Subnets = []string{"subnet-0000000a"}
			}),
			want: steady(func(g *Group) { g.Subnets, g.InheritedZones = []string{"subnet-0000000a"}, []string{"us-east-1a"} }),
		},
		"Chosen": {
			reason: "Zones that are chosen are spanned, the record stays.",
			args:   steadyPool(func(o *pool.Observation) { o.Composite.Spec.FailureDomains = []string{"us-east-1b"} }),
			want:   steady(func(g *Group) { g.Subnets = []string{"subnet-0000000b"} }),
		},
		"NotHealthy": {
			reason: "A group that is not Synced is not healthy.",
			args:   steadyPool(func(o *pool.Observation) { o.Managed.Group.Synced = false }),
			want:   steady(func(g *Group) { g.Healthy = false }),
		},
		"NoZoneLeft": {
			reason: "A group without a zone is held as it was.",
			args:   steadyPool(func(o *pool.Observation) { o.Composite.Spec.FailureDomains = []string{"us-east-1z"} }),
			want: steady(func(g *Group) {
				g.Subnets = nil
				g.Held = &steadyPool().Managed.Group.Resource
			}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Of(tc.args).Group); diff != "" {
				t.Errorf("\n%s\nOf(...).Group: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPolicyAndHooks(t *testing.T) {
	external := func(o *pool.Observation) {
		autoscale(o)
		o.Composite.Spec.Autoscaling.Scaler = v1alpha1.ScalerExternal
	}
	policyExists := func(o *pool.Observation) { o.Managed.Policy = new(resource("Policy")) }
	policies := map[string]struct {
		reason string
		args   *pool.Observation
		want   *Policy
	}{
		"Off":      {reason: "Without autoscaling there is no policy.", args: steadyPool()},
		"Native":   {reason: "Native autoscaling has one.", args: steadyPool(autoscale), want: &Policy{GroupName: groupNameInAWS, TargetCPUPercent: 60}},
		"Exists":   {reason: "One that exists is as healthy as it is.", args: steadyPool(autoscale, policyExists), want: &Policy{GroupName: groupNameInAWS, TargetCPUPercent: 60, Healthy: true}},
		"External": {reason: "Something else that scales needs none.", args: steadyPool(external)},
		"TurnedOff": {
			reason: "A policy goes with autoscaling.",
			args:   steadyPool(policyExists),
		},
		"HandedOver": {
			reason: "A policy goes when something else takes over.",
			args:   steadyPool(external, policyExists),
		},
		"GroupRecreated": {
			reason: "A policy that exists stays while the group is not seen in AWS.",
			args:   steadyPool(autoscale, policyExists, func(o *pool.Observation) { o.Managed.Group.ARN = "" }),
			want:   &Policy{GroupName: groupNameInAWS, TargetCPUPercent: 60, Healthy: true},
		},
	}
	for name, tc := range policies {
		t.Run("Policy"+name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Of(tc.args).Policy); diff != "" {
				t.Errorf("\n%s\nOf(...).Policy: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("Hooks", func(t *testing.T) {
		o := steadyPool(func(o *pool.Observation) {
			o.Composite.Spec.LifecycleHooks = []v1alpha1.LifecycleHook{
				{Name: "warm", Transition: v1alpha1.LifecycleTransitionLaunching},
				{Name: "drain", Transition: v1alpha1.LifecycleTransitionTerminating},
			}
			o.Composite.Default()
			o.Managed.Hooks["lifecycle-hook-drain"] = resource("LifecycleHook")
			o.Managed.Hooks["lifecycle-hook-gone"] = resource("LifecycleHook")
		})
		want := []Hook{
			{Resource: "lifecycle-hook-drain", GroupName: groupNameInAWS, Spec: o.Composite.Spec.LifecycleHooks[1], Healthy: true},
			{Resource: "lifecycle-hook-warm", GroupName: groupNameInAWS, Spec: o.Composite.Spec.LifecycleHooks[0]},
		}
		if diff := cmp.Diff(want, Of(o).Hooks); diff != "" {
			t.Errorf("Of(...).Hooks: one per entry, sorted, none that is no longer asked for: -want, +got:\n%s", diff)
		}
	})
}

func TestTemplates(t *testing.T) {
	// What is compared: user data is long, and tested where it is made.
	type seen struct {
		Resource, ExternalName, Name, ImageID string
		Held, Healthy                         bool
	}
	current := seen{Resource: currentTemplate, ExternalName: "lt-current", Name: groupNameInAWS + "-" + currentKey, ImageID: pinnedImage, Healthy: true}
	held := current
	held.Held = true
	newer := seen{Resource: newerTemplate, Name: groupNameInAWS + "-" + newerKey, ImageID: pinnedImage}
	created := newer
	created.ExternalName, created.Healthy = "lt-newer", true
	lookedUp := func(found *pool.Image) change {
		return func(o *pool.Observation) {
			o.Composite.Spec.MachineImage.ID = nil
			o.Input.AWS.Identity = v1beta1.IdentityPod
			o.AWS.Image = pool.Read[*pool.Image]{Asked: true, Value: found}
			// The key of v1.34.1 without a pinned image, by sha256sum.
			delete(o.Managed.Templates, currentTemplate)
			tpl := template("a537c9ea", "lt-current")
			tpl.ImageID = "ami-looked-up"
			o.Managed.Templates["launch-template-a537c9ea"] = tpl
		}
	}
	unpinned := seen{Resource: "launch-template-a537c9ea", ExternalName: "lt-current", Name: groupNameInAWS + "-a537c9ea", ImageID: "ami-looked-up", Healthy: true}
	unpinnedHeld := unpinned
	unpinnedHeld.Held = true
	newImage := unpinned
	newImage.ImageID = "ami-newest"
	type want struct {
		templates []seen
		group     string
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"New": {
			reason: "A new template has no id to send.",
			args:   newPool(),
			want:   want{templates: []seen{{Resource: currentTemplate, Name: newGroupName + "-" + currentKey, ImageID: pinnedImage}}},
		},
		"GroupNotSeen": {
			reason: "A view that lacks the group, which the status names, says nothing of which templates it uses.",
			args: steadyPool(newerTemplateExists, func(o *pool.Observation) {
				o.Managed.Group, o.Composite.Status.AutoscalingGroupName = nil, groupNameInAWS
			}),
			want: want{templates: []seen{held, created}, group: "lt-newer"},
		},
		"IDIsSent": {
			reason: "The id is sent from the first run that sees one, which the provider itself does not persist.",
			args: steadyPool(func(o *pool.Observation) {
				tpl := o.Managed.Templates[currentTemplate]
				tpl.ExternalName = ""
				o.Managed.Templates[currentTemplate] = tpl
			}),
			want: want{templates: []seen{current}, group: "lt-current"},
		},
		"NameStays": {
			reason: "The observed name wins.",
			args: steadyPool(func(o *pool.Observation) {
				tpl := o.Managed.Templates[currentTemplate]
				tpl.Name = "by-hand"
				o.Managed.Templates[currentTemplate] = tpl
			}),
			want: want{templates: []seen{{Resource: currentTemplate, ExternalName: "lt-current", Name: "by-hand", ImageID: pinnedImage, Healthy: true}}, group: "lt-current"},
		},
		"NewVersion": {
			reason: "A new version makes a new template beside the old one, which is held, and the group stays.",
			args:   steadyPool(newVersion),
			want:   want{templates: []seen{held, newer}, group: "lt-current"},
		},
		"NewVersionCreated": {
			reason: "When its id is observed the group moves to it, and the old one is held for another run.",
			args:   steadyPool(newerTemplateExists),
			want:   want{templates: []seen{held, created}, group: "lt-newer"},
		},
		"Switched": {
			reason: "When the group is observed on it the old one goes.",
			args: steadyPool(newerTemplateExists, func(o *pool.Observation) {
				o.Managed.Group.SentTemplateID, o.Managed.Group.TemplateID = "lt-newer", "lt-newer"
			}),
			want: want{templates: []seen{created}, group: "lt-newer"},
		},
		"SwitchedMembersLeft": {
			reason: "Where AWS is read, it stays while a member is left on it.",
			args: readPool(newerTemplateExists, func(o *pool.Observation) {
				o.Managed.Group.SentTemplateID, o.Managed.Group.TemplateID = "lt-newer", "lt-newer"
			}),
			want: want{templates: []seen{held, created}, group: "lt-newer"},
		},
		"SwitchedReadFailed": {
			reason: "And while the read fails that would tell.",
			args: readPool(newerTemplateExists, readFails, func(o *pool.Observation) {
				o.Managed.Group.SentTemplateID, o.Managed.Group.TemplateID = "lt-newer", "lt-newer"
			}),
			want: want{templates: []seen{held, created}, group: "lt-newer"},
		},
		"ImageFound": {
			reason: "A looked-up image updates the current template in place.",
			args:   steadyPool(lookedUp(&pool.Image{ID: "ami-newest"})),
			want:   want{templates: []seen{newImage}, group: "lt-current"},
		},
		"ImageGone": {
			reason: "One that is no longer found stays.",
			args:   steadyPool(lookedUp(nil)),
			want:   want{templates: []seen{unpinned}, group: "lt-current"},
		},
		"ImageOfNewVersionMissing": {
			reason: "No template is made for a version whose image cannot be found: the pool stays as it is.",
			args:   steadyPool(lookedUp(nil), newVersion),
			want:   want{templates: []seen{unpinnedHeld}, group: "lt-current"},
		},
		"NewPinNotFound": {
			reason: "No template is made for a pinned image that AWS does not have: the pool stays as it is.",
			args: steadyPool(func(o *pool.Observation) {
				o.Input.AWS.Identity = v1beta1.IdentityPod
				o.Composite.Spec.MachineImage.ID = new("ami-00000000000000009")
				o.AWS.Image.Asked = true
			}),
			want: want{templates: []seen{held}, group: "lt-current"},
		},
		"PinGone": {
			reason: "A template of a pinned image that is gone goes on, and takes every other change.",
			args: steadyPool(func(o *pool.Observation) {
				o.Input.AWS.Identity = v1beta1.IdentityPod
				o.AWS.Image.Asked = true
			}),
			want: want{templates: []seen{current}, group: "lt-current"},
		},
		"InstanceTypeMismatch": {
			reason: "An instance type that cannot boot the image does not get into the template: it stays whole.",
			args: steadyPool(lookedUp(&pool.Image{ID: "ami-newest"}), func(o *pool.Observation) {
				o.Composite.Spec.InstanceType = "m7g.large"
			}),
			want: want{templates: []seen{unpinnedHeld}, group: "lt-current"},
		},
		"SecretGoneDuringRoll": {
			reason: "Without the format no template of the new version can be made, and the old one stays.",
			args:   steadyPool(newVersion, noSecret),
			want:   want{templates: []seen{held}, group: "lt-current"},
		},
		"SecretGone": {
			reason: "Without the format the current template is held.",
			args:   steadyPool(noSecret),
			want:   want{templates: []seen{held}, group: "lt-current"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			got := want{}
			for _, tpl := range d.Templates {
				got.templates = append(got.templates, seen{Resource: tpl.Resource, ExternalName: tpl.ExternalName, Name: tpl.Name, ImageID: tpl.ImageID, Held: tpl.Held != nil, Healthy: tpl.Healthy})
				if tpl.Held == nil && tpl.UserData == "" {
					t.Errorf("\n%s\nOf(...): %s is rendered without user data", tc.reason, tpl.Resource)
				}
			}
			if d.Group != nil {
				got.group = d.Group.TemplateID
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s\nrefused: %s", tc.reason, diff, condition.Errors(d.Refused))
			}
		})
	}
}

// TestHeldGroupStaysWhereItWasSent holds that the status knows where the last run sent the group, when what is seen of the
// group while the exports are gone is older than that.
func TestHeldGroupStaysWhereItWasSent(t *testing.T) {
	d := Of(steadyPool(newerTemplateExists, noExports, func(o *pool.Observation) {
		o.Managed.Group.Generation = 5
		o.Composite.Status.LaunchTemplateID = "lt-newer"
		o.Composite.Status.Rollout = &v1alpha1.RolloutStatus{RollKey: newerKey, Phase: "SwitchPending", GroupGeneration: 5}
	}))
	if got := d.Status.Rollout.GroupGeneration; got != 5 {
		t.Errorf("Of(...): the status is from generation %d, want 5", got)
	}
	if d.Group.Held == nil || d.Group.TemplateID != "lt-newer" || d.Status.LaunchTemplateID != "lt-newer" {
		t.Errorf("Of(...): the group (held: %t) is sent %q, the status says %q; the last run sent it lt-newer", d.Group.Held != nil, d.Group.TemplateID, d.Status.LaunchTemplateID)
	}
}

// TestHeldGroupIsNotMoved holds that a group which is sent as it was is also reported as it was: a new template that
// comes to exist while the exports are gone moves nothing.
func TestHeldGroupIsNotMoved(t *testing.T) {
	d := Of(readPool(newerTemplateExists, noExports))
	if d.Group.Held == nil {
		t.Fatal("Of(...): the group is not held")
	}
	if d.Group.TemplateID != "lt-current" || d.Status.LaunchTemplateID != "lt-current" {
		t.Errorf("Of(...): the group is told to be on %q, the status says %q; it was sent lt-current", d.Group.TemplateID, d.Status.LaunchTemplateID)
	}
	for _, i := range d.Status.Instances {
		if i.UpToDate == nil || !*i.UpToDate {
			t.Errorf("Of(...): %s is from the template that the group uses, and said not to be up to date", i.InstanceID)
		}
	}
	if got := verdictOf(t, d, v1alpha1.ConditionInfrastructureReady); got.Status != condition.True {
		t.Errorf("Of(...): InfrastructureReady is %+v", got)
	}
	d = Of(readPool(newerTemplateExists, noExports, func(o *pool.Observation) {
		tpl := o.Managed.Templates[newerTemplate]
		tpl.Ready = false
		o.Managed.Templates[newerTemplate] = tpl
	}))
	if got := verdictOf(t, d, v1alpha1.ConditionInfrastructureReady); got.Status != condition.True {
		t.Errorf("Of(...): InfrastructureReady is %+v for a template that the group does not use", got)
	}
}

// TestNoTemplateBeyondTheMost holds that a pool with as many templates as may be keeps all of them, makes no other, and says why, and
// that its group stays where it is.
func TestNoTemplateBeyondTheMost(t *testing.T) {
	o := readPool(readFails, newVersion, func(o *pool.Observation) {
		for i := range 7 {
			key := fmt.Sprintf("%08x", i)
			o.Managed.Templates["launch-template-"+key] = template(key, "lt-"+key)
		}
	})
	d := Of(o)
	var kept []string
	for _, tpl := range d.Templates {
		if tpl.Held == nil {
			t.Errorf("%s is not held as it is", tpl.Resource)
		}
		kept = append(kept, tpl.Resource)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(o.Managed.Templates)), kept); diff != "" {
		t.Errorf("templates: -want, +got:\n%s", diff)
	}
	if d.Group == nil || d.Group.TemplateID != "lt-current" {
		t.Errorf("the group leaves its template: %+v", d.Group)
	}
	if got := d.Status.Rollout.Message; !strings.Contains(got, "8 launch templates of earlier settings") {
		t.Errorf("status.rollout.message: %s", got)
	}
}
