package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// A setting is what every lifecycle is tried in: where the composite lives, and whether the function reads AWS.
type setting struct {
	name    string
	cluster bool
	reads   bool
}

var settings = []setting{
	{name: "Namespaced"},
	{name: "NamespacedReadingAWS", reads: true},
	{name: "ClusterScoped", cluster: true},
	{name: "ClusterScopedReadingAWS", cluster: true, reads: true},
}

// inEverySetting runs a test once per setting, each in a world of its own.
func inEverySetting(t *testing.T, test func(t *testing.T, l *life)) {
	t.Helper()
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) { test(t, newLife(t, s)) })
	}
}

// A life is one pool and the world around it.
type life struct {
	*simulator.World

	t       tester
	setting setting
	last    simulator.Reconcile
}

// A tester is a test, or a property under test.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

const (
	exportsNamespace = "team-a"
	poolName         = "demo-pool-0"
	resourceGroup    = "autoscaling-group"
	resourceObject   = "bootstrap-object"
	resourcePolicy   = "scaling-policy"
)

func newLife(t tester, s setting) *life {
	t.Helper()
	reader := simulator.NewReader(newAccount())
	return newLifeOf(t, s, poolName, reader, NewFunction(WithAWSReader(reader)))
}

// newAccount is an AWS account with images and nothing else.
func newAccount() *simulator.AWS {
	aws := simulator.NewAWS(map[string]string{"subnet-0000000a": "us-east-1a", "subnet-0000000b": "us-east-1b", "subnet-0000000c": "us-east-1c"})
	// One that is found by its id alone.
	aws.Images = append(images(), simulator.Image{ID: "ami-0fedcba9876543210", Name: "own", Owner: "123456789012", Architecture: "x86_64"})
	return aws
}

// newLifeOf is the life of a pool of a name, in an account, by a function that reads it in some way.
func newLifeOf(t tester, s setting, name string, account *simulator.Reader, f simulator.Function) *life {
	t.Helper()
	metadata := object{"name": name}
	if !s.cluster {
		metadata["namespace"] = exportsNamespace
	}
	spec := object{
		"cluster":           object{"exportsFrom": object{"apiVersion": "example.org/v1", "kind": "Cluster", "name": "demo", "namespace": exportsNamespace}},
		"kubernetesVersion": "v1.34.1",
		"replicas":          float64(3),
		"bootstrap":         object{"dataSecretRef": object{"name": poolName, "namespace": exportsNamespace}},
	}
	identity := "Pod"
	if !s.reads {
		identity = "None"
		spec["machineImage"] = object{"id": "ami-0123456789abcdef0"}
	}
	xr := object{"apiVersion": "aws.machinepool.fn.crossplane.io/v1alpha1", "kind": "MachinePool", "metadata": metadata, "spec": spec}
	input := object{"apiVersion": "machinepool.fn.crossplane.io/v1beta1", "kind": "Input", "aws": object{"identity": identity}}
	if s.cluster {
		// A cluster-scoped pool has no namespace of its own.
		input["exportsFrom"] = object{"namespaces": []any{exportsNamespace}}
	}
	l := &life{t: t, setting: s, World: simulator.NewWorld(f, account, xr, input)}
	l.publish(defaultExports())
	l.rotate("first")
	return l
}

type object = map[string]any

func defaultExports() object {
	return object{
		"schema":                "captf.io/aws-cluster/v1",
		"region":                "us-east-1",
		"kubernetes_cluster_id": "demo-1960e37c",
		"failure_domains":       object{"us-east-1a": object{"subnet_id": "subnet-0000000a"}, "us-east-1b": object{"subnet_id": "subnet-0000000b"}},
		"security_group_ids":    object{"worker": []any{"sg-0e0000000000000e1"}},
		"instance_profiles":     object{"worker": "demo-worker"},
		"bootstrap_bucket":      "demo-bootstrap",
	}
}

// publish the cluster's exports. Nil: the cluster does not exist.
func (l *life) publish(exports any) {
	key := simulator.ObjectKey("Cluster", exportsNamespace, "demo")
	if exports == nil {
		delete(l.Objects, key)
		return
	}
	l.Objects[key] = object{"apiVersion": "example.org/v1", "kind": "Cluster", "metadata": object{"name": "demo", "namespace": exportsNamespace}, "status": object{"exports": exports}}
}

// zones that the cluster has, by their last letter.
func (l *life) zones(letters string) {
	exports, domains := defaultExports(), object{}
	for _, z := range letters {
		domains["us-east-1"+string(z)] = object{"subnet_id": "subnet-0000000" + string(z)}
	}
	exports["failure_domains"] = domains
	l.publish(exports)
}

// rotate the bootstrap data.
func (l *life) rotate(payload string) {
	l.Objects[simulator.ObjectKey("Secret", exportsNamespace, poolName)] = object{
		"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": poolName, "namespace": exportsNamespace},
		"data": object{"value": base64.StdEncoding.EncodeToString([]byte(cloudConfig(payload)))},
	}
}

func (l *life) loseSecret() {
	delete(l.Objects, simulator.ObjectKey("Secret", exportsNamespace, poolName))
}

func cloudConfig(payload string) string { return "#cloud-config\nfinal_message: " + payload + "\n" }

// set a field of the spec; nil removes it.
func (l *life) set(value any, path ...string) {
	l.Edit(func(spec object) { simulator.SetField(spec, value, path...) })
}

// run the function once, and hold what must hold after every run.
func (l *life) run(o simulator.ReconcileOptions) simulator.Reconcile {
	l.t.Helper()
	l.last = l.Reconcile(context.Background(), o)
	if l.last.Err != nil {
		l.t.Fatalf("Crossplane: %v", l.last.Err)
	}
	return l.last
}

// round of everyone: the function, the provider, AWS.
func (l *life) round() {
	l.t.Helper()
	l.run(simulator.ReconcileOptions{})
	l.PollAll()
	l.AWS.Tick()
}

// settle until nothing moves any more.
func (l *life) settle() { l.t.Helper(); l.settleIn(l.round) }

func (l *life) settleIn(round func()) {
	l.t.Helper()
	quiet, moved := 0, ""
	for range 80 {
		before := l.state()
		round()
		quiet++
		if after := l.state(); after != before {
			quiet, moved = 0, cmp.Diff(strings.Split(before, "\n"), strings.Split(after, "\n"))
		}
		// An operation shows nothing while it is under way.
		if quiet == 3 {
			return
		}
	}
	l.t.Fatalf("the pool does not settle; rollout: %v\nlast to move, -before, +after:\n%s", simulator.Field(l.XR, "status", "rollout"), moved)
}

