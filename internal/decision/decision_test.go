package decision

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/zones"
)

const (
	groupNameInAWS  = "mp-team-a-demo-pool-0-bfc02ea5"
	newGroupName    = "mp-team-a-demo-pool-0-bfc02ea5ebb16afd"
	groupARN        = "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:1:autoScalingGroupName/mp-team-a-demo-pool-0-bfc02ea5"
	pinnedImage     = "ami-0123456789abcdef0"
	currentKey      = "497384ff" // Of v1.34.1 and the pinned image, by sha256sum.
	currentTemplate = "launch-template-" + currentKey
	newerKey        = "c46ea5cd" // Of v1.34.2 and the pinned image, by sha256sum.
	newerTemplate   = "launch-template-" + newerKey
	secretPayload   = "#cloud-config\n# do-not-tell"
	ignitionPayload = `{"ignition": {"version": "3.4.0"}, "passwd": {"users": [{"name": "do-not-tell"}]}}`
)

// A change to an observation.
type change = func(o *pool.Observation)

func clusterExports() *v1alpha1.Exports {
	return &v1alpha1.Exports{
		Schema:              "captf.io/aws-cluster/v1",
		Region:              "us-east-1",
		KubernetesClusterID: "demo-1960e37c",
		FailureDomains: map[string]v1alpha1.FailureDomain{
			"us-east-1a": {SubnetID: "subnet-0000000a"},
			"us-east-1b": {SubnetID: "subnet-0000000b"},
		},
		SecurityGroupIDs: v1alpha1.SecurityGroupIDs{Worker: []string{"sg-00000001"}},
		InstanceProfiles: v1alpha1.InstanceProfiles{Worker: "demo-worker"},
		BootstrapBucket:  "demo-bootstrap",
	}
}

// newPool is a pool that nothing was composed for yet, with all that it is made of.
func newPool(changes ...change) *pool.Observation {
	o := &pool.Observation{
		Composite: &v1alpha1.MachinePool{Spec: v1alpha1.MachinePoolSpec{
			Cluster:           v1alpha1.ClusterSource{Exports: clusterExports()},
			KubernetesVersion: new("v1.34.1"),
			Replicas:          new(int32(3)),
			Bootstrap:         v1alpha1.Bootstrap{DataSecretRef: v1alpha1.SecretKeyReference{Name: "demo-pool-0", Namespace: "team-a"}},
			MachineImage:      v1alpha1.MachineImage{ID: new(pinnedImage)},
		}},
		Conditions: map[string]condition.Condition{},
		Input:      &v1beta1.Input{},
		Bootstrap:  pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(secretPayload)},
		Managed:    pool.Managed{Templates: map[string]pool.ObservedTemplate{}, Hooks: map[string]pool.Resource{}},
	}
	o.Composite.SetName("demo-pool-0")
	o.Composite.SetNamespace("team-a")
	o.Composite.Default()
	o.Input.Default()
	o.Exports = pool.Exports{Source: pool.SourceFound, Inline: true, Value: o.Composite.Spec.Cluster.Exports}
	for _, f := range changes {
		f(o)
	}
	return o
}

// resource that is Ready and Synced, with a spec to know it by.
func resource(kind string) pool.Resource {
	return pool.Resource{APIVersion: "aws.m.upbound.io/v1beta1", Kind: kind, Spec: map[string]any{"as": "observed"}, Ready: true, Synced: true}
}

func template(key, id string) pool.ObservedTemplate {
	t := pool.ObservedTemplate{Resource: resource("LaunchTemplate"), Name: groupNameInAWS + "-" + key, ID: id, ImageID: pinnedImage, Format: v1alpha1.BootstrapFormatCloudConfig}
	t.ExternalName = id
	return t
}

