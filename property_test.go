package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// How many histories are tried and how long they are is up to rapid's own flags:
//
//	go test -run TestHistories -rapid.checks=1000 -rapid.steps=60 .
//
// A failure prints the seed and the history that it shrank to; -rapid.seed replays it.

// A history is a pool to which things happen at random.
type history struct {
	*life

	rt *rapid.T
	// lossy histories have what only the rollout's retries recover from: refreshes that fail to start, and restarts of
	// the provider that lose what it never wrote down.
	lossy bool

	// groupName that the group was created with.
	groupName string
	payload   string
	clusterID string
	zonesOf   string
	// rolls says that something changed the roll key.
	rolls bool
}

func newHistory(rt *rapid.T, lossy bool) *history {
	s := rapid.SampledFrom(settings).Draw(rt, "setting")
	s.reads = s.reads || lossy
	h := &history{life: newLife(rt, s), rt: rt, lossy: lossy, payload: "first", clusterID: "demo-1960e37c", zonesOf: "ab"}
	h.Provider.Latency = rapid.IntRange(0, 2).Draw(rt, "latency")
	return h
}

func pick[T any](h *history, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(h.rt, label)
}

// actions that a history is made of. Those with a number are there as often, to make them likelier.
func (h *history) actions() map[string]func(*rapid.T) {
	named := map[string]func(){
		"round 1": h.anyRound, "round 2": h.anyRound, "round 3": h.anyRound, "round 4": h.anyRound, "round 5": h.anyRound,
		"reconcile 1": h.anyReconcile, "reconcile 2": h.anyReconcile, "reconcile 3": h.anyReconcile,
		"poll 1": h.anyPoll, "poll 2": h.anyPoll, "poll 3": h.anyPoll,
		"tick AWS": h.AWS.Tick,
		"roll 1":   h.roll, "roll 2": h.roll,
		"edit 1": h.edit, "edit 2": h.edit, "edit 3": h.edit,
		"capacity":       h.capacity,
		"zones":          h.editZones,
		"rotate":         h.rotatePayload,
		"lose input":     h.loseInput,
		"restore inputs": h.restoreInputs,
		"fault":          h.fault,
		"heal":           h.heal,
		"lose memory":    h.loseMemory,
		"out of band":    h.outOfBand,
	}
	actions := map[string]func(*rapid.T){}
	for name, act := range named {
		actions[name] = func(*rapid.T) { act() }
	}
	return actions
}

func (h *history) anyRound() {
	h.anyReconcile()
	for _, resource := range h.resources() {
		h.pollOne(resource)
	}
	h.AWS.Tick()
}

// anyReconcile of Crossplane: in any order, with a view that may be stale, and sometimes interrupted.
func (h *history) anyReconcile() {
	seed := rapid.Int64Range(0, 1<<20).Draw(h.rt, "order")
	o := simulator.ReconcileOptions{Order: rand.New(rand.NewSource(seed)).Perm}
	switch rapid.IntRange(0, 9).Draw(h.rt, "view") {
	case 0:
		o.StaleXR = true
	case 1:
		o.StaleMRs = true
	case 2:
		o.StaleXR, o.StaleMRs = true, true
	case 3:
		o.FailApplyAt = rapid.IntRange(1, 4).Draw(h.rt, "fail apply")
	}
	if h.Sees(simulator.ReconcileOptions{}, resourceGroup) && !h.Sees(o, resourceGroup) {
		// A composite so stale that it does not refer to its group yet makes Crossplane forget the group (see Leaked),
		// and with it the function.
		o.StaleXR = false
	}
	h.reconcile(o)
}

// reconcile and hold what must hold after every single run.
func (h *history) reconcile(o simulator.ReconcileOptions) {
	needed, before := h.needed(), h.listed()
	r := h.Reconcile(context.Background(), o)
	h.last = r
	if r.Fatal || r.Response == nil {
		if len(r.Deleted) > 0 {
			h.rt.Fatalf("a refused spec deleted %v", r.Deleted)
		}
		if r.Response == nil {
			h.rt.Fatalf("the function failed: %v", r.Err)
		}
		return
	}
	h.holdsOn(r, needed)
	h.keepsName(r)
	if !o.StaleXR && r.Err == nil {
		h.keepsListing(before)
	}
}

