//go:build moto

package aws_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/aws/moto"
)

// podEnv is the environment of a function that signs in as its pod.
func podEnv(endpoint string) map[string]string {
	return map[string]string{"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "AKIAPOD", "AWS_SECRET_ACCESS_KEY": canary}
}

// start moto, the wire to it and the function, signed in as its pod.
func start(t *testing.T) (*moto.Server, *wire, *function) {
	t.Helper()
	m := moto.Start(t)
	w := startWire(t, m)
	w.answer("DescribeInstanceRefreshes", refreshes())
	return m, w, startFunction(t, podEnv(w.URL))
}

func TestFunctionFollowsAGroup(t *testing.T) {
	t.Parallel()
	m, w, fn := start(t)
	p := newPool(t, fn, m, "demo-pool-0", "{identity: Pod}")

	// No image: nothing can be launched, and the condition says what was looked for.
	p.run()
	p.run()
	p.wantConditions("no image", map[string]string{"ImageResolved": "False NotFound", "InfrastructureReady": "False Provisioning"})
	_, message := p.condition("ImageResolved")
	for _, want := range []string{"capa-ami-ubuntu-24.04-?1.34.1-*", account, "x86_64"} {
		if !strings.Contains(message, want) {
			t.Errorf("no image: want %q in the message, got %q", want, message)
		}
	}
	if got := p.composed("LaunchTemplate"); len(got) > 0 {
		t.Errorf("no image: want no template, got %d", len(got))
	}

	// The version's + suffix is no part of an image's name. Another architecture's or version's is none of ours.
	publish(t, m, "capa-ami-ubuntu-24.04-v1.34.2-20260101")
	image := publish(t, m, "capa-ami-ubuntu-24.04-v1.34.1-20260101")
	s := p.until("created", func(s v1alpha1.MachinePoolStatus) bool { return len(s.ProviderIDList) == 3 && rolloutIs(s, "Idle") })
	group := s.AutoscalingGroupName
	if s.ImageID != image || simulator.Text(p.composed("LaunchTemplate")[0], "spec", "forProvider", "imageId") != image {
		t.Errorf("created: want image %s, got %s", image, s.ImageID)
	}
	p.wantMembers("created", map[string]int{"running": 3})
	p.wantHealth("created", "running", true, "3 of 3 instances running")
	p.wantConditions("created", map[string]string{
		"ImageResolved": "True Found", "InfrastructureReady": "True Provisioned", "InfrastructureHealthy": "True Healthy",
		"MachinesUpToDate": "True UpToDate", "RollingOut": "False UpToDate", "ScalingUp": "False AtDesiredCapacity", "ScalingDown": "False AtDesiredCapacity",
	})
	if !s.Ready || !*s.Initialization.Provisioned || p.ready == fnv1.Ready_READY_FALSE || *s.Replicas != 3 || !strings.HasSuffix(s.ProviderID, "autoScalingGroupName/"+group) {
		t.Errorf("created: want a ready pool, got %+v", s)
	}
	p.wantQuiet("created")
	if calls, _ := w.since(0); len(calls) == 0 || calls[0].KeyID != "AKIAPOD" {
		t.Errorf("want calls signed with the pod's key, got %v", calls)
	}

	// A member in a zone that the pool has left is still one. Moto places members as it likes.
	left, stays := s.Instances[0].FailureDomain, "us-east-1b"
	if left == stays {
		stays = "us-east-1a"
	}
	simulator.SetField(p.XR, []any{stays}, "spec", "failureDomains")
	list := s.ProviderIDList
	s = p.until("another zone", func(s v1alpha1.MachinePoolStatus) bool { return slices.Equal(s.FailureDomains, []string{stays}) })
	if !slices.Equal(s.ProviderIDList, list) || s.Instances[0].FailureDomain != left {
		t.Errorf("another zone: want the same members, got %v", s.ProviderIDList)
	}

	// Stopped members stay members.
	stopped := s.Instances[0].InstanceID
	m.Call(t, "ec2", region, "StopInstances", moto.Params{"InstanceId.1": stopped})
	s = p.until("one stopped", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.State == "stopped" })
	p.wantHealth("one stopped", "stopped", false, "3 of 3 instances, not all running: InstanceStopped:"+stopped, "InstanceStopped:"+stopped)
	p.wantMembers("one stopped", map[string]int{"running": 2, "stopped": 1})
	if !slices.Equal(s.ProviderIDList, list) || !s.Ready {
		t.Errorf("one stopped: want the same members in a ready pool, got %v", s.ProviderIDList)
	}
	p.wantEvent("one stopped", "InstanceStopped")
	p.wantQuiet("one stopped")
	m.Call(t, "ec2", region, "StartInstances", moto.Params{"InstanceId.1": stopped})
	p.until("started again", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.Healthy })

	// A detached one is none any more, though it runs on.
	detached := s.Instances[1].InstanceID
	m.Call(t, "autoscaling", region, "DetachInstances", moto.Params{"AutoScalingGroupName": group, "InstanceIds.member.1": detached, "ShouldDecrementDesiredCapacity": "true"})
	s = p.until("one detached", func(s v1alpha1.MachinePoolStatus) bool { return len(s.ProviderIDList) == 2 })
	p.wantHealth("one detached", "running", true, "2 of 2 instances running")
	if strings.Contains(strings.Join(s.ProviderIDList, " "), detached) || *s.Replicas != 2 {
		t.Errorf("one detached: want it gone and 2 replicas, got %v, %d", s.ProviderIDList, *s.Replicas)
	}

	// Something else scales; the function follows and does not interfere.
	for _, n := range []string{"5", "1", "0", "2"} {
		m.Call(t, "autoscaling", region, "SetDesiredCapacity", moto.Params{"AutoScalingGroupName": group, "DesiredCapacity": n})
		p.until("scaled to "+n, func(s v1alpha1.MachinePoolStatus) bool {
			return int(n[0]-'0') == len(s.ProviderIDList) && *s.Replicas == int32(n[0]-'0') && s.Health.Healthy
		})
	}
	p.wantMembers("scaled to 2", map[string]int{"running": 2})

	// The group is gone, and EC2 lists each of its members as terminated, which another account or region would not.
	m.Call(t, "autoscaling", region, "DeleteAutoScalingGroup", moto.Params{"AutoScalingGroupName": group, "ForceDelete": "true"})
	s = p.until("deleted", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.State == "terminated" })
	p.wantHealth("deleted", "terminated", false, "Auto Scaling group "+group+" not found", "GroupNotFound")
	p.wantEvent("deleted", "GroupNotFound")
	p.wantConditions("deleted", map[string]string{"InfrastructureHealthy": "False GroupNotFound"})
	if len(s.ProviderIDList) != 0 || len(s.Instances) != 0 {
		t.Errorf("deleted: want no member that is known to be terminated, got %v", s.ProviderIDList)
	}
	if !s.Ready || !*s.Initialization.Provisioned || p.ready != fnv1.Ready_READY_FALSE {
		t.Errorf("deleted: want status.ready latched and the composite not ready, got %t, %s", s.Ready, p.ready)
	}
	p.wantQuiet("deleted")
}