// state of all that a test can see, to tell whether anything moves.
func (l *life) state() string {
	parts := []string{fmt.Sprint(l.XR["status"]), fmt.Sprint(l.AWS.Writes())}
	for _, name := range l.mrNames() {
		parts = append(parts, fmt.Sprint(l.MRs[name]["spec"], l.MRs[name]["status"]))
	}
	for _, g := range l.AWS.Groups {
		parts = append(parts, fmt.Sprint(g.Desired, l.members()))
		for _, m := range g.Members {
			parts = append(parts, m.Lifecycle)
		}
	}
	return strings.Join(parts, "\n")
}

func (l *life) mrNames() []string {
	var names []string
	for name := range l.MRs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// group of the pool in AWS, nil when there is none.
func (l *life) group() *simulator.Group {
	l.t.Helper()
	if len(l.AWS.Groups) > 1 {
		l.t.Fatalf("AWS has %d groups for one pool", len(l.AWS.Groups))
	}
	for _, g := range l.AWS.Groups {
		return g
	}
	return nil
}

// members that are not on their way out, sorted.
func (l *life) members() []string {
	var ids []string
	if g := l.group(); g != nil {
		for _, m := range g.Live() {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// stagedAt is the bucket and key that a new pool's bootstrap data is staged at.
func (l *life) stagedAt() string {
	if l.setting.cluster {
		return "demo-bootstrap/pool/" + poolName
	}
	return "demo-bootstrap/pool/" + exportsNamespace + "/" + poolName
}

func (l *life) staged() string {
	o, ok := l.AWS.S3[l.stagedAt()]
	if !ok {
		return ""
	}
	return string(o.Content)
}

func (l *life) condition(t string) simulator.Condition { return simulator.ConditionOf(l.XR, t) }

func (l *life) phase() string { return simulator.Text(l.XR, "status", "rollout", "phase") }

// settled is a pool that runs.
func (l *life) settled() *life {
	l.t.Helper()
	l.settle()
	if got := len(l.members()); got != 3 {
		l.t.Fatalf("a settled pool has %d members, want 3", got)
	}
	if got := l.condition("Ready"); got.Status != "True" {
		l.t.Fatalf("a settled pool is not ready: %+v", l.condition("InfrastructureReady"))
	}
	return l
}

// An outcome is what a change did to a pool, in the terms of docs/lifecycle.md.
type outcome struct {
	// Template is unchanged, has a new version, or was replaced.
	Template string
	// Kept and Launched members.
	Kept, Launched int
	// Refreshes that were started.
	Refreshes int
	// Desired capacity and its bounds.
	Min, Desired, Max int
	// Zones of the group, by their last letters.
	Zones string
	// Payload in S3.
	Payload string
}

// outcomeOf a change of a settled pool, once it has settled again.
func outcomeOf(l *life, change func(l *life)) outcome {
	l.t.Helper()
	g := l.group()
	templateBefore, versionsBefore, membersBefore, refreshesBefore := g.TemplateID, len(l.AWS.Templates[g.TemplateID].Versions), l.members(), len(g.Refreshes)
	change(l)
	l.settle()
	g = l.group()
	out := outcome{Template: "unchanged", Refreshes: len(g.Refreshes) - refreshesBefore, Min: g.Min, Desired: g.Desired, Max: g.Max}
	switch {
	case g.TemplateID != templateBefore:
		out.Template = "replaced"
		if _, left := l.AWS.Templates[templateBefore]; left || len(l.AWS.Templates) != 1 {
			out.Template = "replaced, and the old one left behind"
		}
	case len(l.AWS.Templates[g.TemplateID].Versions) == versionsBefore+1:
		out.Template = "new version"
	case len(l.AWS.Templates[g.TemplateID].Versions) > versionsBefore:
		out.Template = "several new versions"
	}
	for _, id := range l.members() {
		if slices.Contains(membersBefore, id) {
			out.Kept++
		} else {
			out.Launched++
		}
	}
	for _, s := range g.Subnets {
		out.Zones += strings.TrimPrefix(s, "subnet-0000000")
	}
	out.Payload = strings.TrimSpace(strings.TrimPrefix(l.staged(), "#cloud-config\nfinal_message: "))
	return out
}

// TestLifecycle is the table of docs/lifecycle.md, and what stands below it.
func TestLifecycle(t *testing.T) {
	// What a pool of three is like when nothing happened.
	still := outcome{Template: "unchanged", Kept: 3, Min: 3, Desired: 3, Max: 3, Zones: "ab", Payload: "first"}
	newVersion := func(o outcome) outcome { o.Template = "new version"; return o }
	rolled := func(o outcome) outcome {
		o.Template, o.Kept, o.Launched, o.Refreshes = "replaced", 0, 3, 1
		return o
	}
	with := func(o outcome, change func(o *outcome)) outcome { change(&o); return o }

	cases := map[string]struct {
		reason string
		// readsOnly rows make no sense without AWS reads.
		readsOnly bool
		before    func(l *life)
		change    func(l *life)
		want      outcome
	}{
		"BootstrapData": {
			reason: "A rotation only rewrites the S3 object.",
			change: func(l *life) { l.rotate("second") },
			want:   with(still, func(o *outcome) { o.Payload = "second" }),
		},
		"NodeLabels": {
			reason: "Labels make one new version, which new instances get.",
			change: func(l *life) { l.set(object{"example.com/tier": "db"}, "nodeLabels") },
			want:   newVersion(still),
		},
		"InstanceType": {
			reason: "Another instance type makes one new version.",
			change: func(l *life) { l.set("m6i.xlarge", "instanceType") },
			want:   newVersion(still),
		},
		"LookedUpImage": {
			reason:    "A newer image of the same version makes one new version and rolls nothing.",
			readsOnly: true,
			change: func(l *life) {
				l.AWS.Images = append(l.AWS.Images, simulator.Image{ID: "ami-0000000000000000f", Name: "capa-ami-ubuntu-24.04-v1.34.1-2", Owner: "819546954734", Architecture: "x86_64"})
			},
			want: newVersion(still),
		},
		"Spot": {
			reason: "Spot makes one new version; the group's capacity rebalancing changes in place.",
			change: func(l *life) { l.set(true, "spot") },
			want:   newVersion(still),
		},
		"RootVolume": {
			reason: "Another root volume makes one new version.",
			change: func(l *life) { l.set(float64(80), "rootVolume", "sizeGiB") },
			want:   newVersion(still),
		},
		"AdditionalSecurityGroups": {
			reason: "Another security group of the pool makes one new version.",
			change: func(l *life) { l.set([]any{"sg-0123456789abcdef0"}, "additionalSecurityGroupIDs") },
			want:   newVersion(still),
		},
		"WorkerSecurityGroups": {
			reason: "Another security group of the cluster makes one new version.",
			change: func(l *life) {
				exports := defaultExports()
				simulator.SetField(exports, []any{"sg-0e0000000000000e1", "sg-0e0000000000000e2"}, "security_group_ids", "worker")
				l.publish(exports)
			},
			want: newVersion(still),
		},
		"Tags": {
			reason: "Tags and what they tag change together, as the provider fails once on tags alone.",
			change: func(l *life) { l.set(object{"team": "a"}, "additionalTags") },
			want:   newVersion(still),
		},
		"KubernetesVersion": {
			reason: "Another version replaces the template, and the members by one rolling refresh.",
			change: func(l *life) { l.set("v1.34.2", "kubernetesVersion") },
			want:   rolled(still),
		},
		"KubernetesVersionSuffix": {
			reason: "The suffix of a version counts, even though it names the same image.",
			change: func(l *life) { l.set("v1.34.1+rke2r2", "kubernetesVersion") },
			want:   rolled(still),
		},
		"ExplicitImage": {
			reason: "Another pinned image rolls.",
			change: func(l *life) { l.set("ami-0fedcba9876543210", "machineImage", "id") },
			want:   rolled(still),
		},
		"Trigger": {
			reason: "The manual roll rolls.",
			change: func(l *life) { l.set("2026-11-29", "rollout", "trigger") },
			want:   rolled(still),
		},
		"MoreReplicas": {
			reason: "Without autoscaling the group grows in place.",
			change: func(l *life) { l.set(float64(5), "replicas") },
			want:   with(still, func(o *outcome) { o.Launched, o.Min, o.Desired, o.Max = 2, 5, 5, 5 }),
		},
		"FewerReplicas": {
			reason: "Without autoscaling the group shrinks in place.",
			change: func(l *life) { l.set(float64(1), "replicas") },
			want:   with(still, func(o *outcome) { o.Kept, o.Min, o.Desired, o.Max = 1, 1, 1, 1 }),
		},
		"NoReplicas": {
			reason: "A pool can be scaled to nothing.",
			change: func(l *life) { l.set(float64(0), "replicas") },
			want:   with(still, func(o *outcome) { o.Kept, o.Min, o.Desired, o.Max = 0, 0, 0, 0 }),
		},
		"ZoneAddedToCluster": {
			reason: "A pool without zones of its own keeps the cluster's zones of its first composition.",
			change: func(l *life) { l.zones("abc") },
			want:   still,
		},
		"ZoneRemovedFromCluster": {
			reason: "A zone that the cluster lost has no subnet to name any more; AWS moves what ran there.",
			change: func(l *life) { l.zones("a") },
			want:   with(still, func(o *outcome) { o.Zones, o.Kept, o.Launched = "a", 2, 1 }),
		},
		"ZoneRemovedFromClusterAndBack": {
			reason: "A zone of the record joins again when the cluster has it again.",
			before: func(l *life) { l.zones("a"); l.settle(); l.zones("abc") },
			change: func(l *life) { l.settle() },
			want:   still,
		},
		"ZoneAddedToFailureDomains": {
			reason: "An added zone moves no member: rebalancing is suspended.",
			before: func(l *life) { l.set([]any{"us-east-1a"}, "failureDomains") },
			change: func(l *life) { l.set([]any{"us-east-1a", "us-east-1b"}, "failureDomains") },
			want:   still,
		},
		"ZoneRemovedFromFailureDomains": {
			reason: "What ran in a removed zone is replaced elsewhere, without a refresh.",
			before: func(l *life) { l.set([]any{"us-east-1a", "us-east-1b"}, "failureDomains") },
			change: func(l *life) { l.set([]any{"us-east-1a"}, "failureDomains") },
			want:   with(still, func(o *outcome) { o.Zones, o.Kept, o.Launched = "a", 2, 1 }),
		},
		"AutoscalingOn": {
			reason: "Bounds come from autoscaling; the desired capacity stays.",
			change: func(l *life) {
				l.set(object{"minReplicas": float64(2), "maxReplicas": float64(5)}, "autoscaling")
			},
			want: with(still, func(o *outcome) { o.Min, o.Max = 2, 5 }),
		},
		"AutoscaledDesiredIsNeverReset": {
			reason: "Whoever moved the desired capacity within the bounds keeps what they set, whatever is edited then.",
			before: func(l *life) {
				l.set(object{"minReplicas": float64(2), "maxReplicas": float64(5)}, "autoscaling")
				l.settle()
				if err := l.AWS.SetDesired(l.group().Name, 5); err != nil {
					l.t.Fatal(err)
				}
			},
			change: func(l *life) {
				l.set(float64(2), "replicas")
				l.set("m6i.xlarge", "instanceType")
				l.rotate("second")
			},
			want: outcome{Template: "new version", Kept: 5, Min: 2, Desired: 5, Max: 5, Zones: "ab", Payload: "second"},
		},
		"AutoscalingOff": {
			reason: "Without autoscaling the bounds are replicas again, which moves the desired capacity.",
			before: func(l *life) {
				l.set(object{"minReplicas": float64(2), "maxReplicas": float64(5)}, "autoscaling")
				l.settle()
				if err := l.AWS.SetDesired(l.group().Name, 5); err != nil {
					l.t.Fatal(err)
				}
			},
			change: func(l *life) { l.set(nil, "autoscaling") },
			want:   still,
		},
		"ReplicasWhileAutoscaled": {
			reason: "While autoscaled, replicas move nothing.",
			before: func(l *life) {
				l.set(object{"minReplicas": float64(2), "maxReplicas": float64(5)}, "autoscaling")
			},
			change: func(l *life) { l.set(float64(5), "replicas") },
			want:   with(still, func(o *outcome) { o.Min, o.Max = 2, 5 }),
		},
		"ClusterID": {
			reason: "Another cluster id is another cluster: nothing is tagged for it or renamed, and the pool stays as it is.",
			change: func(l *life) {
				exports := defaultExports()
				exports["kubernetes_cluster_id"] = "demo-another"
				l.publish(exports)
			},
			want: still,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inEverySetting(t, func(t *testing.T, l *life) {
				if tc.readsOnly && !l.setting.reads {
					t.Skip("needs AWS reads")
				}
				l.settled()
				if tc.before != nil {
					tc.before(l)
					l.settle()
				}
				name := l.group().Name
				if diff := cmp.Diff(tc.want, outcomeOf(l, tc.change)); diff != "" {
					t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
				}
				// The provider takes a changed name up when it restarts.
				if got := simulator.Text(l.MR(resourceGroup), "metadata", "annotations", "crossplane.io/external-name"); got != name {
					t.Errorf("the group was renamed from %s to %s", name, got)
				}
			})
		})
	}
}

// TestRotationReachesS3WithinOneRun holds the promise that nodes join with: the next run after a rotation sends it.
func TestRotationReachesS3WithinOneRun(t *testing.T) {
	cases := map[string]struct {
		reason string
		world  func(l *life)
	}{
		"Steady": {
			reason: "Nothing else going on.",
			world:  func(*life) {},
		},
		"WithoutExports": {
			reason: "Nodes still join while the cluster's exports are gone.",
			world:  func(l *life) { l.publish(nil) },
		},
		"WithoutImage": {
			reason: "An image that cannot be found holds up the template and nothing else.",
			world:  func(l *life) { l.set("v9.9.9", "kubernetesVersion"); l.set(nil, "machineImage") },
		},
		"InARoll": {
			reason: "A roll does not hold up a rotation: the new nodes join with it.",
			world:  func(l *life) { l.set("again", "rollout", "trigger") },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inEverySetting(t, func(t *testing.T, l *life) {
				l.settled()
				tc.world(l)
				l.round()
				l.rotate("second")
				l.run(simulator.ReconcileOptions{})
				// The operation of the round before may still be under way.
				l.Poll(resourceObject)
				l.Poll(resourceObject)
				if diff := cmp.Diff(cloudConfig("second"), l.staged()); diff != "" {
					t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestInputsGone holds "Never lose the group": what a pool is made of goes, and nothing changes and nothing is deleted.
func TestInputsGone(t *testing.T) {
	cases := map[string]struct {
		reason    string
		readsOnly bool
		gone      func(l *life)
		// condition that must say it.
		condition string
	}{
		"ExportsObjectGone": {
			reason:    "The cluster's object is deleted.",
			gone:      func(l *life) { l.publish(nil) },
			condition: "ClusterExportsAvailable",
		},
		"ExportsEmpty": {
			reason:    "The cluster publishes nothing.",
			gone:      func(l *life) { l.publish(object{}) },
			condition: "ClusterExportsAvailable",
		},
		"ExportsMalformed": {
			reason:    "The cluster publishes something else.",
			gone:      func(l *life) { l.publish("soon") },
			condition: "ClusterExportsAvailable",
		},
		"ExportsLostAField": {
			reason: "The cluster's exports lack one field.",
			gone: func(l *life) {
				exports := defaultExports()
				delete(exports, "bootstrap_bucket")
				l.publish(exports)
			},
			condition: "ClusterExportsAvailable",
		},
		"ExportsLostAllZones": {
			reason:    "The cluster has none of the pool's zones left.",
			gone:      func(l *life) { l.zones("c") },
			condition: "ClusterExportsAvailable",
		},
		"SecretGone": {
			reason:    "The bootstrap Secret is deleted.",
			gone:      func(l *life) { l.loseSecret() },
			condition: "BootstrapConfigReady",
		},
		"SecretAndExportsGone": {
			reason:    "Both are gone.",
			gone:      func(l *life) { l.loseSecret(); l.publish(nil) },
			condition: "BootstrapConfigReady",
		},
		"SecretEmpty": {
			reason: "The bootstrap Secret lost its key.",
			gone: func(l *life) {
				l.Objects[simulator.ObjectKey("Secret", exportsNamespace, poolName)] = object{"data": object{}}
			},
			condition: "BootstrapConfigReady",
		},
		"ImageDeregistered": {
			reason:    "The image of the pool's version is deregistered.",
			readsOnly: true,
			gone:      func(l *life) { l.AWS.RemoveImage("ami-00000000000000001") },
			condition: "ImageResolved",
		},
		"ImageLookupDenied": {
			reason:    "The function may not look for images any more.",
			readsOnly: true,
			gone:      func(l *life) { l.Reader.Fail(simulator.PartImage, pool.ReadAccessDenied) },
			condition: "ImageResolved",
		},
		"NewPinNotFound": {
			reason:    "The pool is pinned to an image that AWS does not have.",
			readsOnly: true,
			gone:      func(l *life) { l.set("ami-00000000000000009", "machineImage", "id") },
			condition: "ImageResolved",
		},
		"NewPinNotFoundThenUnread": {
			reason:    "And AWS cannot be asked any more: a read that fails does not make the image be there.",
			readsOnly: true,
			gone: func(l *life) {
				l.set("ami-00000000000000009", "machineImage", "id")
				l.round()
				l.Reader.Fail(simulator.PartImage, pool.ReadThrottled)
			},
			condition: "ImageResolved",
		},
		"RootDeviceOfAnotherName": {
			reason:    "The root device is named as the image's is not.",
			readsOnly: true,
			gone:      func(l *life) { l.set("/dev/xvdb", "machineImage", "rootDeviceName") },
			condition: "ImageResolved",
		},
		"InstanceTypeOfAnotherArchitecture": {
			reason:    "The instance type cannot boot the image.",
			readsOnly: true,
			gone:      func(l *life) { l.set("m7g.large", "instanceType") },
			condition: "ImageResolved",
		},
		"ImageOfNewVersionNotFound": {
			reason:    "There is no image of the version that the pool is to roll to.",
			gone:      func(l *life) { l.set("v9.9.9", "kubernetesVersion"); l.set(nil, "machineImage") },
			condition: "ImageResolved",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inEverySetting(t, func(t *testing.T, l *life) {
				if tc.readsOnly && !l.setting.reads {
					t.Skip("needs AWS reads")
				}
				l.settled()
				l.set(object{"minReplicas": float64(2), "maxReplicas": float64(5)}, "autoscaling")
				l.set([]any{object{"name": "drain", "transition": "Terminating"}}, "lifecycleHooks")
				l.settle()
				before, writes := specs(l), l.AWS.Writes()
				tc.gone(l)
				for range 5 {
					l.round()
					if l.last.Fatal || len(l.last.Deleted) > 0 {
						t.Fatalf("%s\nfatal: %t, deleted: %v", tc.reason, l.last.Fatal, l.last.Deleted)
					}
				}
				if diff := cmp.Diff(before, specs(l)); diff != "" {
					t.Errorf("%s\nmanaged resources changed, -want, +got:\n%s", tc.reason, diff)
				}
				if got := l.AWS.Writes() - writes; got != 0 {
					t.Errorf("%s\n%d calls of AWS", tc.reason, got)
				}
				if got := l.condition(tc.condition); got.Status != "False" || got.Message == "" {
					t.Errorf("%s\ncondition %+v, want it False with a message", tc.reason, got)
				}
				if got := l.condition("Ready"); got.Status != "True" {
					t.Errorf("%s\nthe pool is not ready any more: %+v", tc.reason, got)
				}
			})
		})
	}
}

// specs of all managed resources with the annotations that the function sends, by composed resource name.
// TestAnImagesOwnRootDeviceStays holds that a pool whose image's root device is not the default's has its root volume on it,
// and keeps it while AWS does not answer. A template that changes and changes back launches from whichever is the latest.
func TestAnImagesOwnRootDeviceStays(t *testing.T) {
	for _, s := range settings {
		if !s.reads {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			l := newLife(t, s)
			l.AWS.Images[0].RootDevice = "/dev/xvda"
			l.settled()
			before := specs(l)
			devices := 0
			for _, mr := range l.Composed() {
				mappings, _ := simulator.Field(mr, "spec", "forProvider", "blockDeviceMappings").([]any)
				for _, m := range mappings {
					devices++
					if got := simulator.Text(m.(object), "deviceName"); got != "/dev/xvda" {
						t.Errorf("the root volume is on %s, and the image's root device is /dev/xvda", got)
					}
				}
			}
			if devices != 1 {
				t.Fatalf("%d root volumes", devices)
			}
			l.Reader.Fail(simulator.PartImage, pool.ReadThrottled)
			for range 3 {
				l.round()
			}
			if diff := cmp.Diff(before, specs(l)); diff != "" {
				t.Errorf("a read that fails changes the pool: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestAPoolOnAPinnedImageThatIsGoneGoesOn holds that a pool keeps working on the image that it is pinned to.
func TestAPoolOnAPinnedImageThatIsGoneGoesOn(t *testing.T) {
	for _, s := range settings {
		if !s.reads {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			l := newLife(t, s)
			l.set("ami-0fedcba9876543210", "machineImage", "id")
			l.settled()
			if got := l.condition("ImageResolved"); got.Status != "True" {
				t.Fatalf("the image is there: %+v", got)
			}
			before := specs(l)
			l.AWS.RemoveImage("ami-0fedcba9876543210")
			for range 3 {
				l.round()
			}
			if diff := cmp.Diff(before, specs(l)); diff != "" {
				t.Errorf("an image that is gone changes the pool: -want, +got:\n%s", diff)
			}
			if got := l.condition("ImageResolved"); got.Status != "False" || got.Reason != "NotFound" || !strings.Contains(got.Message, "ami-0fedcba9876543210") {
				t.Errorf("that the image is gone is not told: %+v", got)
			}
			l.set([]any{object{"name": "drain", "transition": "Terminating"}}, "lifecycleHooks")
			l.set("m6i.xlarge", "instanceType")
			l.settle()
			if diff := cmp.Diff(before, specs(l)); diff == "" {
				t.Error("the pool takes no change any more")
			}
			if got := l.condition("Ready"); got.Status != "True" {
				t.Errorf("the pool is not ready any more: %+v", got)
			}
		})
	}
}

func specs(l *life) map[string]any {
	out := map[string]any{}
	for name, mr := range l.Composed() {
		annotations, _ := simulator.Field(mr, "metadata", "annotations").(object)
		own := object{}
		for k, v := range annotations {
			if !strings.Contains(k, "external-create") {
				own[k] = v
			}
		}
		out[name] = object{"spec": mr["spec"], "annotations": own, "apiVersion": mr["apiVersion"]}
	}
	return out
}

// TestRolls changes the roll key again while a roll is on, after every number of rounds that a roll can take.
func TestRolls(t *testing.T) {
	cases := map[string]struct {
		reason string
		// triggers, one after the other.
		triggers []string
	}{
		"AB":   {reason: "A roll ends on the new template.", triggers: []string{"b"}},
		"ABA":  {reason: "A roll that is taken back ends on the first key.", triggers: []string{"b", ""}},
		"ABC":  {reason: "A second change goes straight to the newest key.", triggers: []string{"b", "c"}},
		"ABAB": {reason: "Back and forth ends on the last.", triggers: []string{"b", "", "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inEverySetting(t, func(t *testing.T, l *life) {
				// Later than this a roll of three is over.
				for rounds := range 9 {
					l := newLife(t, l.setting).settled()
					for _, trigger := range tc.triggers {
						l.set(trigger, "rollout", "trigger")
						for range rounds {
							l.roundInRoll()
						}
					}
					l.settleIn(l.roundInRoll)
					want := l.group().Name + "-" + simulator.Text(l.XR, "status", "rollout", "rollKey")
					template := l.AWS.Templates[l.group().TemplateID]
					if template == nil || !strings.HasPrefix(template.Name, want) || len(l.AWS.Templates) != 1 {
						t.Fatalf("%s\nafter %d rounds each: the group is on %+v of %d templates, want %s alone", tc.reason, rounds, template, len(l.AWS.Templates), want)
					}
					if diff := cmp.Diff(map[string]int{template.ID: 3}, l.group().MemberTemplates()); diff != "" {
						t.Errorf("%s\nafter %d rounds each: members by template, -want, +got:\n%s", tc.reason, rounds, diff)
					}
					if got := l.phase(); got != "Idle" {
						t.Errorf("%s\nafter %d rounds each: phase %s, want Idle", tc.reason, rounds, got)
					}
				}
			})
		})
	}
}

// roundInRoll is a round in which nothing may be lost and the pool stays ready.
func (l *life) roundInRoll() {
	l.t.Helper()
	l.round()
	if l.last.Fatal {
		l.t.Fatalf("refused: %v", l.last.Response.GetResults())
	}
	if got := l.condition("Ready"); got.Status != "True" {
		l.t.Fatalf("the pool is not ready in phase %s: %+v", l.phase(), l.condition("InfrastructureReady"))
	}
	if got := l.group().Failures; got > 0 {
		l.t.Fatalf("%d launches failed in phase %s", got, l.phase())
	}
}

// TestEditsInARoll holds that what is edited while a roll is on, after every number of rounds that it can take, neither
// starts it over nor breaks it.
func TestEditsInARoll(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(l *life)
		// members that the pool has in the end.
		members int
	}{
		"Spot":        {reason: "Spot makes a version of the template that the roll is to.", edit: func(l *life) { l.set(true, "spot") }, members: 3},
		"NodeLabels":  {reason: "So do labels.", edit: func(l *life) { l.set(object{"example.com/tier": "db"}, "nodeLabels") }, members: 3},
		"ZoneRemoved": {reason: "A zone that is removed updates the group.", edit: func(l *life) { l.zones("a") }, members: 3},
		"Replicas":    {reason: "So does another size.", edit: func(l *life) { l.set(float64(4), "replicas") }, members: 4},
		"Autoscaling": {
			reason: "And autoscaling.", members: 3,
			edit: func(l *life) {
				l.set(object{"minReplicas": float64(2), "maxReplicas": float64(5)}, "autoscaling")
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inEverySetting(t, func(t *testing.T, l *life) {
				for rounds := range 9 {
					l := newLife(t, l.setting)
					l.Quick = true
					l.settled()
					l.set("b", "rollout", "trigger")
					for range rounds {
						l.roundInRoll()
					}
					tc.edit(l)
					l.settle()
					g := l.group()
					if len(g.Refreshes) != 1 || g.Refreshes[0].Status != simulator.RefreshSuccessful {
						t.Errorf("%s\nafter %d rounds: refreshes %+v, want one that succeeds", tc.reason, rounds, g.Refreshes)
					}
					if diff := cmp.Diff(map[string]int{g.TemplateID: tc.members}, g.MemberTemplates()); diff != "" || len(l.AWS.Templates) != 1 || l.phase() != "Idle" {
						t.Errorf("%s\nafter %d rounds: phase %s, %d templates, members by template -want, +got:\n%s", tc.reason, rounds, l.phase(), len(l.AWS.Templates), diff)
					}
				}
			})
		})
	}
}

// TestOldTemplateOutlivesTheRoll holds the order of a roll, step by step: Crossplane deletes before it applies.
func TestOldTemplateOutlivesTheRoll(t *testing.T) {
	inEverySetting(t, func(t *testing.T, l *life) {
		l.settled()
		old, oldKey := l.group().TemplateID, simulator.Text(l.XR, "status", "rollout", "rollKey")
		deleting := func() bool {
			return simulator.Text(l.MR("launch-template-"+oldKey), "metadata", "deletionTimestamp") != ""
		}
		l.set("b", "rollout", "trigger")
		for range 40 {
			// Crossplane can come again before the provider has so much as seen what it sent.
			l.run(simulator.ReconcileOptions{})
			l.run(simulator.ReconcileOptions{})
			if deleting() && l.group().TemplateID == old {
				t.Fatalf("the old template is dropped before the group in AWS has left it")
			}
			l.round()
			g := l.group()
			_, exists := l.AWS.Templates[old]
			needed := g.TemplateID == old || l.setting.reads && (g.MemberTemplates()[old] > 0)
			if needed && !exists {
				t.Fatalf("the old template is gone while the group has %s and members by template are %v", g.TemplateID, g.MemberTemplates())
			}
		}
		if _, exists := l.AWS.Templates[old]; exists {
			t.Errorf("the old template is never dropped")
		}
	})
}

// TestSkippedMemberKeepsItsTemplate holds that a template stays for a member that no refresh replaces, and that the pool
// says so.
func TestSkippedMemberKeepsItsTemplate(t *testing.T) {
	for _, s := range settings {
		if !s.reads {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			l := newLife(t, s).settled()
			old, member := l.group().TemplateID, l.group().Members[0]
			member.Protected = true
			l.set("b", "rollout", "trigger")
			l.settle()
			if l.AWS.Templates[old] == nil || len(l.AWS.Templates) != 2 {
				t.Errorf("the template of a protected member is gone: %v", l.AWS.Templates)
			}
			if diff := cmp.Diff(map[string]int{old: 1, l.group().TemplateID: 2}, l.group().MemberTemplates()); diff != "" {
				t.Errorf("members by template, -want, +got:\n%s", diff)
			}
			if l.phase() != "Stalled" || !strings.Contains(simulator.Text(l.XR, "status", "rollout", "message"), member.ID) {
				t.Errorf("rollout is %v, want it Stalled and to name %s", simulator.Field(l.XR, "status", "rollout"), member.ID)
			}
			member.Protected = false
			l.AWS.Terminate(member.ID)
			l.settle()
			if l.AWS.Templates[old] != nil || l.phase() != "Idle" {
				t.Errorf("the old template stays once nothing uses it, phase %s", l.phase())
			}
		})
	}
}

// TestBadSpecInARoll holds that a fatal result leaves everything as it is, and that the roll goes on when the spec is good
// again.
func TestBadSpecInARoll(t *testing.T) {
	inEverySetting(t, func(t *testing.T, l *life) {
		for rounds := range 8 {
			l := newLife(t, l.setting).settled()
			l.set("b", "rollout", "trigger")
			for range rounds {
				l.round()
			}
			before := specs(l)
			l.set("io9", "rootVolume", "type")
			for range 3 {
				l.round()
				if !l.last.Fatal {
					t.Fatalf("after %d rounds: a bad spec is not refused", rounds)
				}
			}
			if diff := cmp.Diff(before, specs(l)); diff != "" {
				t.Errorf("after %d rounds: a refused spec changed managed resources, -want, +got:\n%s", rounds, diff)
			}
			if got := l.condition("InputsValid"); got.Status != "False" || !strings.Contains(got.Message, "spec.rootVolume.type") {
				t.Errorf("after %d rounds: InputsValid is %+v, want it to name spec.rootVolume.type", rounds, got)
			}
			if got := l.condition("RollingOut"); got.Reason == "FatalError" {
				t.Errorf("after %d rounds: a condition that was known is Unknown after a fatal response", rounds)
			}
			l.set("gp3", "rootVolume", "type")
			l.settle()
			g := l.group()
			if diff := cmp.Diff(map[string]int{g.TemplateID: 3}, g.MemberTemplates()); diff != "" || len(l.AWS.Templates) != 1 || l.phase() != "Idle" {
				t.Errorf("after %d rounds: the roll did not end: phase %s, %d templates, members by template -want, +got:\n%s", rounds, l.phase(), len(l.AWS.Templates), diff)
			}
		}
	})
}

// TestScalingPolicy comes and goes as autoscaling and its scaler say.
func TestScalingPolicy(t *testing.T) {
	type policy struct {
		Composed bool
		Target   float64
		Reason   string
	}
	autoscaling := func(more object) object {
		a := object{"minReplicas": float64(2), "maxReplicas": float64(5)}
		maps.Copy(a, more)
		return a
	}
	cases := map[string]struct {
		reason string
		steps  []any
		want   policy
	}{
		"Off":        {reason: "No autoscaling, no policy.", steps: []any{nil}, want: policy{Reason: "Disabled"}},
		"Native":     {reason: "The default scaler is ours.", steps: []any{autoscaling(nil)}, want: policy{Composed: true, Target: 60, Reason: "PolicyActive"}},
		"Target":     {reason: "The target changes in place.", steps: []any{autoscaling(nil), autoscaling(object{"targetCPUPercent": float64(75)})}, want: policy{Composed: true, Target: 75, Reason: "PolicyActive"}},
		"External":   {reason: "Something else scales.", steps: []any{autoscaling(object{"scaler": "External"})}, want: policy{Reason: "ExternalScaler"}},
		"ToExternal": {reason: "The policy goes when something else takes over.", steps: []any{autoscaling(nil), autoscaling(object{"scaler": "External"})}, want: policy{Reason: "ExternalScaler"}},
		"OffAgain":   {reason: "The policy goes with autoscaling.", steps: []any{autoscaling(nil), nil}, want: policy{Reason: "Disabled"}},
		"BackAgain":  {reason: "The policy comes back.", steps: []any{autoscaling(nil), nil, autoscaling(nil)}, want: policy{Composed: true, Target: 60, Reason: "PolicyActive"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inEverySetting(t, func(t *testing.T, l *life) {
				l.settled()
				for _, step := range tc.steps {
					l.set(step, "autoscaling")
					l.settle()
				}
				_, composed := l.Composed()[resourcePolicy]
				got := policy{Composed: composed, Reason: l.condition("AutoscalingActive").Reason}
				if p, ok := l.group().Policies["cpu-target-tracking"]; ok {
					got.Target, _ = simulator.Field(p, "targetTrackingConfiguration", "targetValue").(float64)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestPolicyAndHooksWaitForTheGroup holds that neither is composed before the group is observed in AWS: before that every
// try fails.
func TestPolicyAndHooksWaitForTheGroup(t *testing.T) {
	inEverySetting(t, func(t *testing.T, l *life) {
		l.set(object{"minReplicas": float64(3), "maxReplicas": float64(5)}, "autoscaling")
		l.set([]any{object{"name": "drain", "transition": "Terminating"}}, "lifecycleHooks")
		for range 20 {
			inAWS := simulator.Text(l.Composed()[resourceGroup], "status", "atProvider", "arn") != ""
			l.round()
			for _, name := range []string{resourcePolicy, "lifecycle-hook-drain"} {
				if _, composed := l.last.Response.GetDesired().GetResources()[name]; composed && !inAWS {
					t.Fatalf("%s is composed before the group is observed in AWS", name)
				}
			}
		}
		if g := l.group(); len(g.Policies) != 1 || len(g.Hooks) != 1 {
			t.Errorf("the group has policies %v and hooks %v, want one each", g.Policies, g.Hooks)
		}
	})
}

// TestZonesOutliveLostStatus holds that the record of zones survives each of the places that it is kept in.
func TestZonesOutliveLostStatus(t *testing.T) {
	cases := map[string]struct {
		reason string
		lose   func(l *life)
	}{
		"Status": {
			reason: "A composite that was restored without status.",
			lose:   func(l *life) { l.LoseStatus() },
		},
		"Annotations": {
			reason: "Managed resources that were restored without annotations.",
			lose:   func(l *life) { l.DropAnnotations() },
		},
		"StatusAndAnnotations": {
			reason: "Both: the group's own subnets are the record of last resort.",
			lose:   func(l *life) { l.LoseStatus(); l.DropAnnotations() },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inEverySetting(t, func(t *testing.T, l *life) {
				l.settled()
				l.zones("abc")
				l.settle()
				before, members := specs(l), l.members()
				tc.lose(l)
				l.settle()
				if diff := cmp.Diff(before, specs(l)); diff != "" {
					t.Errorf("%s\nmanaged resources, -want, +got:\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(members, l.members()); diff != "" {
					t.Errorf("%s\nmembers, -want, +got:\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff([]string{"us-east-1a", "us-east-1b"}, simulator.Texts(l.XR, "status", "inheritedFailureDomains")); diff != "" {
					t.Errorf("%s\nrecord, -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestExternalNames holds that a template's id is sent back from the first run that sees one, since the provider does not
// persist it, and that a pool therefore outlives restarts of the provider.
func TestExternalNames(t *testing.T) {
	inEverySetting(t, func(t *testing.T, l *life) {
		for range 12 {
			l.run(simulator.ReconcileOptions{})
			for name, mr := range l.Composed() {
				id := simulator.Text(mr, "status", "atProvider", "id")
				if !strings.HasPrefix(name, "launch-template-") || id == "" {
					continue
				}
				if got := simulator.Text(mr, "metadata", "annotations", "crossplane.io/external-name"); got != id {
					t.Fatalf("%s has external name %q once its id %s is observed", name, got, id)
				}
			}
			l.PollAll()
			l.AWS.Tick()
		}
		l.settled()
		want := map[string]string{
			resourceGroup: l.group().Name,
			// provider-aws gives an Object none.
			resourceObject: "",
		}
		for name, id := range want {
			if got := simulator.Text(l.MR(name), "metadata", "annotations", "crossplane.io/external-name"); got != id {
				t.Errorf("%s has external name %q, want %q", name, got, id)
			}
		}
		writes := l.AWS.Writes()
		l.Provider.Restart()
		l.settle()
		if got := l.AWS.Writes() - writes; got != 0 {
			t.Errorf("a restart of the provider made %d calls of AWS", got)
		}
	})
}

// TestReadyLatches holds that status.ready, once true, stays: Cluster API takes it for "was provisioned".
func TestReadyLatches(t *testing.T) {
	inEverySetting(t, func(t *testing.T, l *life) {
		ready := func() bool { r, _ := simulator.Field(l.XR, "status", "ready").(bool); return r }
		provisioned := func() bool {
			p, _ := simulator.Field(l.XR, "status", "initialization", "provisioned").(bool)
			return p
		}
		l.run(simulator.ReconcileOptions{})
		if ready() || provisioned() {
			t.Fatalf("a pool of which nothing exists is ready")
		}
		l.settled()
		if !ready() || !provisioned() {
			t.Fatalf("a settled pool is not ready")
		}
		for what, happens := range map[string]func(){
			"the group was deleted":     func() { l.AWS.RemoveGroup(l.group().Name) },
			"every instance was lost":   func() { l.AWS.Terminate(l.members()[0]) },
			"the pool was scaled to 0":  func() { l.set(float64(0), "replicas") },
			"the exports are gone":      func() { l.publish(nil) },
			"the group cannot be read":  func() { l.Reader.Fail(simulator.PartGroup, pool.ReadThrottled) },
			"the provider is restarted": func() { l.Provider.Restart() },
		} {
			if l.group() != nil && len(l.members()) > 0 {
				happens()
			}
			for range 4 {
				l.round()
				if !ready() || !provisioned() {
					t.Fatalf("status.ready is taken back when %s", what)
				}
			}
		}
	})
}

// TestSteadyState holds that a pool in which nothing happens makes no event, no call and byte-equal responses.
func TestSteadyState(t *testing.T) {
	inEverySetting(t, func(t *testing.T, l *life) {
		l.settled()
		l.set(object{"minReplicas": float64(2), "maxReplicas": float64(5)}, "autoscaling")
		l.settle()
		writes := l.AWS.Writes()
		want := canonical(t, l.last.Response)
		for range 5 {
			l.round()
			if got := l.last.Response.GetResults(); len(got) > 0 {
				t.Errorf("events in a steady state: %v", got)
			}
			if diff := cmp.Diff(want, canonical(t, l.last.Response)); diff != "" {
				t.Errorf("responses differ in a steady state, -want, +got:\n%s", diff)
			}
		}
		if got := l.AWS.Writes() - writes; got != 0 {
			t.Errorf("%d calls of AWS in a steady state", got)
		}
	})
}

// canonical bytes of a response.
func canonical(t tester, rsp *fnv1.RunFunctionResponse) string {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(rsp)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestGroupDeletedOutOfBand holds that a pool whose group someone deleted says so, and is whole again.
func TestGroupDeletedOutOfBand(t *testing.T) {
	inEverySetting(t, func(t *testing.T, l *life) {
		l.settled()
		name := l.group().Name
		l.AWS.RemoveGroup(name)
		l.run(simulator.ReconcileOptions{})
		if got := simulator.Text(l.XR, "status", "health", "state"); l.setting.reads && got != "terminated" {
			t.Errorf("health of a pool without group is %s, want terminated", got)
		}
		l.settle()
		if g := l.group(); g == nil || g.Name != name || len(l.members()) != 3 {
			t.Errorf("the group did not come back as it was: %+v", g)
		}
		if got := simulator.Text(l.XR, "status", "health", "state"); l.setting.reads && got != "running" {
			t.Errorf("health is %s, want running", got)
		}
	})
}

// TestFailedReads holds "Fail static on reads": no failed, partial or foreign reading shortens a list.
func TestFailedReads(t *testing.T) {
	cases := map[string]struct {
		reason string
		fail   func(l *life)
	}{
		"GroupThrottled":  {reason: "The group cannot be read.", fail: func(l *life) { l.Reader.Fail(simulator.PartGroup, pool.ReadThrottled) }},
		"InstancesDenied": {reason: "EC2 cannot be read.", fail: func(l *life) { l.Reader.Fail(simulator.PartInstances, pool.ReadAccessDenied) }},
		"InstancesCut":    {reason: "EC2 answers with less than the group has.", fail: func(l *life) { l.Reader.Cut(2) }},
		"AnotherAccount":  {reason: "Another account has neither the group nor its instances.", fail: func(l *life) { l.Reader.Lose() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, s := range settings {
				if !s.reads {
					continue
				}
				t.Run(s.name, func(t *testing.T) {
					l := newLife(t, s).settled()
					ids, instances := simulator.Texts(l.XR, "status", "providerIDList"), simulator.Field(l.XR, "status", "instances")
					tc.fail(l)
					for range 3 {
						l.round()
					}
					if diff := cmp.Diff(ids, simulator.Texts(l.XR, "status", "providerIDList")); diff != "" || len(ids) != 3 {
						t.Errorf("%s\nproviderIDList, -want, +got:\n%s", tc.reason, diff)
					}
					if diff := cmp.Diff(instances, simulator.Field(l.XR, "status", "instances")); diff != "" {
						t.Errorf("%s\ninstances, -want, +got:\n%s", tc.reason, diff)
					}
					if healthy, _ := simulator.Field(l.XR, "status", "health", "healthy").(bool); healthy {
						t.Errorf("%s\nthe pool claims to be healthy", tc.reason)
					}
				})
			}
		})
	}
}

// A restore that drops annotations, with the provider first: its initializer names the group after its managed resource,
// which must not be taken for the group's name.
func TestDroppedAnnotationsKeepTheGroupsName(t *testing.T) {
	l := newLife(t, settings[1]).settled()
	name := l.group().Name
	l.DropAnnotations()
	l.PollAll()
	for range 3 {
		l.run(simulator.ReconcileOptions{})
	}
	if got := simulator.Text(l.MR(resourceGroup), "metadata", "annotations", "crossplane.io/external-name"); got != name {
		t.Errorf("the function sends external name %q, the group is %q", got, name)
	}
	l.Provider.Restart()
	l.PollAll()
	l.PollAll()
	if len(l.AWS.Groups) != 1 {
		t.Errorf("AWS has %d groups", len(l.AWS.Groups))
	}
}

// A -> B -> A while the provider's operation to B is under way: it still shows A, and the group in AWS is on B.
func TestTemplateOutlivesAHiddenOperation(t *testing.T) {
	for _, s := range settings[:2] {
		l := newLife(t, s).settled()
		l.Provider.Latency = 6
		l.set("b", "rollout", "trigger")
		for range 30 {
			l.round()
			if len(l.AWS.Templates) == 2 && simulator.Text(l.MR(resourceGroup), "spec", "forProvider", "launchTemplate", "id") == l.group().TemplateID && len(l.group().Refreshes) == 1 {
				break
			}
		}
		l.set("", "rollout", "trigger")
		for range 3 {
			l.run(simulator.ReconcileOptions{})
		}
		for name, mr := range l.MRs {
			if simulator.Text(mr, "metadata", "deletionTimestamp") != "" && simulator.Text(mr, "status", "atProvider", "id") == l.group().TemplateID {
				t.Errorf("%s: %s is deleted while the group in AWS is on it", s.name, name)
			}
		}
	}
}