// needed launch templates are those that the group has, as asked for, as the provider shows it and, where AWS is read, in
// AWS, and those that a member was launched from. Without reads no one can know what an operation that is under way has
// already done: while one is, the provider shows the group as it was before.
func (h *history) needed() map[string]string {
	needed := map[string]string{}
	if mr := h.MR(resourceGroup); mr != nil {
		needed[simulator.Text(mr, "spec", "forProvider", "launchTemplate", "id")] = "the group's spec"
		needed[simulator.Text(mr, "status", "atProvider", "launchTemplate", "id")] = "the group, as the provider shows it,"
	}
	delete(needed, "")
	for _, g := range h.AWS.Groups {
		if !h.setting.reads {
			continue
		}
		needed[g.TemplateID] = "the group in AWS"
		for id := range g.MemberTemplates() {
			needed[id] = "a member"
		}
	}
	return needed
}

// holdsOn to everything that something still needs: property "never lose the group".
func (h *history) holdsOn(r simulator.Reconcile, needed map[string]string) {
	desired := r.Response.GetDesired().GetResources()
	for name, observed := range r.Request.GetObserved().GetResources() {
		if _, kept := desired[name]; kept {
			continue
		}
		if name == resourceGroup || name == resourceObject {
			h.rt.Fatalf("%s is observed and not desired", name)
		}
		id := simulator.Text(observed.GetResource().AsMap(), "status", "atProvider", "id")
		if user, used := needed[id]; used {
			h.rt.Fatalf("%s (%s) is observed and not desired, and %s uses it; rollout: %v", name, id, user, simulator.Field(h.XR, "status", "rollout"))
		}
	}
}

// keepsName of the group for all its life.
func (h *history) keepsName(r simulator.Reconcile) {
	group, composed := r.Response.GetDesired().GetResources()[resourceGroup]
	if !composed {
		return
	}
	name := simulator.Text(group.GetResource().AsMap(), "metadata", "annotations", "crossplane.io/external-name")
	if h.groupName == "" && h.MR(resourceGroup) != nil {
		h.groupName = name
	}
	if h.groupName != "" && name != h.groupName {
		h.rt.Fatalf("the group is called %q after it was %q", name, h.groupName)
	}
	if len(h.AWS.Groups) > 1 {
		h.rt.Fatalf("AWS has %d groups for one pool", len(h.AWS.Groups))
	}
}

// listed members that live.
func (h *history) listed() []string {
	var ids []string
	for _, id := range simulator.Texts(h.XR, "status", "providerIDList") {
		i := h.AWS.Instances[id[strings.LastIndex(id, "/")+1:]]
		if i != nil && i.State != "shutting-down" && i.State != "terminated" {
			ids = append(ids, id)
		}
	}
	return ids
}

// keepsListing members that live: Cluster API deletes the Nodes of those that leave the list.
func (h *history) keepsListing(before []string) {
	after := simulator.Texts(h.XR, "status", "providerIDList")
	for _, id := range before {
		if !slices.Contains(after, id) {
			h.rt.Fatalf("%s lives and left providerIDList", id)
		}
	}
}

// resources that exist, terminating ones too, by composed resource name.
func (h *history) resources() []string {
	var names []string
	for _, mr := range h.MRs {
		names = append(names, simulator.Text(mr, "metadata", "annotations", "crossplane.io/composition-resource-name"))
	}
	slices.Sort(names)
	return names
}

func (h *history) anyPoll() {
	if names := h.resources(); len(names) > 0 {
		h.pollOne(pick(h, "resource", names...))
	}
}

