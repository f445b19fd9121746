//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

const templatePrefix = "launch-template-"

// TestRoll holds the order of a roll, and that the pool is Ready all the way.
func TestRoll(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	r := record(n)
	n.create("workers", nil)
	before := n.awaitReady("workers", 3)
	r.judge(before)
	oldKey := n.template(before)
	oldID := simulator.Text(before, "status", "launchTemplateID")
	members := simulator.Texts(before, "status", "providerIDList")

	n.edit("workers", kube.Object{"kubernetesVersion": versionB})
	n.awaitCondition("workers", "RollingOut", "True")
	after := n.awaitRolled("workers", oldKey)
	newKey := n.template(after)
	newID := simulator.Text(after, "status", "launchTemplateID")

	if got := simulator.Text(after, "status", "imageID"); got != imageB {
		t.Errorf("image %s, want %s", got, imageB)
	}
	// By this a run can tell an old view of the group.
	seen, _ := simulator.Number(after, "status", "rollout", "groupGeneration")
	if is, _ := simulator.Number(n.mrs("workers")["autoscaling-group"], "metadata", "generation"); seen == 0 || seen != is {
		t.Errorf("the last run saw generation %d of the group, it is %d", seen, is)
	}
	for _, id := range simulator.Texts(after, "status", "providerIDList") {
		if slices.Contains(members, id) {
			t.Errorf("%s was not replaced", id)
		}
	}
	r.neverUnready(t, "workers")
	r.neverDeleted(t, only(oldKey))
	r.inOrder(t,
		step{"the new template is composed", func(f frame) bool { return f.name() == newKey }},
		step{"the new template is in AWS", func(f frame) bool {
			return f.name() == newKey && simulator.Text(f.object, "status", "atProvider", "id") == newID
		}},
		step{"the group is sent to it", func(f frame) bool {
			return f.kind == "AutoscalingGroup" && simulator.Text(f.object, "spec", "forProvider", "launchTemplate", "id") == newID
		}},
		step{"the group uses it", func(f frame) bool {
			return f.kind == "AutoscalingGroup" && simulator.Text(f.object, "status", "atProvider", "launchTemplate", "id") == newID
		}},
		step{"the old template is deleted", func(f frame) bool {
			return f.name() == oldKey && simulator.Text(f.object, "metadata", "deletionTimestamp") != ""
		}},
		step{"the old template is gone", func(f frame) bool { return f.name() == oldKey && f.gone }},
	)
	n.provider.AWS(func(a *simulator.AWS) {
		g := a.Groups[simulator.Text(after, "status", "autoscalingGroupName")]
		if got := len(g.Refreshes); got != 1 || g.Refreshes[0].Status != simulator.RefreshSuccessful {
			t.Errorf("%d instance refreshes, want a successful one", got)
		}
		if a.Templates[oldID] != nil {
			t.Errorf("the old template %s is left in AWS", oldID)
		}
	})
}

