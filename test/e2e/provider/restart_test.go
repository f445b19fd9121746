//go:build e2eprovider

package provider

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/awsproxy"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

// TestRestarts plays a pool's life in which the provider is killed in the middle of everything it does: when AWS has done
// what it was asked, and the provider does not know yet.
func TestRestarts(t *testing.T) {
	p := newPool(t, "restarts")
	p.play("install, each provider killed in its creation", installKilled)
	p.play("rotation, killed before the upload", rotationKilled)
	p.play("labels and instance type change, killed after the new version", inPlaceKilled)
	p.play("the version changes, killed between the group and the refresh", rollKilled)
	p.play("StartInstanceRefresh fails once, killed while the retry's template is created", lostRollKilled)
	p.play("the group is deleted in AWS, killed when it is created again", groupDeletedKilled)
	p.play("the pool is deleted, killed while the group is drained", deletionKilled)
}

// killAfter kills a provider when AWS has done the next call of an action, before the provider hears of it.
func (c *scene) killAfter(service, action string) *awsproxy.Rule {
	r := &awsproxy.Rule{Caller: "provider", Action: action, After: func() {
		// The provider writes that it began to create before it knows what came of it. This is about what comes after that.
		if action == "CreateLaunchTemplate" {
			c.awaitCreationNoted()
		}
		c.notef("provider-aws-%s is killed by SIGKILL: AWS has done %s", service, action)
		s.programs[service].kill()
	}}
	s.aws.On(r)
	return r
}

// awaitCreationNoted waits until no template's creation is pending: a provider that is killed before that waits for a
// person (docs/rollouts.md).
func (c *scene) awaitCreationNoted() {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		list, err := s.client.List(c.ctx, provider.Templates, c.namespace, "")
		if err == nil && !slices.ContainsFunc(list, simulator.IsCreationIncomplete) {
			return
		}
	}
}

func (c *scene) wantActed(rules ...*awsproxy.Rule) {
	c.Helper()
	for _, r := range rules {
		if s.aws.Acted(r) == 0 {
			c.Errorf("nothing was killed in %s: it was never called", r.Action)
		}
	}
}

func installKilled(c *scene) {
	template, put, create := c.killAfter("ec2", "CreateLaunchTemplate"), c.killAfter("s3", "PutObject"), c.killAfter("autoscaling", "CreateAutoScalingGroup")
	c.create(nil)
	c.awaitIdle(3)
	c.settle()
	c.wantActed(template, put, create)
	// What the first template's creation came to is forgotten: its name is taken, and the pool goes on under another. The group
	// is found by its name and brought up to date, which is no other template and so no refresh.
	c.wantWrites(
		"autoscaling:CreateAutoScalingGroup", "autoscaling:UpdateAutoScalingGroup", "autoscaling:SuspendProcesses",
		"ec2:CreateLaunchTemplate", "ec2:CreateLaunchTemplate", "ec2:CreateLaunchTemplate InvalidLaunchTemplateName.AlreadyExistsException",
		"s3:PutObject")
	c.wantStaged("first")
	c.wantGroupOf(c.templateName("-1"))
	c.wantRefreshes()
}

// wantGroupOf holds that the group and its members are on the template of a name.
func (c *scene) wantGroupOf(name string) {
	c.Helper()
	g, t := c.group(), c.templates()[name]
	if t.ID == "" || g.Template.ID != t.ID || simulator.Text(c.xr(), "status", "launchTemplateID") != t.ID {
		c.Errorf("the group is on %s, the pool says %s, and %s is %s", g.Template.ID, simulator.Text(c.xr(), "status", "launchTemplateID"), name, t.ID)
	}
	for _, m := range g.Members {
		if m.Template.ID != t.ID {
			c.Errorf("%s is on %s, want %s", m.ID, m.Template.ID, t.ID)
		}
	}
}

func rotationKilled(c *scene) {
	r := &awsproxy.Rule{Caller: "provider", Action: "PutObject", Code: "Lost", Before: func() {
		c.notef("provider-aws-s3 is killed by SIGKILL: PutObject does not reach AWS")
		s.programs["s3"].kill()
	}}
	s.aws.On(r)
	rotation(c, "third", "s3:PutObject Lost", "s3:PutObject")
	c.wantActed(r)
}