// pollOne resource, and hold that no one but AWS's own bounds moves the desired capacity of a group that exists.
func (h *history) pollOne(resource string) {
	type size struct {
		ARN     string
		Desired int
	}
	before := map[string]size{}
	for name, g := range h.AWS.Groups {
		before[name] = size{ARN: g.ARN, Desired: g.Desired}
	}
	h.Poll(resource)
	for name, g := range h.AWS.Groups {
		was, existed := before[name]
		if want := min(max(was.Desired, g.Min), g.Max); existed && was.ARN == g.ARN && g.Desired != want {
			h.rt.Fatalf("the desired capacity was reset from %d to %d, the bounds are %d and %d", was.Desired, g.Desired, g.Min, g.Max)
		}
	}
}

func (h *history) roll() {
	h.rolls = true
	if rapid.Bool().Draw(h.rt, "by trigger") {
		h.set(pick(h, "trigger", "", "b", "c"), "rollout", "trigger")
		return
	}
	h.set(pick(h, "version", "v1.34.1", "v1.34.2", "v1.34.2+rke2r1", "v1.35.0"), "kubernetesVersion")
}

// edit what never rolls.
func (h *history) edit() {
	switch pick(h, "field", "nodeLabels", "instanceType", "spot", "sizeGiB", "groups", "tags", "hooks", "warmup") {
	case "nodeLabels":
		h.set(object{"example.com/tier": pick(h, "tier", "web", "db")}, "nodeLabels")
	case "instanceType":
		h.set(pick(h, "type", "m6i.large", "m6i.xlarge"), "instanceType")
	case "spot":
		h.set(rapid.Bool().Draw(h.rt, "spot"), "spot")
	case "sizeGiB":
		h.set(pick(h, "size", 40.0, 80.0), "rootVolume", "sizeGiB")
	case "groups":
		h.set(pick(h, "groups", []any{}, []any{"sg-0123456789abcdef0"}, []any{"sg-0123456789abcdef0", "sg-0e0000000000000e1"}), "additionalSecurityGroupIDs")
	case "tags":
		h.set(pick(h, "tags", object{}, object{"team": "a", "cost": "b"}), "additionalTags")
	case "hooks":
		drain := object{"name": "drain", "transition": "Terminating"}
		h.set(pick(h, "hooks", []any{}, []any{drain}, []any{object{"name": "join", "transition": "Launching"}, drain}), "lifecycleHooks")
	case "warmup":
		h.set(pick(h, "warmup", 0.0, 300.0), "rollout", "instanceWarmupSeconds")
	}
}

func (h *history) capacity() {
	switch pick(h, "capacity", "replicas", "autoscaling", "off", "someone") {
	case "replicas":
		h.set(float64(rapid.IntRange(0, 4).Draw(h.rt, "replicas")), "replicas")
	case "autoscaling":
		lowest := rapid.IntRange(0, 3).Draw(h.rt, "min")
		h.set(object{
			"minReplicas": float64(lowest), "maxReplicas": float64(lowest + rapid.IntRange(1, 3).Draw(h.rt, "more")),
			"scaler": pick(h, "scaler", "Native", "External"),
		}, "autoscaling")
	case "off":
		h.set(nil, "autoscaling")
	case "someone":
		if g := h.group(); g != nil {
			if err := h.AWS.SetDesired(g.Name, rapid.IntRange(g.Min, g.Max).Draw(h.rt, "desired")); err != nil {
				h.rt.Fatal(err)
			}
		}
	}
}

func (h *history) editZones() {
	if rapid.Bool().Draw(h.rt, "the cluster's") {
		h.zonesOf = pick(h, "zones", "a", "b", "ab", "bc", "abc")
		h.publish(h.exports())
		return
	}
	h.set(pick[any](h, "failureDomains", nil, []any{"us-east-1a"}, []any{"us-east-1b", "us-east-1a"}, []any{"us-east-1b", "us-east-1c"}, []any{"us-east-1z"}), "failureDomains")
}

// exports as the cluster publishes them when all is well.
func (h *history) exports() object {
	exports, domains := defaultExports(), object{}
	for _, z := range h.zonesOf {
		domains["us-east-1"+string(z)] = object{"subnet_id": "subnet-0" + string(z)}
	}
	exports["failure_domains"], exports["kubernetes_cluster_id"] = domains, h.clusterID
	return exports
}