// steadyPool is a pool at rest, as AWS is not read: three instances in two zones.
func steadyPool(changes ...change) *pool.Observation {
	o := newPool()
	o.Managed.Templates[currentTemplate] = template(currentKey, "lt-current")
	o.Managed.Object = &pool.ObservedObject{Resource: resource("Object"), Bucket: "demo-bootstrap", Key: "pool/demo-pool-0"}
	o.Managed.Group = &pool.ObservedGroup{
		Resource: resource("AutoscalingGroup"), Name: groupNameInAWS, ARN: groupARN,
		SentTemplateID: "lt-current", TemplateID: "lt-current", Subnets: []string{"subnet-0000000a", "subnet-0000000b"}, DesiredCapacity: new(int32(3)),
	}
	o.Managed.Group.Region = "us-east-1"
	o.Managed.Group.ExternalName = groupNameInAWS
	o.Managed.Group.Annotations = map[string]string{zones.RecordAnnotation: "us-east-1a,us-east-1b"}
	o.Composite.Status.Rollout = &v1alpha1.RolloutStatus{RollKey: currentKey, Phase: "Idle"}
	for _, f := range changes {
		f(o)
	}
	return o
}

// readPool is a pool at rest, as AWS says it is.
func readPool(changes ...change) *pool.Observation {
	o := steadyPool()
	o.Input.AWS.Identity = v1beta1.IdentityPod
	group := &pool.Group{ARN: groupARN, Name: groupNameInAWS, DesiredCapacity: 3, LaunchTemplateID: "lt-current"}
	var instances []pool.Instance
	for _, id := range []string{"i-1", "i-2", "i-3"} {
		group.Members = append(group.Members, pool.GroupMember{InstanceID: id, Zone: "us-east-1a", LifecycleState: "InService", LaunchTemplateID: "lt-current"})
		instances = append(instances, pool.Instance{ID: id, Zone: "us-east-1a", State: "running"})
	}
	o.AWS = pool.Reading{Group: pool.Read[*pool.Group]{Asked: true, Value: group}, Instances: pool.Read[[]pool.Instance]{Asked: true, Value: instances}}
	for _, f := range changes {
		f(o)
	}
	return o
}

// reported is what the last run made of the same pool: its status and its conditions.
func reported(o *pool.Observation) *pool.Observation {
	d := Of(o)
	o.Composite.Status = d.Status
	for _, c := range d.Conditions {
		o.Conditions[c.Type] = c
	}
	return o
}

func noExports(o *pool.Observation) { o.Exports = pool.Exports{Source: pool.SourceNotFound} }

func noSecret(o *pool.Observation) { o.Bootstrap = pool.BootstrapData{Source: pool.SourceNotFound} }

func newVersion(o *pool.Observation) { o.Composite.Spec.KubernetesVersion = new("v1.34.2") }

func newerTemplateExists(o *pool.Observation) {
	newVersion(o)
	o.Managed.Templates[newerTemplate] = template(newerKey, "lt-newer")
}

// autoscale between 2 and 5 instances.
func autoscale(o *pool.Observation) {
	o.Composite.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: 2, MaxReplicas: 5}
	o.Composite.Default()
}

// readFails makes all that is read of AWS fail.
func readFails(o *pool.Observation) {
	err := &pool.ReadError{Reason: pool.ReadThrottled, Message: "autoscaling:DescribeAutoScalingGroups: throttled"}
	o.AWS.Group = pool.Read[*pool.Group]{Asked: true, Err: err}
	o.AWS.Instances = pool.Read[[]pool.Instance]{Asked: true, Err: err}
}

func conditionOf(t *testing.T, d Decision, typ condition.Type) condition.Condition {
	t.Helper()
	for _, c := range d.Conditions {
		if c.Type == typ {
			return c
		}
	}
	t.Fatalf("the decision has no condition %s", typ)
	return condition.Condition{}
}

// A verdict is what programs read of a condition.
type verdict struct {
	Status condition.Status
	Reason string
}

func verdictOf(t *testing.T, d Decision, typ condition.Type) verdict {
	t.Helper()
	c := conditionOf(t, d, typ)
	return verdict{Status: c.Status, Reason: c.Reason}
}

// TestEveryConditionIsReported holds that a decision has all conditions, in their order, each with something to say.
func TestEveryConditionIsReported(t *testing.T) {
	cases := map[string]*pool.Observation{
		"New":         newPool(),
		"Steady":      steadyPool(),
		"Read":        readPool(),
		"ReadFailed":  readPool(readFails),
		"NoInputs":    steadyPool(noExports, noSecret),
		"Autoscaling": readPool(autoscale),
		"Roll":        readPool(newerTemplateExists),
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			var types []condition.Type
			for _, c := range Of(o).Conditions {
				types = append(types, c.Type)
				if c.Reason == "" || c.Message == "" || c.Status == "" {
					t.Errorf("condition %+v says nothing", c)
				}
			}
			if diff := cmp.Diff(condition.Types(), types); diff != "" {
				t.Errorf("Of(...): -want, +got:\n%s", diff)
			}
		})
	}
}

