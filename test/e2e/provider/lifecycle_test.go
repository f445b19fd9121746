//go:build e2eprovider

package provider

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/awsproxy"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// TestLifecycle plays a pool's life without a fault of the provider.
func TestLifecycle(t *testing.T) {
	p := newPool(t, "calm")
	p.play("install", install)
	p.play("nothing happens", steady)
	p.play("the bootstrap Secret is rotated", func(c *scene) { rotation(c, "second", "s3:PutObject") })
	p.play("labels and instance type change", inPlace)
	p.play("the version changes", roll)
	p.play("StartInstanceRefresh fails once", lostRoll)
	p.play("someone scales in AWS", scaled)
	p.play("a member is terminated in AWS", memberTerminated)
	p.play("the group is deleted in AWS", func(c *scene) {
		groupDeleted(c, "autoscaling:CreateAutoScalingGroup", "autoscaling:PutLifecycleHook", "autoscaling:PutScalingPolicy", "autoscaling:SuspendProcesses")
	})
	p.play("the template is deleted in AWS", templateDeleted)
	p.play("the pool is deleted", deletion)
}

func install(c *scene) {
	c.create(kube.Object{
		"autoscaling":    kube.Object{"minReplicas": int64(2), "maxReplicas": int64(6), "scaler": "Native", "targetCPUPercent": int64(60)},
		"lifecycleHooks": []any{kube.Object{"name": "drain", "transition": "Terminating", "heartbeatTimeoutSeconds": int64(300), "defaultResult": "Continue"}},
	})
	xr := c.awaitIdle(3)
	c.settle()

	c.wantWrites(
		"autoscaling:CreateAutoScalingGroup", "autoscaling:PutLifecycleHook", "autoscaling:PutScalingPolicy", "autoscaling:SuspendProcesses",
		"ec2:CreateLaunchTemplate", "s3:PutObject")
	c.wantOrder("CreateLaunchTemplate", "CreateAutoScalingGroup", "SuspendProcesses", "PutScalingPolicy")
	name := simulator.Text(xr, "status", "autoscalingGroupName")
	if !strings.HasPrefix(name, "mp-calm-workers-") {
		c.Errorf("the group is called %s", name)
	}
	c.wantOnOneTemplate(c.templateName(""))
	c.wantStaged("first")
	c.wantRefreshes()
	g := c.group()
	if g.Min != 2 || g.Max != 6 || g.Desired != 3 || len(g.Members) != 3 || g.Template.Version != "$Latest" {
		c.Errorf("the group in AWS: %+v", g)
	}
	if got := simulator.Text(xr, "status", "imageID"); got != c.images[versionA] {
		c.Errorf("image %s, want %s", got, c.images[versionA])
	}
	if got := simulator.Text(xr, "status", "providerID"); got != g.ARN {
		c.Errorf("providerID %s, want %s", got, g.ARN)
	}
}

// wantStaged holds what S3 has.
func (c *scene) wantStaged(content string) {
	c.Helper()
	got, found, err := s.account.Object(c.ctx, bucket, c.objectKey())
	c.must(err)
	if !found || !bytes.Equal(got, []byte(bootstrapData(content))) {
		c.Errorf("S3 does not have the %s bootstrap data (there is some: %t)", content, found)
	}
}

func steady(c *scene) {
	before := c.written()
	select {
	case <-c.ctx.Done():
	case <-time.After(3 * poll):
	}
	c.wantWrites()
	if diff := cmp.Diff(before, c.written()); diff != "" {
		c.Errorf("the pool and its managed resources: -before, +after:\n%s", diff)
	}
}

// written is what stands in the pool and its managed resources. The pool itself must not be written at all; the provider writes
// each managed resource at each poll, when Synced became what it is.
func (c *scene) written() map[string]kube.Object {
	c.Helper()
	out := c.mrs()
	for _, mr := range out {
		simulator.SetField(mr, nil, "metadata", "managedFields")
		simulator.SetField(mr, nil, "metadata", "resourceVersion")
		list, _ := simulator.Field(mr, "status", "conditions").([]any)
		for _, condition := range list {
			if o, ok := condition.(kube.Object); ok && o["type"] == "Synced" {
				delete(o, "lastTransitionTime")
			}
		}
	}
	out["the pool"] = c.xr()
	return out
}