// TestRollThereAndBack holds that a pool may go back while it rolls: it ends on the first content with all its members and
// one template, and no template was deleted that the group used.
func TestRollThereAndBack(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	r := record(n)
	n.create("workers", nil)
	before := n.awaitReady("workers", 3)
	r.judge(before)
	keyA := n.template(before)
	contentA := templateContent(n.mrs("workers")[keyA])

	n.edit("workers", kube.Object{"kubernetesVersion": versionB})
	n.eventually("the group uses the second template", func() (bool, string) {
		group := n.mrs("workers")["autoscaling-group"]
		id := simulator.Text(group, "status", "atProvider", "launchTemplate", "id")
		return id != "" && id != simulator.Text(before, "status", "launchTemplateID"), id
	})
	keyB := otherTemplate(n.mrs("workers"), keyA)

	n.edit("workers", kube.Object{"kubernetesVersion": versionA})
	after := n.awaitRolled("workers", keyB)
	used := n.template(after)
	if got, want := simulator.Text(after, "status", "rollout", "rollKey"), simulator.Text(before, "status", "rollout", "rollKey"); got != want {
		t.Errorf("the pool is on roll key %s, want the one from before, %s", got, want)
	}
	// The group was told to leave the first template, so its key comes back under another name (docs/rollouts.md).
	if diff := cmp.Diff([]string{"autoscaling-group", "bootstrap-object", keyA + "-10"}, names(n.mrs("workers"))); diff != "" {
		t.Errorf("managed resources: -want, +got:\n%s\n%s", diff, r.story())
	}
	if diff := cmp.Diff(contentA, templateContent(n.mrs("workers")[used])); diff != "" {
		t.Errorf("content of the template: -want, +got:\n%s", diff)
	}
	id := simulator.Text(after, "status", "launchTemplateID")
	n.provider.AWS(func(a *simulator.AWS) {
		name := simulator.Text(after, "status", "autoscalingGroupName")
		group := simulator.NewReader(a).Read(n.ctx, pool.Query{GroupName: name}).Group.Value
		if group.LaunchTemplateID != id || len(group.Members) != 3 {
			t.Errorf("the group uses %s with %d members, want %s with 3", group.LaunchTemplateID, len(group.Members), id)
		}
		for _, m := range group.Members {
			if m.LaunchTemplateID != id {
				t.Errorf("%s was launched from %s, want %s", m.InstanceID, m.LaunchTemplateID, id)
			}
		}
		for _, template := range a.Templates {
			if strings.HasPrefix(template.Name, name) && template.ID != id {
				t.Errorf("%s is left in AWS", template.Name)
			}
		}
	})
	r.neverUnready(t, "workers")
	r.neverDeleted(t, func(name string) bool { return strings.HasPrefix(name, templatePrefix) && name != used })
	r.deletedUnused(t)
}

// TestRollGivenUp holds that a roll whose refresh AWS gives up stands still and says why, and that another trigger gets it
// going. That the function tells this from a refresh that was never started needs the times of AWS and of the API server.
func TestRollGivenUp(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	r := record(n)
	n.create("workers", nil)
	before := n.awaitReady("workers", 3)
	r.judge(before)
	keyA := n.template(before)
	name := simulator.Text(before, "status", "autoscalingGroupName")
	members := simulator.Texts(before, "status", "providerIDList")

	n.edit("workers", kube.Object{"kubernetesVersion": versionB})
	const why = "the new instances never became healthy"
	n.giveUpRefresh(name, why)
	n.awaitCondition("workers", "RollingOut", "True", "RefreshFailed")
	stalled := n.xr("workers")
	if got := simulator.Text(stalled, "status", "rollout", "phase"); got != "Stalled" {
		t.Errorf("phase %q, want Stalled", got)
	}
	if got := simulator.ConditionOf(stalled, "RollingOut").Message; !strings.Contains(got, why) {
		t.Errorf("RollingOut says %q, want AWS's reason, %q", got, why)
	}
	keyB := n.template(stalled)
	// Two looks of the function at AWS, after which it starts a roll again that it takes for lost.
	n.always(7*time.Second, n.unchanged("workers", n.uids("workers"), n.generations("workers")))

	n.edit("workers", kube.Object{"rollout": kube.Object{"trigger": "mended"}})
	n.awaitRolled("workers", keyA)
	after := n.awaitRolled("workers", keyB)
	for _, id := range simulator.Texts(after, "status", "providerIDList") {
		if slices.Contains(members, id) {
			t.Errorf("%s was not replaced", id)
		}
	}
	n.provider.AWS(func(a *simulator.AWS) {
		if got := len(a.Groups[name].Refreshes); got != 2 {
			t.Errorf("%d instance refreshes, want the one that was given up and another", got)
		}
	})
	r.neverUnready(t, "workers")
	r.neverDeleted(t, only(keyA, keyB))
}