func (h *history) rotatePayload() {
	h.payload = pick(h, "payload", "first", "second", "third")
	h.rotate(h.payload)
}

func (h *history) loseInput() {
	switch pick(h, "input", "exports", "exports empty", "field", "cluster id", "secret", "secret empty", "images", "good spec") {
	case "exports":
		h.publish(nil)
	case "exports empty":
		h.publish(object{})
	case "field":
		exports := h.exports()
		delete(exports, pick(h, "field", "region", "kubernetes_cluster_id", "failure_domains", "security_group_ids", "instance_profiles", "bootstrap_bucket"))
		h.publish(exports)
	case "cluster id":
		h.clusterID = pick(h, "cluster id", "demo-1960e37c", "demo-another")
		h.publish(h.exports())
	case "secret":
		h.loseSecret()
	case "secret empty":
		h.Objects[simulator.ObjectKey("Secret", exportsNamespace, poolName)] = object{"data": object{"other": "eA=="}}
	case "images":
		h.AWS.Images = nil
	case "good spec":
		h.set("io9", "rootVolume", "type")
	}
}

func (h *history) restoreInputs() {
	h.publish(h.exports())
	h.rotate(h.payload)
	h.AWS.Images = images()
	h.set(nil, "rootVolume", "type")
}

// fault of AWS's API, or of what the function reads of it.
func (h *history) fault() {
	if h.setting.reads && rapid.Bool().Draw(h.rt, "reading") {
		switch pick(h, "reading", "fails", "cut", "lost") {
		case "fails":
			h.Reader.Fail(pick(h, "part", simulator.PartGroup, simulator.PartInstances, simulator.PartImage, simulator.PartRefresh),
				pick(h, "why", pool.ReadThrottled, pool.ReadAccessDenied, pool.ReadPartial))
		case "cut":
			h.Reader.Cut(rapid.IntRange(1, 3).Draw(h.rt, "cut"))
		case "lost":
			h.Reader.Lose()
		}
		return
	}
	calls := []simulator.Call{
		simulator.CreateLaunchTemplate, simulator.CreateLaunchTemplateVersion, simulator.DeleteLaunchTemplate,
		simulator.CreateAutoScalingGroup, simulator.UpdateAutoScalingGroup, simulator.CancelInstanceRefresh,
		simulator.PutScalingPolicy, simulator.PutLifecycleHook, simulator.PutObject,
	}
	if h.lossy {
		calls = append(calls, simulator.StartInstanceRefresh)
	}
	h.AWS.FailNext(pick(h, "call", calls...), rapid.IntRange(1, 2).Draw(h.rt, "times"))
}

func (h *history) heal() {
	h.AWS.Heal()
	h.Reader.Heal()
}

// loseMemory that a control plane has: the status, annotations, what a provider remembers.
func (h *history) loseMemory() {
	switch pick(h, "memory", "status", "annotations", "provider") {
	case "status":
		h.Mark()
		h.LoseStatus()
	case "annotations":
		if mr := h.MR(resourceGroup); mr != nil && simulator.Text(mr, "status", "atProvider", "id") == "" {
			// Nothing but the exports says how the group is called, and they may have changed.
			return
		}
		h.restoreInputs()
		h.DropAnnotations()
		// Before the provider gets to see it: upjet would name the group after its managed resource.
		h.reconcile(simulator.ReconcileOptions{})
	case "provider":
		if h.lossy || h.Provider.Settled() && h.idsPersisted() {
			h.Provider.Restart()
		}
	}
}

// idsPersisted says that every template's id was sent back as its external name. One that is dropped before that, and
// that the provider forgot, stays behind in AWS.
func (h *history) idsPersisted() bool {
	for _, mr := range h.MRs {
		if mr["kind"] == "LaunchTemplate" && simulator.Text(mr, "metadata", "annotations", "crossplane.io/external-name") == "" {
			return false
		}
	}
	return true
}

