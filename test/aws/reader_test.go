//go:build moto

// Package aws_test drives internal/aws and the whole function through a real moto server. Throttling, denial and
// broken responses are not moto's; internal/aws tests them at the wire.
package aws_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/aws"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/test/aws/moto"
)

const region = "us-east-1"

func TestReaderThroughMoto(t *testing.T) {
	m := moto.Start(t)
	m.Setenv(t)
	r := aws.NewReader()
	q := pool.Query{Identity: pool.Identity{Source: v1beta1.IdentityPod}, Region: region, GroupName: "mp-demo"}
	read := func() pool.Reading {
		t.Helper()
		got := r.Read(context.Background(), q)
		if !got.Group.Known() || !got.Instances.Known() {
			t.Fatalf("want a reading, got %+v, %+v", got.Group.Err, got.Instances.Err)
		}
		return got
	}

	if got := read(); got.Group.Value != nil || len(got.Instances.Value) != 0 {
		t.Errorf("before it is made: want no group and no instance, got %+v", got)
	}

	template, subnet := makeTemplate(t, m), m.Call(t, "ec2", region, "DescribeSubnets", moto.Params{"Filter.1.Name": "availability-zone", "Filter.1.Value.1": "us-east-1a"}).First(t, "subnetId")
	makeGroup(t, m, "mp-demo", template, subnet, 3)

	got := read()
	g := got.Group.Value
	if g == nil || g.Name != "mp-demo" || g.DesiredCapacity != 3 || g.LaunchTemplateID != template || g.ARN == "" {
		t.Fatalf("made: got group %+v", g)
	}
	if n := len(g.Members); n != 3 || g.Members[0].LifecycleState != "InService" || g.Members[0].Zone != "us-east-1a" || g.Members[0].LaunchTemplateID != template {
		t.Errorf("made: want 3 members in service, got %+v", g.Members)
	}
	wantStates(t, "made", got, map[string]int{"running": 3})
	if diff := cmp.Diff(memberIDs(g), instanceIDs(got)); diff != "" {
		t.Errorf("made: -members, +instances:\n%s", diff)
	}
	for _, i := range got.Instances.Value {
		if i.Zone != "us-east-1a" || len(i.InternalIPs) == 0 {
			t.Errorf("made: want a zone and an address, got %+v", i)
		}
	}
	anyTime := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".At" || p.Last().String() == ".Anew" }, cmp.Ignore())
	if diff := cmp.Diff(got, read(), anyTime); diff != "" {
		t.Errorf("the same again: -want, +got:\n%s", diff)
	}

	stopped, detached := got.Instances.Value[0].ID, got.Instances.Value[1].ID
	m.Call(t, "ec2", region, "StopInstances", moto.Params{"InstanceId.1": stopped})
	got = read()
	wantStates(t, "one stopped", got, map[string]int{"running": 2, "stopped": 1})
	if i := slices.IndexFunc(got.Instances.Value, func(i pool.Instance) bool { return i.ID == stopped }); i < 0 || got.Instances.Value[i].State != "stopped" {
		t.Errorf("one stopped: want %s to be it, got %+v", stopped, got.Instances.Value)
	}

	m.Call(t, "autoscaling", region, "DetachInstances", moto.Params{"AutoScalingGroupName": "mp-demo", "InstanceIds.member.1": detached, "ShouldDecrementDesiredCapacity": "true"})
	got = read()
	if slices.Contains(memberIDs(got.Group.Value), detached) || slices.Contains(instanceIDs(got), detached) || got.Group.Value.DesiredCapacity != 2 {
		t.Errorf("one detached: want %s gone and 2 desired, got %+v, %+v", detached, got.Group.Value, got.Instances.Value)
	}

	m.Call(t, "autoscaling", region, "SetDesiredCapacity", moto.Params{"AutoScalingGroupName": "mp-demo", "DesiredCapacity": "5"})
	got = read()
	if got.Group.Value.DesiredCapacity != 5 || len(got.Group.Value.Members) != 5 {
		t.Errorf("scaled out: want 5 desired and 5 members, got %+v", got.Group.Value)
	}
	m.Call(t, "autoscaling", region, "SetDesiredCapacity", moto.Params{"AutoScalingGroupName": "mp-demo", "DesiredCapacity": "1"})
	got = read()
	living := slices.DeleteFunc(slices.Clone(got.Instances.Value), pool.Instance.Gone)
	if len(got.Group.Value.Members) != 1 || len(living) != 1 || len(got.Instances.Value) < 5 {
		t.Errorf("scaled in: want one member, one instance that lives, and the terminated ones, got %+v, %+v", got.Group.Value, got.Instances.Value)
	}

	elsewhere := q
	elsewhere.Region = "eu-west-1"
	if got := r.Read(context.Background(), elsewhere); !got.Group.Known() || got.Group.Value != nil || len(got.Instances.Value) != 0 {
		t.Errorf("another region: want nothing, got %+v", got)
	}

	m.Call(t, "autoscaling", region, "DeleteAutoScalingGroup", moto.Params{"AutoScalingGroupName": "mp-demo", "ForceDelete": "true"})
	if got := read(); got.Group.Value != nil || slices.ContainsFunc(got.Instances.Value, func(i pool.Instance) bool { return !i.Gone() }) {
		t.Errorf("deleted: want no group and no instance that lives, got %+v, %+v", got.Group.Value, got.Instances.Value)
	}
}

