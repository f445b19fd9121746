//go:build e2eprovider

package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/awsproxy"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// TestAStatusDoesNotNameAnotherPoolsGroup holds that who may write a pool's status cannot make the provider take over a group
// that is not the pool's. Neither its size, its members, its template nor its tags change, and it outlives the pool.
func TestAStatusDoesNotNameAnotherPoolsGroup(t *testing.T) {
	p := newPool(t, "forger")
	victim := p.victim("mp-team-b-payments-0123456789abcdef", 3)
	p.play("the status names another pool's group", func(c *scene) { forgedStatus(c, victim) })
	p.play("the pool is deleted", func(c *scene) {
		deletion(c)
		c.wantUntouched(victim)
	})
}

// victim is a group in AWS that another pool has, with its members.
func (p *pool) victim(name string, size int) *awsproxy.Group {
	p.Helper()
	exports, err := s.exports(p.ctx)
	p.must(err)
	template, err := s.account.Call(p.ctx, "ec2", "CreateLaunchTemplate", awsproxy.Params{
		"LaunchTemplateName": name + "-a537c9ea", "LaunchTemplateData.ImageId": p.images[versionA], "LaunchTemplateData.InstanceType": "m6i.large",
	})
	p.must(err)
	var subnets []string
	zones, _ := exports["failure_domains"].(kube.Object)
	for _, zone := range zones {
		subnets = append(subnets, simulator.Text(zone, "subnet_id"))
	}
	slices.Sort(subnets)
	params := awsproxy.Params{
		"AutoScalingGroupName": name, "MinSize": fmt.Sprint(size), "MaxSize": fmt.Sprint(size), "DesiredCapacity": fmt.Sprint(size),
		"LaunchTemplate.LaunchTemplateId": awsproxy.First(template, "launchTemplateId"), "LaunchTemplate.Version": "$Latest",
		"VPCZoneIdentifier": strings.Join(subnets, ","),
	}
	for i, tag := range []awsproxy.Tag{
		{Key: "kubernetes.io/cluster/team-b-9c2e1f30", Value: "owned"},
		{Key: "machinepool.fn.crossplane.io/cluster", Value: "team-b-9c2e1f30"},
		{Key: "machinepool.fn.crossplane.io/name", Value: "payments"},
		{Key: "machinepool.fn.crossplane.io/namespace", Value: "team-b"},
	} {
		member := fmt.Sprintf("Tags.member.%d.", i+1)
		params[member+"Key"], params[member+"Value"], params[member+"PropagateAtLaunch"] = tag.Key, tag.Value, "true"
		params[member+"ResourceId"], params[member+"ResourceType"] = name, "auto-scaling-group"
	}
	_, err = s.account.Call(p.ctx, "autoscaling", "CreateAutoScalingGroup", params)
	p.must(err)
	g, err := s.account.Group(p.ctx, name)
	p.must(err)
	if g == nil || len(g.Members) != size || len(g.Tags) != 4 {
		p.Fatalf("the victim's group is not what this test is about: %+v", g)
	}
	return g
}

// wantUntouched holds that a group is as it was, and that no status of the pool tells of its members.
func (c *scene) wantUntouched(victim *awsproxy.Group) {
	c.Helper()
	g, err := s.account.Group(c.ctx, victim.Name)
	c.must(err)
	if diff := cmp.Diff(victim, g); diff != "" {
		c.Fatalf("the other pool's group was changed: -before, +after:\n%s", diff)
	}
	if _, found := c.templates()[victim.Name+"-a537c9ea"]; !found {
		c.Fatal("the other pool's template was deleted")
	}
	status, err := json.Marshal(simulator.Field(c.xr(), "status"))
	c.must(err)
	for _, m := range victim.Members {
		if strings.Contains(string(status), m.ID) {
			c.Fatalf("the pool's status tells of %s, which is another pool's", m.ID)
		}
	}
}

func forgedStatus(c *scene, victim *awsproxy.Group) {
	c.createWithoutSecret(kube.Object{"replicas": int64(0)})
	c.eventually("the pool waits for its Secret", func() (bool, string) {
		return simulator.ConditionOf(c.xr(), "BootstrapConfigReady").Status == "False", ""
	})
	_, err := s.client.Patch(c.ctx, pools, c.namespace, c.name, kube.Object{"status": kube.Object{"autoscalingGroupName": victim.Name}}, "status")
	c.must(err)
	c.rotate("first")

	c.eventually("the pool has a group of its own", func() (bool, string) {
		c.wantUntouched(victim)
		name := simulator.Text(c.mrs()["autoscaling-group"], "metadata", "annotations", "crossplane.io/external-name")
		if name == "" {
			return false, "it has none"
		}
		g, err := s.account.Group(c.ctx, name)
		return err == nil && g != nil && name != victim.Name, name
	})
	xr := c.awaitIdle(0)
	c.settle()
	c.wantUntouched(victim)

	name := simulator.Text(xr, "status", "autoscalingGroupName")
	if !strings.HasPrefix(name, "mp-forger-workers-") {
		c.Errorf("the group is called %s, which is not the pool's own name", name)
	}
	if g := c.group(); g == nil || g.Min != 0 || g.Max != 0 || g.Desired != 0 {
		c.Errorf("the pool's own group: %+v", g)
	}
	c.wantOnOneTemplate(c.templateName(""))
	for _, call := range c.writes() {
		if call.Param("AutoScalingGroupName") == victim.Name {
			c.Errorf("the provider called %s", call)
		}
	}
}