func (h *history) outOfBand() {
	g := h.group()
	if g == nil {
		return
	}
	switch pick(h, "what", "group", "instance", "object", "policies") {
	case "group":
		h.AWS.RemoveGroup(g.Name)
	case "instance":
		if ids := h.members(); len(ids) > 0 {
			h.AWS.Terminate(pick(h, "instance", ids...))
		}
	case "object":
		h.AWS.RemoveObject("demo-bootstrap/pool/" + poolName)
	case "policies":
		clear(g.Policies)
	}
}

// converges holds that a pool to which nothing happens any more becomes what its spec says, and then stands still.
func (h *history) converges() {
	h.restoreInputs()
	h.heal()
	if domains := simulator.Texts(h.XR, "spec", "failureDomains"); slices.Contains(domains, "us-east-1z") {
		h.set(nil, "failureDomains")
	}
	h.zonesOf = "abc"
	h.publish(h.exports())
	h.settleIn(func() {
		// A person cleans up what Crossplane leaked.
		for _, resource := range h.Leaked() {
			h.Delete(resource)
		}
		h.round()
	})

	g := h.group()
	if g == nil {
		h.rt.Fatalf("there is no group; conditions: %v", simulator.Field(h.XR, "status", "conditions"))
	}
	if len(h.AWS.Templates) != 1 && !h.lossy || h.AWS.Templates[g.TemplateID] == nil {
		h.rt.Fatalf("the group is on %s, AWS has templates %v; rollout: %v", g.TemplateID, h.AWS.Templates, simulator.Field(h.XR, "status", "rollout"))
	}
	want := map[string]int{}
	if g.Desired > 0 {
		want[g.TemplateID] = g.Desired
	}
	if diff := cmp.Diff(want, g.MemberTemplates()); diff != "" {
		h.rt.Fatalf("members by template, -want, +got:\n%s\nrollout: %v, refreshes %+v", diff, simulator.Field(h.XR, "status", "rollout"), g.Refreshes)
	}
	if h.phase() != "Idle" {
		h.rt.Fatalf("phase is %s: %v", h.phase(), simulator.Field(h.XR, "status", "rollout"))
	}
	if healthy, _ := simulator.Field(h.XR, "status", "health", "healthy").(bool); h.setting.reads && !healthy {
		h.rt.Fatalf("health: %v", simulator.Field(h.XR, "status", "health"))
	}
	if c := h.condition("Ready"); c.Status != "True" {
		h.rt.Fatalf("not ready: %v", simulator.Field(h.XR, "status", "conditions"))
	}
	if diff := cmp.Diff(cloudConfig(h.payload), h.staged()); diff != "" {
		h.rt.Fatalf("payload in S3, -want, +got:\n%s", diff)
	}
	if replicas, _ := simulator.Number(h.XR, "spec", "replicas"); simulator.Field(h.XR, "spec", "autoscaling") == nil && g.Desired != replicas {
		h.rt.Fatalf("desired capacity is %d, the spec has %d replicas", g.Desired, replicas)
	}
	if len(g.Refreshes) > 0 && !h.rolls {
		h.rt.Fatalf("%d refreshes without a change of the roll key", len(g.Refreshes))
	}
	h.standsStill()
}

func (h *history) standsStill() {
	writes, specsBefore := h.AWS.Writes(), specs(h.life)
	h.round()
	first := canonical(h.rt, h.last.Response)
	for range 2 {
		h.round()
		if diff := cmp.Diff(first, canonical(h.rt, h.last.Response)); diff != "" {
			h.rt.Fatalf("responses differ though nothing changes, -first, +later:\n%s", diff)
		}
	}
	if len(h.last.Response.GetResults()) > 0 {
		h.rt.Fatalf("events though nothing changes: %v", h.last.Response.GetResults())
	}
	if got := h.AWS.Writes() - writes; got != 0 {
		h.rt.Fatalf("%d calls of AWS though nothing changes", got)
	}
	if diff := cmp.Diff(specsBefore, specs(h.life)); diff != "" {
		h.rt.Fatalf("managed resources change though nothing else does:\n%s", diff)
	}
}