func TestReaderBatchesThroughMoto(t *testing.T) {
	m := moto.Start(t)
	m.Setenv(t)
	registry := prometheus.NewPedanticRegistry()
	r := aws.NewReader(aws.WithRegisterer(registry))
	template, subnet := makeTemplate(t, m), m.Call(t, "ec2", region, "DescribeSubnets", nil).First(t, "subnetId")
	const pools = 12
	for i := range pools {
		makeGroup(t, m, fmt.Sprintf("mp-%02d", i), template, subnet, 2)
	}

	var wg sync.WaitGroup
	for i := range pools {
		wg.Go(func() {
			got := r.Read(context.Background(), pool.Query{Identity: pool.Identity{Source: v1beta1.IdentityPod}, Region: region, GroupName: fmt.Sprintf("mp-%02d", i)})
			if !got.Group.Known() || got.Group.Value == nil || !got.Instances.Known() {
				t.Errorf("pool %d: got %+v", i, got)
				return
			}
			if diff := cmp.Diff(memberIDs(got.Group.Value), instanceIDs(got)); diff != "" || len(got.Instances.Value) != 2 {
				t.Errorf("pool %d: want its own 2 members: -members, +instances:\n%s", i, diff)
			}
		})
	}
	wg.Wait()

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	calls := 0.0
	for _, f := range families {
		if f.GetName() == "machinepool_aws_calls_total" {
			for _, s := range f.GetMetric() {
				calls += s.GetCounter().GetValue()
			}
		}
	}
	// Two when all come within the 20 ms that a batch gathers; a busy machine may start some later.
	if calls > 6 {
		t.Errorf("want the pools read together, got %v calls for %d", calls, pools)
	}
}