func rotation(c *scene, content string, want ...string) {
	c.rotate(content)
	c.eventually("S3 has the "+content+" data", func() (bool, string) {
		got, _, err := s.account.Object(c.ctx, bucket, c.objectKey())
		return err == nil && bytes.Equal(got, []byte(bootstrapData(content))), ""
	})
	c.settle()
	c.awaitIdle(3)
	c.wantWrites(want...)
}

func inPlace(c *scene) {
	before := ids(c.group())
	c.edit(kube.Object{"nodeLabels": kube.Object{"tier": "gold"}, "instanceType": "m6i.xlarge"})
	c.eventually("the template has a second version", func() (bool, string) {
		return c.templates()[c.templateName("")].Default == 2, ""
	})
	c.settle()
	c.awaitIdle(3)
	c.wantWrites("ec2:CreateLaunchTemplateVersion", "ec2:ModifyLaunchTemplate")
	c.wantReplaced(before, false)
	c.wantOnOneTemplate(c.templateName(""))
	c.wantRefreshes()
}

// rolled waits until the pool has left a roll key and is idle again.
func (c *scene) rolled(key string) {
	c.Helper()
	c.eventually("the roll key changes", func() (bool, string) {
		now := simulator.Text(c.xr(), "status", "rollout", "rollKey")
		return now != "" && now != key, now
	})
	c.awaitIdle(3)
	c.settle()
}

func (c *scene) rollKey() string { return simulator.Text(c.xr(), "status", "rollout", "rollKey") }

func roll(c *scene) {
	before, key := ids(c.group()), c.rollKey()
	c.edit(kube.Object{"kubernetesVersion": versionB})
	c.rolled(key)
	c.wantWrites("autoscaling:StartInstanceRefresh", "autoscaling:UpdateAutoScalingGroup", "ec2:CreateLaunchTemplate", "ec2:DeleteLaunchTemplate")
	c.wantOrder("CreateLaunchTemplate", "UpdateAutoScalingGroup", "StartInstanceRefresh", "DeleteLaunchTemplate")
	c.wantReplaced(before, true)
	c.wantOnOneTemplate(c.templateName(""))
	c.wantRefreshes(awsproxy.Successful)
	if got := simulator.Text(c.xr(), "status", "imageID"); got != c.images[versionB] {
		c.Errorf("image %s, want %s", got, c.images[versionB])
	}
}

func lostRoll(c *scene) {
	before, key := ids(c.group()), c.rollKey()
	s.aws.On(&awsproxy.Rule{Caller: "provider", Action: "StartInstanceRefresh", Code: "AccessDenied"})
	c.edit(kube.Object{"rollout": kube.Object{"trigger": "again"}})
	c.rolled(key)
	c.wantWrites(
		"autoscaling:StartInstanceRefresh AccessDenied", "autoscaling:StartInstanceRefresh",
		"autoscaling:UpdateAutoScalingGroup", "autoscaling:UpdateAutoScalingGroup",
		"ec2:CreateLaunchTemplate", "ec2:CreateLaunchTemplate", "ec2:DeleteLaunchTemplate", "ec2:DeleteLaunchTemplate")
	c.wantReplaced(before, true)
	c.wantOnOneTemplate(c.templateName("-1"))
	c.wantRefreshes(awsproxy.Successful, awsproxy.Successful)
	if !c.saw("Lost/RefreshNotStarted") {
		c.Error("the pool never said that the roll was lost")
	}
}

// saw a phase of the rollout.
func (c *scene) saw(phase string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(strings.Join(c.phases, "\n"), phase)
}

