//go:build e2e

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/aws/moto"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

const (
	// motoRegion is where moto serves what the simulator serves elsewhere. One function reads both, as it would read two
	// regions.
	motoRegion  = "eu-west-1"
	motoAccount = "123456789012"
)

// TestMoto holds that a pool follows what a real moto server says. A member that is terminated is replaced in the list, and
// while moto cannot be reached the list stays and the health is unknown.
//
// provider-aws is played once more here, as the launch template's id and the group must be moto's: see motoProvider.
func TestMoto(t *testing.T) { //nolint:tparallel // One step after the other.
	t.Parallel()
	m := moto.Start(t)
	n := newTenant(t)
	p := &motoProvider{Server: m, sent: map[string]string{}}
	n.must(n.aws.Forward(motoRegion, m.URL))
	n.provider.Leave(motoRegion, p.provide)
	t.Cleanup(func() {
		// The pool outlives moto.
		n.aws.Cut(motoRegion, true)
		n.provider.Leave(motoRegion, nil)
		n.must(n.client.Delete(context.Background(), pools, n.namespace, "workers"))
	})

	n.publish(motoExports(n, m))
	image := motoImage(n, m)
	r := record(n)
	n.create("workers", kube.Object{
		"crossplane":   kube.Object{"compositionRef": kube.Object{"name": quick}},
		"machineImage": kube.Object{"owner": motoAccount},
	})
	xr := n.awaitReady("workers", 3)
	if got := simulator.Text(xr, "status", "imageID"); got != image {
		t.Errorf("image %s, want %s", got, image)
	}
	n.sameMembers(m, xr)

	terminated := simulator.Texts(xr, "status", "providerIDList")[0]
	t.Run("MemberTerminated", func(t *testing.T) {
		n := n.within(t)
		victim := terminated
		m.Call(t, "ec2", motoRegion, "TerminateInstances", moto.Params{"InstanceId.1": victim[strings.LastIndexByte(victim, '/')+1:]})
		n.eventually("the terminated member has left the list", func() (bool, string) {
			xr := n.xr("workers")
			return !slices.Contains(simulator.Texts(xr, "status", "providerIDList"), victim), state(xr)
		})
		// Moto puts another in its place, as Auto Scaling does.
		xr = n.awaitReady("workers", 3)
		n.sameMembers(m, xr)
	})

	t.Run("Away", func(t *testing.T) {
		n := n.within(t)
		members := simulator.Texts(n.awaitSettled("workers"), "status", "providerIDList")
		// Crossplane can give the function a status from before the terminated member had left, and what the function cannot
		// read it cannot correct (docs/rollouts.md, "What no run can tell"). No member leaves the list, and no other comes to it.
		kept := func() (bool, string) {
			xr := n.xr("workers")
			listed := slices.DeleteFunc(simulator.Texts(xr, "status", "providerIDList"), func(id string) bool { return id == terminated })
			return slices.Equal(members, listed), "the list changed: " + state(xr)
		}
		n.aws.Cut(motoRegion, true)
		n.eventually("health is unknown", func() (bool, string) {
			if ok, said := kept(); !ok {
				n.Fatal(said)
			}
			xr := n.xr("workers")
			return simulator.Text(xr, "status", "health", "state") == "unknown" && simulator.ConditionOf(xr, "InfrastructureHealthy").Status == "Unknown", state(xr)
		})
		// More than one time to live.
		n.always(6*time.Second, kept)
		n.aws.Cut(motoRegion, false)
		xr = n.awaitReady("workers", 3)
		if diff := cmp.Diff(members, simulator.Texts(xr, "status", "providerIDList")); diff != "" {
			t.Errorf("members: -want, +got:\n%s", diff)
		}
	})
	r.neverDeleted(t, nothing)
}

func list(o kube.Object, path ...string) []any {
	out, _ := simulator.Field(o, path...).([]any)
	return out
}

// sameMembers holds that a pool's status lists what moto does.
func (n *tenant) sameMembers(m *moto.Server, xr kube.Object) {
	n.Helper()
	group := m.Call(n, "autoscaling", motoRegion, "DescribeAutoScalingGroups", moto.Params{
		"AutoScalingGroupNames.member.1": simulator.Text(xr, "status", "autoscalingGroupName"),
	})
	want := group.All("InstanceId")
	slices.Sort(want)
	var got []string
	for _, i := range list(xr, "status", "instances") {
		got = append(got, simulator.Text(i, "instanceID"))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		n.Errorf("members: -moto, +status:\n%s", diff)
	}
	if diff := cmp.Diff(group.All("AutoScalingGroupARN"), []string{simulator.Text(xr, "status", "providerID")}); diff != "" {
		n.Errorf("group: -moto, +status:\n%s", diff)
	}
}

// motoExports of a cluster in moto's default VPC.
func motoExports(n *tenant, m *moto.Server) kube.Object {
	out := exports(n.namespace)
	zones := kube.Object{}
	for _, zone := range []string{motoRegion + "a", motoRegion + "b"} {
		subnet := m.Call(n, "ec2", motoRegion, "DescribeSubnets", moto.Params{"Filter.1.Name": "availability-zone", "Filter.1.Value.1": zone})
		zones[zone] = kube.Object{"subnet_id": subnet.First(n, "subnetId")}
	}
	out["region"], out["failure_domains"] = motoRegion, zones
	return out
}