// TestOfIsPure holds that equal observations give equal decisions, and that deciding changes no observation.
func TestOfIsPure(t *testing.T) {
	for name, makePool := range map[string]func(...change) *pool.Observation{"New": newPool, "Steady": steadyPool, "Read": readPool} {
		t.Run(name, func(t *testing.T) {
			o, same := makePool(), makePool()
			first := Of(o)
			if diff := cmp.Diff(same, o); diff != "" {
				t.Errorf("Of(...) changed its observation: -before, +after:\n%s", diff)
			}
			if diff := cmp.Diff(first, Of(o)); diff != "" {
				t.Errorf("Of(...) of the same observation: -first, +second:\n%s", diff)
			}
		})
	}
}

// TestNeverLosesWhatExists is design.md's "Never lose the group" for whatever can be missing at once: what is observed
// stays in every decision that is not a refusal.
func TestNeverLosesWhatExists(t *testing.T) {
	changes := map[string]change{
		"exports gone":        noExports,
		"exports not fetched": func(o *pool.Observation) { o.Exports = pool.Exports{Source: pool.SourceNotFetched} },
		"exports empty":       func(o *pool.Observation) { o.Exports = pool.Exports{Source: pool.SourceEmpty} },
		"exports malformed":   func(o *pool.Observation) { o.Exports = pool.Exports{Source: pool.SourceMalformed} },
		"exports incomplete": func(o *pool.Observation) {
			o.Exports = pool.Exports{Source: pool.SourceFound, Value: &v1alpha1.Exports{}}
		},
		"other region":  func(o *pool.Observation) { o.Managed.Group.Region = "eu-west-1" },
		"other cluster": func(o *pool.Observation) { o.Composite.Spec.Cluster.Exports.KubernetesClusterID = "other" },
		"other bucket":  func(o *pool.Observation) { o.Composite.Spec.Cluster.Exports.BootstrapBucket = "other" },
		"no zone left": func(o *pool.Observation) {
			o.Composite.Spec.Cluster.Exports.FailureDomains = map[string]v1alpha1.FailureDomain{"us-east-1z": {SubnetID: "subnet-z"}}
		},
		"secret gone":        noSecret,
		"secret not fetched": func(o *pool.Observation) { o.Bootstrap = pool.BootstrapData{Source: pool.SourceNotFetched} },
		"secret empty":       func(o *pool.Observation) { o.Bootstrap = pool.BootstrapData{Source: pool.SourceEmpty} },
		"secret malformed":   func(o *pool.Observation) { o.Bootstrap = pool.BootstrapData{Source: pool.SourceMalformed} },
		"secret unusable":    secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("#!/bin/sh\n")}),
		"secret ignition":    secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(ignitionPayload), Format: "ignition"}),
		"secret any format":  secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(secretPayload), Format: "powershell"}),
		"secret of labels": func(o *pool.Observation) {
			o.Composite.Spec.NodeLabels, o.Bootstrap.Format = map[string]string{"a": "b"}, "ignition"
		},
		"format known":      func(o *pool.Observation) { o.Composite.Spec.Bootstrap.Format = v1alpha1.BootstrapFormatCloudConfig },
		"new version":       newVersion,
		"roll":              newerTemplateExists,
		"image not pinned":  func(o *pool.Observation) { o.Composite.Spec.MachineImage.ID = nil },
		"image not found":   func(o *pool.Observation) { o.Composite.Spec.MachineImage.ID, o.AWS.Image.Asked = nil, true },
		"version gone":      func(o *pool.Observation) { o.Composite.Spec.KubernetesVersion = nil },
		"reads fail":        func(o *pool.Observation) { o.Input.AWS.Identity = v1beta1.IdentityPod; readFails(o) },
		"group gone in AWS": func(o *pool.Observation) { o.AWS.Group = pool.Read[*pool.Group]{Asked: true} },
		"group not in AWS":  func(o *pool.Observation) { o.Managed.Group.ARN, o.Managed.Group.TemplateID = "", "" },
		"group is stale":    func(o *pool.Observation) { o.Managed.Group.SentTemplateID = "" },
		"template without id": func(o *pool.Observation) {
			o.Managed.Templates[currentTemplate] = pool.ObservedTemplate{Resource: resource("LaunchTemplate")}
		},
		"nothing ready": func(o *pool.Observation) { o.Managed.Object.Ready, o.Managed.Group.Synced = false, false },
		"status lost":   func(o *pool.Observation) { o.Composite.Status = v1alpha1.MachinePoolStatus{} },
		"zero":          func(o *pool.Observation) { o.Composite.Spec.Replicas = new(int32(0)) },
	}
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		o := readPool()
		drawn := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 6, rapid.ID[string]).Draw(t, "changes")
		for _, name := range drawn {
			changes[name](o)
		}
		d := Of(o)
		if len(d.Refused) > 0 {
			return
		}
		if d.Group == nil {
			t.Fatalf("Of(...) after %v: the group is lost", drawn)
		}
		if d.Group.Name != groupNameInAWS {
			t.Errorf("Of(...) after %v: the group is renamed to %q", drawn, d.Group.Name)
		}
		if d.Group.Held == nil && (d.Group.TemplateID == "" || len(d.Group.Subnets) == 0) {
			t.Errorf("Of(...) after %v: the group is rendered without a template or a subnet: %+v", drawn, d.Group)
		}
		if d.Object == nil {
			t.Errorf("Of(...) after %v: the bootstrap object is lost", drawn)
		}
		if d.Object != nil && d.Object.Held == nil && (d.Object.Bucket != "demo-bootstrap" || d.Object.Key != "pool/demo-pool-0") {
			t.Errorf("Of(...) after %v: the bootstrap object moves to %s/%s", drawn, d.Object.Bucket, d.Object.Key)
		}
		if lives := hasTemplate(d, currentTemplate); !lives {
			t.Errorf("Of(...) after %v: the template that the group uses is lost", drawn)
		}
		if d.Common == nil {
			for _, tpl := range d.Templates {
				if tpl.Held == nil {
					t.Errorf("Of(...) after %v: %s is rendered out of nothing", drawn, tpl.Resource)
				}
			}
			if d.Group.Held == nil {
				t.Errorf("Of(...) after %v: the group is rendered out of nothing", drawn)
			}
		}
	})
}