func scaled(c *scene) {
	name := c.group().Name
	scale := func(desired string) {
		_, err := s.account.Call(c.ctx, "autoscaling", "SetDesiredCapacity", awsproxy.Params{"AutoScalingGroupName": name, "DesiredCapacity": desired})
		c.must(err)
	}
	scale("4")
	c.awaitIdle(4)
	c.settle()
	c.awaitIdle(4)
	scale("3")
	c.awaitIdle(3)
	c.wantWrites()
}

func memberTerminated(c *scene) {
	gone := ids(c.group())[0]
	_, err := s.account.Call(c.ctx, "ec2", "TerminateInstances", awsproxy.Params{"InstanceId.1": gone})
	c.must(err)
	c.eventually("the pool has another member", func() (bool, string) {
		list := simulator.Texts(c.xr(), "status", "providerIDList")
		return len(list) == 3 && !strings.Contains(strings.Join(list, " "), gone), strings.Join(list, " ")
	})
	c.settle()
	c.awaitIdle(3)
	c.wantWrites()
}

func groupDeleted(c *scene, want ...string) {
	before := c.group()
	_, err := s.account.Call(c.ctx, "autoscaling", "DeleteAutoScalingGroup", awsproxy.Params{"AutoScalingGroupName": before.Name, "ForceDelete": "true"})
	c.must(err)
	// Whether the function reads AWS in between is a matter of luck.
	c.eventually("the pool has another group of the name", func() (bool, string) {
		g, arn := c.group(), simulator.Text(c.xr(), "status", "providerID")
		return g != nil && g.ARN != before.ARN && arn == g.ARN, arn
	})
	c.awaitIdle(3)
	c.settle()
	c.wantWrites(want...)
	c.wantReplaced(ids(before), true)
}

func templateDeleted(c *scene) {
	before, old := ids(c.group()), simulator.Text(c.xr(), "status", "launchTemplateID")
	_, err := s.account.Call(c.ctx, "ec2", "DeleteLaunchTemplate", awsproxy.Params{"LaunchTemplateId": old})
	c.must(err)
	c.eventually("the pool has another template", func() (bool, string) {
		now := simulator.Text(c.xr(), "status", "launchTemplateID")
		return now != "" && now != old, now
	})
	c.awaitIdle(3)
	c.settle()
	c.wantWrites("autoscaling:StartInstanceRefresh", "autoscaling:UpdateAutoScalingGroup", "ec2:CreateLaunchTemplate")
	c.wantReplaced(before, true)
	c.wantOnOneTemplate(c.templateName("-1"))
}

func deletion(c *scene) {
	name := simulator.Text(c.xr(), "status", "autoscalingGroupName")
	c.must(s.client.Delete(c.ctx, pools, c.namespace, c.name))
	c.eventually("the pool and its managed resources are gone", func() (bool, string) {
		return c.xr() == nil && len(c.mrs()) == 0, state(c.xr(), c.mrs())
	})
	c.settle()
	c.wantGone(name)
	// Whichever goes first, policies and hooks or the group: AWS takes them with it.
	for _, call := range c.writes() {
		if !strings.HasPrefix(call.Action, "Delete") && call.Action != "UpdateAutoScalingGroup" {
			c.Errorf("a pool that is deleted makes the provider call %s", call)
		}
	}
}

// wantGone holds that AWS has nothing left of a group, but for the templates that are named.
func (c *scene) wantGone(name string, left ...string) {
	c.Helper()
	g, err := s.account.Group(c.ctx, name)
	c.must(err)
	if g != nil {
		c.Errorf("the group is left in AWS: %+v", g)
	}
	if _, found, err := s.account.Object(c.ctx, bucket, c.objectKey()); err != nil || found {
		c.Errorf("the object is left in S3 (error: %v)", err)
	}
	templates := c.templates()
	for _, l := range left {
		if _, found := templates[l]; !found {
			c.Errorf("the template %s is not left, as it was expected to be", l)
		}
		delete(templates, l)
	}
	for t := range templates {
		if strings.HasPrefix(t, name) {
			c.Errorf("the template %s is left in AWS", t)
		}
	}
}