// giveUpRefresh of a group as soon as there is one, before it has replaced anyone.
func (n *tenant) giveUpRefresh(group, why string) {
	n.Helper()
	ctx, cancel := context.WithTimeout(n.ctx, patience)
	defer cancel()
	// It launches no one before the end of the round after the one in which the provider started it.
	n.must(kube.Poll(ctx, 20*time.Millisecond, func() (given bool, said string) {
		n.provider.AWS(func(a *simulator.AWS) {
			g := a.Groups[group]
			given = g.IsRefreshing()
			g.FailRefresh(why)
		})
		return given, "there is no instance refresh"
	}))
}

// templateContent is what instances get of a launch template.
func templateContent(mr kube.Object) any {
	spec, _ := simulator.Clone(simulator.Field(mr, "spec", "forProvider")).(kube.Object)
	delete(spec, "name")
	return spec
}

// deletedUnused holds that the group was neither sent to nor seen on a template when that was deleted.
func (r *recorder) deletedUnused(t *testing.T) {
	t.Helper()
	var sent, seen string
	judged := map[string]bool{}
	for _, f := range r.all() {
		switch {
		case f.kind == "AutoscalingGroup":
			sent = simulator.Text(f.object, "spec", "forProvider", "launchTemplate", "id")
			seen = simulator.Text(f.object, "status", "atProvider", "launchTemplate", "id")
		case f.kind == "LaunchTemplate" && f.deleting() && !judged[f.name()]:
			judged[f.name()] = true
			if id := simulator.Text(f.object, "status", "atProvider", "id"); id == sent || id == seen {
				t.Errorf("%s was deleted while the group was sent to %s and on %s\n%s", f.name(), sent, seen, r.story())
			}
		}
	}
	if len(judged) == 0 {
		t.Error("no template was deleted")
	}
}

// awaitRolled waits until a roll is over: the other template is gone and all members are up to date.
func (n *tenant) awaitRolled(name, gone string) kube.Object {
	n.Helper()
	n.eventually(gone+" is gone", func() (bool, string) {
		have := names(n.mrs(name))
		return !slices.Contains(have, gone), strings.Join(have, " ") + ": " + state(n.xr(name))
	})
	var xr kube.Object
	n.eventually("all members are up to date", func() (bool, string) {
		xr = n.xr(name)
		return simulator.ConditionOf(xr, "MachinesUpToDate").Status == "True" && simulator.Text(xr, "status", "rollout", "phase") == "Idle" &&
			isTrue(xr, "status", "health", "healthy"), state(xr)
	})
	return xr
}

// template that a pool uses, by its composition resource name: a key that was rolled away from once comes back under
// another name.
func (n *tenant) template(xr kube.Object) string {
	n.Helper()
	id := simulator.Text(xr, "status", "launchTemplateID")
	for name, mr := range n.mrs(simulator.Text(xr, "metadata", "name")) {
		if strings.HasPrefix(name, templatePrefix) && simulator.Text(mr, "status", "atProvider", "id") == id {
			return name
		}
	}
	n.Fatalf("there is no launch template %s", id)
	return ""
}

func otherTemplate(mrs map[string]kube.Object, than string) string {
	for name := range mrs {
		if strings.HasPrefix(name, templatePrefix) && name != than {
			return name
		}
	}
	return ""
}

// A step of what should come one after the other.
type step struct {
	what string
	is   func(frame) bool
}

// inOrder holds that each step was first taken after the one before.
func (r *recorder) inOrder(t *testing.T, steps ...step) {
	t.Helper()
	// The last of it may still be on its way here, and takes its time on a busy machine.
	for end := time.Now().Add(patience); time.Now().Before(end) && first(r.all(), -1, steps[len(steps)-1].is) < 0; {
		time.Sleep(50 * time.Millisecond)
	}
	frames, last := r.all(), -1
	for i, s := range steps {
		at := first(frames, -1, s.is)
		if at < 0 {
			t.Errorf("it never happened that %s\n%s", s.what, r.story())
			return
		}
		// One write may be two steps at once only where a step says so by being the same.
		if at < last {
			t.Errorf("%s before %s\n%s", s.what, steps[i-1].what, r.story())
		}
		last = at
	}
}