func TestReaderFindsImagesThroughMoto(t *testing.T) {
	m := moto.Start(t)
	m.Setenv(t)
	r := aws.NewReader()
	base := m.Call(t, "ec2", region, "DescribeImages", nil).First(t, "imageId")
	instance := m.Call(t, "ec2", region, "RunInstances", moto.Params{"ImageId": base, "MinCount": "1", "MaxCount": "1"}).First(t, "instanceId")
	image := m.Call(t, "ec2", region, "CreateImage", moto.Params{"InstanceId": instance, "Name": "capa-ami-ubuntu-24.04-1.34.1-1"}).First(t, "imageId")
	owner := m.Call(t, "ec2", region, "DescribeImages", moto.Params{"ImageId.1": image}).First(t, "imageOwnerId")
	q := pool.Query{
		Identity: pool.Identity{Source: v1beta1.IdentitySecret, SharedCredentials: []byte("[default]\naws_access_key_id = AKIASECRET\naws_secret_access_key = s\n")},
		Region:   region,
		Image:    &pool.ImageQuery{Owner: owner, Name: "capa-ami-ubuntu-24.04-?{semver}-*", Version: "v1.34.1", Architecture: "x86_64"},
	}

	// ? is exactly one character, so the image's name must have one before the version: v, as in v1.34.1, or nothing does.
	if got := r.Read(context.Background(), q).Image; !got.Known() || got.Value != nil {
		t.Errorf("want no image to match, got %+v, %+v", got.Value, got.Err)
	}
	for name, asked := range map[string]*pool.ImageQuery{
		"by name": {Owner: owner, Name: "capa-ami-ubuntu-24.04-{semver}-*", Version: "v1.34.1", Architecture: "x86_64"},
		"by id":   {ID: image},
	} {
		q.Image = asked
		got := r.Read(context.Background(), q).Image.Value
		if got == nil || got.ID != image || got.Name != "capa-ami-ubuntu-24.04-1.34.1-1" || got.RootDevice == "" || got.Architecture != "x86_64" || got.State != "available" {
			t.Errorf("%s: want %s with all that is known of it, got %+v", name, image, got)
		}
	}
	q.Image = &pool.ImageQuery{ID: "ami-00000000000000000"}
	if got := r.Read(context.Background(), q).Image; !got.Known() || got.Value != nil {
		t.Errorf("want no image of an id that does not exist, got %+v, %+v", got.Value, got.Err)
	}
}

// Assumed roles and a session of the account: moto takes any role.
func TestReaderAssumesRolesThroughMoto(t *testing.T) {
	m := moto.Start(t)
	m.Setenv(t)
	got := aws.NewReader().Read(context.Background(), pool.Query{
		Identity: pool.Identity{Source: v1beta1.IdentityPod, AssumeRoleChain: []v1beta1.AssumeRole{
			{RoleARN: "arn:aws:iam::123456789012:role/hub"},
			{RoleARN: "arn:aws:iam::123456789012:role/spoke", ExternalID: "pools"},
		}},
		Region:    region,
		GroupName: "mp-none",
	})
	if !got.Group.Known() || !got.Instances.Known() {
		t.Errorf("want a reading, got %+v, %+v", got.Group.Err, got.Instances.Err)
	}
}

func makeTemplate(t *testing.T, m *moto.Server) string {
	t.Helper()
	image := m.Call(t, "ec2", region, "DescribeImages", nil).First(t, "imageId")
	return m.Call(t, "ec2", region, "CreateLaunchTemplate", moto.Params{
		"LaunchTemplateName":              "mp-template",
		"LaunchTemplateData.ImageId":      image,
		"LaunchTemplateData.InstanceType": "m6i.large",
	}).First(t, "launchTemplateId")
}

func makeGroup(t *testing.T, m *moto.Server, name, template, subnet string, desired int) {
	t.Helper()
	m.Call(t, "autoscaling", region, "CreateAutoScalingGroup", moto.Params{
		"AutoScalingGroupName":            name,
		"LaunchTemplate.LaunchTemplateId": template,
		"LaunchTemplate.Version":          "$Latest",
		"MinSize":                         "0",
		"MaxSize":                         "6",
		"DesiredCapacity":                 fmt.Sprint(desired),
		"VPCZoneIdentifier":               subnet,
	})
}

func memberIDs(g *pool.Group) []string {
	var out []string
	for _, m := range g.Members {
		out = append(out, m.InstanceID)
	}
	return out
}

func instanceIDs(r pool.Reading) []string {
	var out []string
	for _, i := range r.Instances.Value {
		out = append(out, i.ID)
	}
	return out
}

func wantStates(t *testing.T, when string, r pool.Reading, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for _, i := range r.Instances.Value {
		got[i.State]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: states: -want, +got:\n%s", when, diff)
	}
}