// motoImage publishes the image of versionA.
func motoImage(n *tenant, m *moto.Server) string {
	base := m.Call(n, "ec2", motoRegion, "DescribeImages", nil).First(n, "imageId")
	instance := m.Call(n, "ec2", motoRegion, "RunInstances", moto.Params{"ImageId": base, "MinCount": "1", "MaxCount": "1"}).First(n, "instanceId")
	image := m.Call(n, "ec2", motoRegion, "CreateImage", moto.Params{"InstanceId": instance, "Name": "capa-ami-ubuntu-24.04-" + versionA + "-1"}).First(n, "imageId")
	m.Call(n, "ec2", motoRegion, "TerminateInstances", moto.Params{"InstanceId.1": instance})
	return image
}

// A motoProvider plays as much of provider-aws as one pool needs that is made once: it creates the template and the group in
// moto and shows what moto says of them.
type motoProvider struct {
	*moto.Server

	mu   sync.Mutex
	sent map[string]string
}

func (p *motoProvider) provide(ctx context.Context, mr kube.Object) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	provide := map[string]func(context.Context, kube.Object) error{"LaunchTemplate": p.template, "AutoscalingGroup": p.group, "Object": p.object}[simulator.Text(mr, "kind")]
	if provide == nil {
		return fmt.Errorf("cannot provide %s", describe(mr))
	}
	if err := provide(ctx, mr); err != nil {
		return fmt.Errorf("cannot provide %s: %w", describe(mr), err)
	}
	var conditions []any
	for _, c := range []struct{ kind, reason string }{{"Ready", "Available"}, {"Synced", "ReconcileSuccess"}} {
		conditions = append(conditions, kube.Object{
			"type": c.kind, "status": "True", "reason": c.reason, "lastTransitionTime": simulator.Text(mr, "metadata", "creationTimestamp"),
		})
	}
	simulator.SetField(mr, conditions, "status", "conditions")
	return nil
}

func (p *motoProvider) template(ctx context.Context, mr kube.Object) error {
	name := simulator.Text(mr, "spec", "forProvider", "name")
	if p.sent[name] == "" {
		made, err := p.TryCall(ctx, "ec2", motoRegion, "CreateLaunchTemplate", moto.Params{
			"LaunchTemplateName":              name,
			"LaunchTemplateData.ImageId":      simulator.Text(mr, "spec", "forProvider", "imageId"),
			"LaunchTemplateData.InstanceType": simulator.Text(mr, "spec", "forProvider", "instanceType"),
		})
		if err != nil {
			return err
		}
		p.sent[name] = strings.Join(made.All("launchTemplateId"), "")
	}
	simulator.SetField(mr, p.sent[name], "status", "atProvider", "id")
	return nil
}

func (p *motoProvider) group(ctx context.Context, mr kube.Object) error {
	name := simulator.Text(mr, "metadata", "annotations", "crossplane.io/external-name")
	number := func(path ...string) string {
		v, _ := simulator.Number(mr, append([]string{"spec"}, path...)...)
		return fmt.Sprint(v)
	}
	if p.sent[name] == "" {
		_, err := p.TryCall(ctx, "autoscaling", motoRegion, "CreateAutoScalingGroup", moto.Params{
			"AutoScalingGroupName":            name,
			"LaunchTemplate.LaunchTemplateId": simulator.Text(mr, "spec", "forProvider", "launchTemplate", "id"),
			"LaunchTemplate.Version":          simulator.Text(mr, "spec", "forProvider", "launchTemplate", "version"),
			"MinSize":                         number("forProvider", "minSize"),
			"MaxSize":                         number("forProvider", "maxSize"),
			"DesiredCapacity":                 number("initProvider", "desiredCapacity"),
			"VPCZoneIdentifier":               strings.Join(simulator.Texts(mr, "spec", "forProvider", "vpcZoneIdentifier"), ","),
		})
		if err != nil {
			return err
		}
		p.sent[name] = name
	}
	seen, err := p.TryCall(ctx, "autoscaling", motoRegion, "DescribeAutoScalingGroups", moto.Params{"AutoScalingGroupNames.member.1": name})
	if err != nil {
		return err
	}
	desired, _ := simulator.Number(mr, "spec", "initProvider", "desiredCapacity")
	simulator.SetField(mr, kube.Object{
		"id": name, "arn": strings.Join(seen.All("AutoScalingGroupARN"), ""), "desiredCapacity": desired,
		"launchTemplate": kube.Object{"id": simulator.Text(mr, "spec", "forProvider", "launchTemplate", "id")},
	}, "status", "atProvider")
	return nil
}

// object is not put into moto: nothing reads it there.
func (p *motoProvider) object(_ context.Context, mr kube.Object) error {
	if _, err := base64.StdEncoding.DecodeString(simulator.Text(mr, "spec", "forProvider", "contentBase64")); err != nil {
		return err
	}
	simulator.SetField(mr, simulator.Text(mr, "spec", "forProvider", "key"), "status", "atProvider", "id")
	return nil
}