// A new version rolls once its image is there. Moto has no refresh, so the wire has.
func TestFunctionFollowsARoll(t *testing.T) {
	t.Parallel()
	m, w, fn := start(t)
	p := newPool(t, fn, m, "demo-pool-0", "{identity: Pod}")
	before := publish(t, m, "capa-ami-ubuntu-24.04-v1.34.1-20260101")
	s := p.until("created", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.Healthy && rolloutIs(s, "Idle") })
	old := s.LaunchTemplateID

	simulator.SetField(p.XR, "v1.35.0+rke2r1", "spec", "kubernetesVersion")
	for range 3 {
		s = p.run()
	}
	p.wantConditions("no image yet", map[string]string{"ImageResolved": "False NotFound"})
	if n := len(p.composed("LaunchTemplate")); n != 1 || s.LaunchTemplateID != old || s.ImageID != before {
		t.Errorf("no image yet: want the pool on %s and %s, got %d templates, %s, %s", old, before, n, s.LaunchTemplateID, s.ImageID)
	}

	after := publish(t, m, "capa-ami-ubuntu-24.04-v1.35.0-20260601")
	const refresh = `<member><InstanceRefreshId>r-1</InstanceRefreshId><Status>InProgress</Status><StartTime>2099-01-01T00:00:00Z</StartTime><PercentageComplete>40</PercentageComplete><InstancesToUpdate>2</InstancesToUpdate></member>`
	w.answer("DescribeInstanceRefreshes", refreshes(refresh))
	s = p.until("rolling", func(s v1alpha1.MachinePoolStatus) bool {
		// Moto counts every member to the group's newest template at once.
		return s.Rollout.PercentageComplete != nil && *s.Rollout.OutdatedInstances == 0
	})
	p.wantConditions("rolling", map[string]string{"ImageResolved": "True Found", "RollingOut": "True RefreshActive"})
	if n := len(p.composed("LaunchTemplate")); n != 2 || s.LaunchTemplateID == old || s.ImageID != after || *s.Rollout.PercentageComplete != 40 {
		t.Errorf("rolling: want both templates, image %s and 40 percent, got %d, %s, %+v", after, n, s.ImageID, s.Rollout)
	}
	p.wantQuiet("rolling")

	w.answer("DescribeInstanceRefreshes", refreshes(strings.NewReplacer("InProgress", "Successful", "40", "100", ">2<", ">0<").Replace(refresh)))
	p.until("rolled", func(s v1alpha1.MachinePoolStatus) bool {
		return rolloutIs(s, "Idle") && len(p.composed("LaunchTemplate")) == 1
	})
	p.wantEvent("rolled", "RollFinished")
	p.wantQuiet("rolled")
}