// TestHistories holds, over random histories, that no response loses a group, an object or a template that something
// uses, that the group keeps its name and no one but AWS moves its desired capacity, and that the pool converges once
// changes and faults stop.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(rt, false)
		rt.Repeat(h.actions())
		h.converges()
	})
}

var lossy = flag.Bool("lossy", false, "try histories in which rolls and template ids get lost, too")

// TestLossyHistories is TestHistories with what only the rollout's retries recover from, which needs AWS reads.
func TestLossyHistories(t *testing.T) {
	if !*lossy {
		t.Skip("not asked for with -lossy")
	}
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(rt, true)
		rt.Repeat(h.actions())
		h.converges()
	})
}

// TestDeterminism holds that equal input gives byte-equal output, in whatever order maps and sets come.
func TestDeterminism(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(rt, false)
		actions := h.actions()
		check := func(*rapid.T) { h.sameWhenShuffled() }
		actions["shuffle 1"], actions["shuffle 2"], actions["shuffle 3"] = check, check, check
		rt.Repeat(actions)
		h.sameWhenShuffled()
	})
}

// sameWhenShuffled runs the last request again with everything that has no order in another one.
func (h *history) sameWhenShuffled() {
	h.anyReconcile()
	rnd := rand.New(rand.NewSource(rapid.Int64Range(0, 1<<20).Draw(h.rt, "shuffle")))
	// The function may change neither, and no clock has moved since.
	reading := AWSReaderFn(func(ctx context.Context, q pool.Query) pool.Reading {
		r := h.Reader.Read(ctx, q)
		if g := r.Group.Value; g != nil {
			shuffle(rnd, g.Members)
		}
		shuffle(rnd, r.Instances.Value)
		return r
	})
	for range 2 {
		req := proto.CloneOf(h.last.Request)
		req.Desired = &fnv1.State{}
		shuffleRequest(rnd, req, h.last.Response)
		rsp, err := NewFunction(WithAWSReader(reading)).RunFunction(context.Background(), req)
		if err != nil {
			h.rt.Fatal(err)
		}
		if diff := cmp.Diff(canonical(h.rt, h.last.Response), canonical(h.rt, rsp)); diff != "" {
			h.rt.Fatalf("responses differ, -first, +shuffled:\n%s", diff)
		}
	}
}

func shuffle[T any](rnd *rand.Rand, list []T) {
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// shuffleRequest shuffles lists that are sets. Maps come in another order whenever they are walked.
func shuffleRequest(rnd *rand.Rand, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	xr := req.GetObserved().GetComposite().GetResource()
	paths := [][]string{{"spec", "lifecycleHooks"}, {"status", "conditions"}}
	for _, c := range rsp.GetConditions() {
		// A zone that the cluster lacks is named by its place in the list.
		if c.GetType() == "InputsValid" && c.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE {
			paths = append(paths, []string{"spec", "failureDomains"})
		}
	}
	for _, path := range paths {
		shuffle(rnd, listAt(xr, path...))
	}
	for _, mr := range req.GetObserved().GetResources() {
		shuffle(rnd, listAt(mr.GetResource(), "status", "conditions"))
	}
}

func listAt(s *structpb.Struct, path ...string) []*structpb.Value {
	v := structpb.NewStructValue(s)
	for _, name := range path {
		v = v.GetStructValue().GetFields()[name]
	}
	return v.GetListValue().GetValues()
}

// images that AWS has, oldest first.
func images() []simulator.Image {
	var out []simulator.Image
	for i, version := range []string{"1.34.1", "1.34.2", "1.35.0"} {
		out = append(out, simulator.Image{
			ID: fmt.Sprintf("ami-%017x", i+1), Name: "capa-ami-ubuntu-24.04-v" + version + "-1", Owner: "819546954734", Architecture: "x86_64",
		})
	}
	return out
}