func inPlaceKilled(c *scene) {
	before := ids(c.group())
	r := c.killAfter("ec2", "CreateLaunchTemplateVersion")
	name := simulator.Text(c.xr(), "status", "launchTemplateID")
	c.edit(kube.Object{"nodeLabels": kube.Object{"tier": "gold"}, "instanceType": "m6i.xlarge"})
	c.eventually("the template has a second version", func() (bool, string) {
		for _, t := range c.templates() {
			if t.ID == name {
				return t.Latest == 2, ""
			}
		}
		return false, "the template is gone"
	})
	c.must(s.programs["ec2"].await(c.ctx))
	c.settle()
	c.awaitIdle(3)
	c.wantActed(r)
	// The provider sees the version that it wanted and never asks for it to be the default one. Groups go by $Latest.
	c.wantWrites("ec2:CreateLaunchTemplateVersion")
	c.wantReplaced(before, false)
	c.wantRefreshes()
}

func rollKilled(c *scene) {
	before, key := ids(c.group()), c.rollKey()
	r := c.killAfter("autoscaling", "UpdateAutoScalingGroup")
	c.edit(kube.Object{"kubernetesVersion": versionB})
	c.rolled(key)
	c.wantActed(r)
	c.wantReplaced(before, true)
	c.wantGroupOf(c.templateName("-1"))
	c.wantRefreshes(awsproxy.Successful)
	if !c.saw("Lost/RefreshNotStarted") {
		c.Error("the pool never said that the roll was lost")
	}
}

func lostRollKilled(c *scene) {
	before, key := ids(c.group()), c.rollKey()
	s.aws.On(&awsproxy.Rule{Caller: "provider", Action: "StartInstanceRefresh", Code: "AccessDenied"})
	r := &awsproxy.Rule{
		Caller: "provider", Action: "CreateLaunchTemplate",
		Match: func(call *awsproxy.Call) bool { return strings.HasSuffix(call.Param("LaunchTemplateName"), "-1") },
		After: func() {
			c.awaitCreationNoted()
			c.notef("provider-aws-ec2 is killed by SIGKILL: AWS has made the template of the retry")
			s.programs["ec2"].kill()
		},
	}
	s.aws.On(r)
	c.edit(kube.Object{"rollout": kube.Object{"trigger": "again"}})
	c.rolled(key)
	c.wantActed(r)
	c.wantReplaced(before, true)
	c.wantGroupOf(c.templateName("-2"))
	c.wantRefreshes(awsproxy.Successful, awsproxy.Successful)
}

func groupDeletedKilled(c *scene) {
	r := c.killAfter("autoscaling", "CreateAutoScalingGroup")
	groupDeleted(c, "autoscaling:CreateAutoScalingGroup", "autoscaling:UpdateAutoScalingGroup", "autoscaling:SuspendProcesses")
	c.wantActed(r)
}

func deletionKilled(c *scene) {
	name := simulator.Text(c.xr(), "status", "autoscalingGroupName")
	r := c.killAfter("autoscaling", "UpdateAutoScalingGroup")
	orphans := c.orphans()
	c.must(s.client.Delete(c.ctx, pools, c.namespace, c.name))
	c.eventually("the pool and its managed resources are gone", func() (bool, string) {
		return c.xr() == nil && len(c.mrs()) == 0, ""
	})
	c.settle()
	c.wantActed(r)
	// A template whose creation the provider forgot stays in AWS, where it costs nothing.
	c.wantGone(name, orphans...)
}

// orphans are the pool's templates in AWS of which no managed resource knows.
func (c *scene) orphans() []string {
	c.Helper()
	known := map[string]bool{}
	for _, mr := range c.mrs() {
		known[simulator.Text(mr, "status", "atProvider", "id")] = true
	}
	var out []string
	for name, t := range c.templates() {
		if !known[t.ID] && strings.HasPrefix(name, "mp-restarts-") {
			out = append(out, name)
		}
	}
	return out
}