func hasTemplate(d Decision, name string) bool {
	for _, t := range d.Templates {
		if t.Resource == name {
			return true
		}
	}
	return false
}

func TestCommon(t *testing.T) {
	o := newPool(func(o *pool.Observation) {
		o.Composite.Spec.Cluster.Exports.SecurityGroupIDs.Worker = []string{"sg-00000002", "sg-00000001", "sg-00000002"}
		o.Composite.Spec.AdditionalSecurityGroupIDs = []string{"sg-00000003", "sg-00000001", "sg-00000003"}
		o.Input.Tags = map[string]string{"team": "platform", "cost": "1", "a-input": "1"}
		o.Composite.Spec.AdditionalTags = map[string]string{"team": "a", "z-pool": "2"}
	})
	own := map[string]string{
		"kubernetes.io/cluster/demo-1960e37c":    "owned",
		"machinepool.fn.crossplane.io/cluster":   "demo-1960e37c",
		"machinepool.fn.crossplane.io/namespace": "team-a",
		"machinepool.fn.crossplane.io/name":      "demo-pool-0",
	}
	with := func(more map[string]string) map[string]string {
		out := maps.Clone(own)
		maps.Copy(out, more)
		return out
	}
	want := &Common{
		Region:           "us-east-1",
		InstanceProfile:  "demo-worker",
		SecurityGroupIDs: []string{"sg-00000002", "sg-00000001", "sg-00000003"},
		Tags:             with(map[string]string{"team": "a", "cost": "1", "a-input": "1", "z-pool": "2"}),
		ObjectTags:       with(map[string]string{"a-input": "1"}),
		LeftOutTags:      []string{"cost", "team", "z-pool"},
	}
	if diff := cmp.Diff(want, Of(o).Common); diff != "" {
		t.Errorf("Of(...).Common: -want, +got:\n%s", diff)
	}
	if got := Of(steadyPool(noExports)).Common; got != nil {
		t.Errorf("Of(...).Common without exports: %+v", got)
	}
}