// A status must fit into etcd: beyond a thousand members the instances are cut, which health says, and the list is not.
func TestFunctionCutsInstances(t *testing.T) {
	t.Parallel()
	const members = 1001
	m, w, fn := start(t)
	p := newPool(t, fn, m, "demo-pool-0", "{identity: Pod}")
	simulator.SetField(p.XR, publish(t, m, "any"), "spec", "machineImage", "id")
	s := p.until("created", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.Healthy && rolloutIs(s, "Idle") })

	var listed, described strings.Builder
	for i := range members {
		fmt.Fprintf(&listed, `<member><InstanceId>i-%017d</InstanceId><AvailabilityZone>us-east-1a</AvailabilityZone><LifecycleState>InService</LifecycleState><HealthStatus>Healthy</HealthStatus><LaunchTemplate><LaunchTemplateId>%s</LaunchTemplateId></LaunchTemplate></member>`, i, s.LaunchTemplateID)
		fmt.Fprintf(&described, `<item><instanceId>i-%017d</instanceId><instanceState><name>running</name></instanceState><placement><availabilityZone>us-east-1a</availabilityZone></placement><tagSet><item><key>aws:autoscaling:groupName</key><value>%s</value></item></tagSet></item>`, i, s.AutoscalingGroupName)
	}
	w.answer("DescribeAutoScalingGroups", says(http.StatusOK, `<DescribeAutoScalingGroupsResponse xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/"><DescribeAutoScalingGroupsResult><AutoScalingGroups><member><AutoScalingGroupARN>`+s.ProviderID+`</AutoScalingGroupARN><AutoScalingGroupName>`+s.AutoscalingGroupName+`</AutoScalingGroupName><DesiredCapacity>1001</DesiredCapacity><LaunchTemplate><LaunchTemplateId>`+s.LaunchTemplateID+`</LaunchTemplateId></LaunchTemplate><Instances>`+listed.String()+`</Instances></member></AutoScalingGroups></DescribeAutoScalingGroupsResult></DescribeAutoScalingGroupsResponse>`))
	w.answer("DescribeInstances", says(http.StatusOK, `<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><reservationSet><item><instancesSet>`+described.String()+`</instancesSet></item></reservationSet></DescribeInstancesResponse>`))
	s = p.until("grown", func(s v1alpha1.MachinePoolStatus) bool { return len(s.ProviderIDList) == members })
	p.wantHealth("grown", "running", true, "1001 of 1001 instances running; status.instances lists the first 1000 of 1001")
	if len(s.Instances) != 1000 {
		t.Errorf("grown: want 1000 instances, got %d", len(s.Instances))
	}
}

// Without an identity the function asks AWS for nothing, and goes by the managed resources alone.
func TestFunctionWithoutIdentityCallsNobody(t *testing.T) {
	t.Parallel()
	m, w, fn := start(t)
	p := newPool(t, fn, m, "demo-pool-0", "{identity: None}")
	simulator.SetField(p.XR, publish(t, m, "any"), "spec", "machineImage", "id")
	s := p.until("created", func(s v1alpha1.MachinePoolStatus) bool { return s.Ready })
	p.wantHealth("created", "unknown", false, "the function does not read AWS: set aws.identity in its Input to see members and their health", "MembershipNotRead")
	if len(s.ProviderIDList)+len(s.Instances) > 0 {
		t.Errorf("want no members, got %v", s.ProviderIDList)
	}
	p.wantQuiet("created")
	if calls, _ := w.since(0); len(calls) > 0 {
		t.Errorf("want no call, got %v", calls)
	}
}

func rolloutIs(s v1alpha1.MachinePoolStatus, phase string) bool {
	return s.Rollout != nil && s.Rollout.Phase == phase
}

// composed resources of a kind.
func (p *machinePool) composed(kind string) []simulator.Object {
	var out []simulator.Object
	for _, mr := range p.Composed() {
		if mr["kind"] == kind {
			out = append(out, mr)
		}
	}
	return out
}

// wantMembers holds the list and the instances against each other, and counts states.
func (p *machinePool) wantMembers(when string, states map[string]int) {
	p.t.Helper()
	s := p.status()
	if !slices.IsSorted(s.ProviderIDList) || len(s.ProviderIDList) != len(s.Instances) {
		p.t.Errorf("%s: want a sorted list with an instance for each, got %v, %+v", when, s.ProviderIDList, s.Instances)
	}
	got := map[string]int{}
	for n, i := range s.Instances {
		got[i.State]++
		if i.ProviderID != s.ProviderIDList[n] || i.ProviderID != "aws:///"+i.FailureDomain+"/"+i.InstanceID {
			p.t.Errorf("%s: want the list's own ids, got %+v", when, i)
		}
		if len(i.Addresses) == 0 || i.Addresses[0].Type != "InternalIP" || i.UpToDate == nil || !*i.UpToDate {
			p.t.Errorf("%s: want an address and an instance that is up to date, got %+v", when, i)
		}
	}
	for state, n := range states {
		if got[state] != n {
			p.t.Errorf("%s: want %d %s, got %v", when, n, state, got)
		}
	}
}

// wantEvent holds that the reason was told once since events were last taken, and takes them.
func (p *machinePool) wantEvent(when, reason string) {
	p.t.Helper()
	told := 0
	events := p.takeEvents()
	for _, e := range events {
		if strings.HasPrefix(e, reason+": ") {
			told++
		}
	}
	if told != 1 {
		p.t.Errorf("%s: want one event %s, got %q", when, reason, events)
	}
}
