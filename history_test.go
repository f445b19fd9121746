package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/rollout"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// A history is a pool to which things happen at random.
type history struct {
	*life

	rt *rapid.T
	// replicas of the function, and what is left to chance that no history is told by.
	replicas *replicas
	chance   *rand.Rand
	// hurried says that little time passes between most steps.
	hurried bool
	// lied is when AWS last told what is wrong and looks right.
	lied time.Time
	// ran is when the last run was.
	ran time.Time
	// left are the members that have left the list.
	left map[string]bool

	// payload of the bootstrap Secret, when it is there.
	payload   string
	clusterID string
	zonesOf   string
	// key is the roll key of the spec, and keys counts how often it changed.
	key  string
	keys int
	// zones that the pool recorded when its group was first seen in AWS, and whether every record of them was lost since.
	recorded                       []string
	statusLost, annotationsDropped bool
	// refused is the resource that cannot be applied.
	refused string
	// held says that the last run held the group.
	held bool
	// readFailed says that a reading failed at some time, or could not be used.
	readFailed bool
	// unnamed says that the group was deleted by hand while its managed resource had no name of ours: see isUnnamed.
	unnamed bool
	// before the last roll.
	before struct{ version, trigger any }
	// templatesRemoved counts launch templates that were deleted out of band.
	templatesRemoved int
}

func newHistory(rt *rapid.T, s setting) *history {
	account := simulator.NewReader(newAccount())
	h := &history{rt: rt, left: map[string]bool{}, payload: "first", clusterID: "demo-1960e37c", zonesOf: "ab"}
	h.chance = rand.New(rand.NewSource(rapid.Int64Range(0, 1<<20).Draw(rt, "chance")))
	h.hurried = h.chance.Intn(3) == 0
	h.replicas = newReplicas(account, rapid.IntRange(1, 3).Draw(rt, "replicas"))
	h.replicas.next = h.balance
	h.life = newLifeOf(rt, s, poolName, account, h.replicas)
	h.setting = s
	h.apart()
	h.AWS.Clock.Real, h.AWS.Clock.Pause = true, h.pause
	h.Ahead = time.Duration(rapid.SampledFrom([]int{0, 0, -120, -30, -2, 2, 30, 120}).Draw(rt, "seconds ahead")) * time.Second
	h.Provider.Latency = rapid.IntRange(0, 2).Draw(rt, "latency")
	h.AWS.RefreshDelay = rapid.IntRange(0, 3).Draw(rt, "refresh delay")
	h.Reader.Lag = time.Duration(rapid.SampledFrom([]int{0, 0, 3, 4}).Draw(rt, "lag")) * time.Second
	h.Quick = true
	h.key = h.rollKey()
	h.remember()
	if rapid.Bool().Draw(rt, "established") {
		h.roundsUntil(func() bool { return len(h.members()) > 0 })
	}
	return h
}

// balance calls among the replicas, while other pools are at work in them.
func (h *history) balance() int {
	n := h.chance.Intn(len(h.replicas.each))
	if h.setting.reads && h.chance.Intn(4) == 0 {
		h.replicas.each[n].neighbourRuns(context.Background())
	}
	return n
}

// pause between two steps of anyone: runs follow one another at once, or when the response's time to live is over.
func (h *history) pause() {
	longest := 50 * time.Millisecond
	if !h.hurried {
		longest = []time.Duration{300 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second}[h.chance.Intn(5)]
	}
	if h.chance.Intn(40) == 0 {
		longest = 2 * time.Minute
	}
	time.Sleep(time.Millisecond + time.Duration(h.chance.Int63n(int64(longest))))
}

// apart makes every setting draw histories of its own, though all have the same seed.
func (h *history) apart() {
	n := 0
	if h.setting.cluster {
		n++
	}
	if h.setting.reads {
		n += 2
	}
	rapid.SliceOfN(rapid.Bool(), n, n).Draw(h.rt, "apart")
}

// maxRounds is how many rounds in which nothing goes wrong are enough for a pool to get its members, or a roll its refresh.
const maxRounds = 15

// roundsUntil something is so, in which nothing goes wrong by itself. It may never be so.
func (h *history) roundsUntil(done func() bool) {
	for range maxRounds {
		if done() {
			return
		}
		h.reconcile(simulator.ReconcileOptions{})
		h.poll(h.resources()...)
		h.AWS.Tick()
	}
}

// rollKey of the spec, with its defaults.
func (h *history) rollKey() string {
	b, err := json.Marshal(h.XR["spec"])
	if err != nil {
		h.rt.Fatal(err)
	}
	xr := &v1alpha1.MachinePool{}
	if err := json.Unmarshal(b, &xr.Spec); err != nil {
		h.rt.Fatal(err)
	}
	xr.Default()
	return rollout.Key(&xr.Spec)
}

func pick[T any](h *history, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(h.rt, label)
}

// actions that a history is made of. Those with a number are there as often, to make them likelier.
func (h *history) actions() map[string]func(*rapid.T) {
	named := map[string]func(){
		// Crossplane, provider and AWS at work.
		"round 1": h.anyRound, "round 2": h.anyRound, "round 3": h.anyRound, "round 4": h.anyRound, "round 5": h.anyRound,
		"reconcile 1": h.anyReconcile, "reconcile 2": h.anyReconcile, "reconcile 3": h.anyReconcile,
		"poll 1": h.anyPoll, "poll 2": h.anyPoll, "poll 3": h.anyPoll,
		"tick AWS": h.AWS.Tick,
		// The user.
		"roll 1": h.roll, "roll 2": h.roll, "roll until it refreshes": h.rollUntilItRefreshes, "roll back": h.rollBack,
		"edit 1": h.edit, "edit 2": h.edit, "edit 3": h.edit,
		"capacity":       h.capacity,
		"zones":          h.editZones,
		"rotate":         h.rotatePayload,
		"lose input":     h.loseInput,
		"restore inputs": h.restoreInputs,
		// What goes wrong.
		"fault":         h.fault,
		"refuse":        h.refuse,
		"no refresh":    h.loseRefresh,
		"end refresh":   h.endRefresh,
		"set aside":     h.setAside,
		"reclaim":       h.reclaim,
		"an hour":       h.anHour,
		"heal":          h.heal,
		"lose memory":   h.loseMemory,
		"restart":       h.restart,
		"out of band 1": h.outOfBand, "out of band 2": h.outOfBand,
	}
	actions := map[string]func(*rapid.T){}
	for name, act := range named {
		actions[name] = func(*rapid.T) { act() }
	}
	return actions
}

func (h *history) anyRound() {
	h.anyReconcile()
	h.poll(h.resources()...)
	h.AWS.Tick()
}

// anyReconcile of Crossplane: in any order, with a view that may be stale, and sometimes interrupted.
func (h *history) anyReconcile() {
	seed := rapid.Int64Range(0, 1<<20).Draw(h.rt, "order")
	o := simulator.ReconcileOptions{Order: rand.New(rand.NewSource(seed)).Perm}
	switch rapid.IntRange(0, 12).Draw(h.rt, "view") {
	case 0:
		o.StaleXR = true
	case 1:
		o.StaleMRs = true
	case 2:
		o.StaleXR, o.StaleMRs = true, true
	case 3:
		o.FailApplyAt = rapid.IntRange(1, 4).Draw(h.rt, "fail apply")
	case 4:
		o.Stuck, o.StaleXR = true, true
	case 5:
		o.Stuck, o.StaleMRs = true, true
	case 6:
		o.Stuck, o.StaleXR, o.StaleMRs = true, true, true
	}
	if time.Since(h.ran) > time.Minute {
		// Crossplane's cache is behind by seconds, not by minutes.
		o.StaleXR, o.StaleMRs = false, false
	}
	if o.Stuck && h.last.Err != nil {
		// The last run could not write its status, so nothing remembers what it sent.
		o.StaleMRs = false
	}
	// A group that is held is sent again as it is seen: as it was before the last run, where the status is from before that too.
	heldOld := o.Stuck && o.StaleXR && o.StaleMRs && (h.held || h.holds(h.XR) || h.holds(h.lastSeen()))
	if heldOld || h.isUnnamed() {
		o.StaleXR, o.StaleMRs = false, false
	}
	for _, resource := range h.resources() {
		if (resource == resourceGroup || o.Stuck) && h.Sees(simulator.ReconcileOptions{}, resource) && !h.Sees(o, resource) {
			// A composite so stale that it does not refer to its group yet makes Crossplane itself forget the group (see
			// Leaked). While inputs are missing as well, nothing that the function is shown tells of one. Of other resources
			// one step is old enough.
			o.StaleXR = false
		}
	}
	h.reconcile(o)
}

// holds reports whether a run which sees a composite sends the group again as it sees that, for it cannot be made anew.
func (h *history) holds(xr object) bool {
	cluster := h.Objects[simulator.ObjectKey("Cluster", exportsNamespace, "demo")]
	joined := h.taggedFor()
	return h.isWithoutZone(xr) || joined != "" && joined != h.clusterID || simulator.Hash(simulator.Field(cluster, "status", "exports")) != simulator.Hash(h.exports())
}

// lastSeen is the composite as the last run saw it.
func (h *history) lastSeen() object {
	return h.last.Request.GetObserved().GetComposite().GetResource().AsMap()
}

// isWithoutZone reports whether the cluster has none of a composite's zones.
func (h *history) isWithoutZone(xr object) bool {
	wanted := simulator.Texts(xr, "spec", "failureDomains")
	if len(wanted) == 0 {
		wanted = simulator.Texts(xr, "status", "inheritedFailureDomains")
	}
	return len(wanted) > 0 && !slices.ContainsFunc(wanted, func(zone string) bool {
		return strings.Contains(h.zonesOf, strings.TrimPrefix(zone, "us-east-1"))
	})
}

// reconcile and hold what must hold after every single run.
func (h *history) reconcile(o simulator.ReconcileOptions) {
	needed, before, existing := h.needed(), h.listed(), h.resources()
	all := simulator.Texts(h.XR, "status", "providerIDList")
	h.held = h.holds(h.XR)
	o.Refused = h.refused
	r := h.Reconcile(context.Background(), o)
	h.last, h.ran = r, time.Now()
	if r.Response == nil {
		h.rt.Fatalf("the function failed: %v", r.Err)
	}
	if r.Fatal {
		return
	}
	if !o.StaleXR {
		h.bringsBackNoMember(all)
	}
	h.deletesNothingInUse(r, needed)
	h.keepsName(r)
	h.keepsZones(r)
	h.sendsPayload(r)
	h.losesNoHealthyRoll(r)
	h.retriesNoHealthyRoll(r, existing)
	if o.StaleXR && h.isBehind() {
		// A replica that goes by a composite from before a member was listed, and by an answer that it kept from before that
		// member was launched, or by none, cannot know of it.
		seen := simulator.Texts(h.lastSeen(), "status", "providerIDList")
		before = slices.DeleteFunc(before, func(id string) bool { return !slices.Contains(seen, id) })
	}
	if lies := o.StaleXR && h.lies(); !lies && r.Err == nil {
		// A composite that is one step old has a list that is one step old. What contradicts that list is a lie, but what
		// agrees with it no single run can tell from the truth.
		h.losesNoMember(before)
	}
}

// isBehind reports whether the last run was one of several replicas' that went by what it had kept, or could not read, so that another
// may know better.
func (h *history) isBehind() bool {
	said := h.replicas.last.readings
	if len(h.replicas.each) == 1 || len(said) == 0 {
		return false
	}
	last := said[len(said)-1]
	return !last.Group.Anew || !last.Instances.Anew
}

// lies reports whether AWS tells what is wrong and looks right, or that such an answer may be kept.
func (h *history) lies() bool { return h.Reader.Lies() || time.Since(h.lied) < 10*time.Second }

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
		h.poll(pick(h, "resource", names...))
	}
}

// roll by another trigger or version, which may be one that was there before.
func (h *history) roll() {
	h.remember()
	if rapid.Bool().Draw(h.rt, "by trigger") {
		h.set(pick(h, "trigger", "", "b", "c"), "rollout", "trigger")
	} else {
		h.set(pick(h, "version", "v1.34.1", "v1.34.2", "v1.34.2+rke2r1", "v1.35.0"), "kubernetesVersion")
	}
	h.countKey()
}

func (h *history) remember() {
	h.before.version, h.before.trigger = simulator.Field(h.XR, "spec", "kubernetesVersion"), simulator.Field(h.XR, "spec", "rollout", "trigger")
}

// rollBack to what was there before the last roll, before it is noticed or while it is under way.
func (h *history) rollBack() {
	before := h.before
	h.remember()
	h.set(before.version, "kubernetesVersion")
	h.set(before.trigger, "rollout", "trigger")
	h.countKey()
}

// rollUntilItRefreshes makes it likely that something happens to a refresh, and that runs see it as soon as it began.
func (h *history) rollUntilItRefreshes() {
	h.roll()
	refreshing := func() bool { g := h.group(); return g != nil && g.IsRefreshing() }
	h.roundsUntil(refreshing)
	if !refreshing() {
		return
	}
	// Runs follow one another while answers may lack the refresh still.
	h.atOnce(func() {
		for range 6 {
			h.poll(h.resources()...)
			h.reconcile(simulator.ReconcileOptions{})
		}
	})
}

// atOnce things happen one after the other, with next to no time between.
func (h *history) atOnce(happen func()) {
	pause := h.AWS.Clock.Pause
	h.AWS.Clock.Pause = func() { time.Sleep(time.Millisecond) }
	happen()
	h.AWS.Clock.Pause = pause
}

func (h *history) countKey() {
	if key := h.rollKey(); key != h.key {
		h.key = key
		h.keys++
	}
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
		domains["us-east-1"+string(z)] = object{"subnet_id": "subnet-0000000" + string(z)}
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

// taggedFor is the id of the cluster that the group's managed resource is tagged with, empty where there is none.
func (h *history) taggedFor() string {
	tags, _ := simulator.Field(h.MR(resourceGroup), "spec", "forProvider", "tag").([]any)
	for _, t := range tags {
		if tag, _ := t.(object); simulator.Text(tag, "key") == "machinepool.fn.crossplane.io/cluster" {
			return simulator.Text(tag, "value")
		}
	}
	return ""
}

// restoreInputs makes the cluster the one again that the pool's nodes have joined.
func (h *history) restoreInputs() {
	h.clusterID = cmp.Or(h.taggedFor(), h.clusterID)
	h.publish(h.exports())
	h.rotate(h.payload)
	h.AWS.Images = images()
	h.set(nil, "rootVolume", "type")
}

// fault of AWS's API, or of what the function reads of it.
func (h *history) fault() {
	if h.setting.reads && rapid.Bool().Draw(h.rt, "reading") {
		h.readFailed = true
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
	call := pick(h, "call", simulator.CreateLaunchTemplate, simulator.CreateLaunchTemplateVersion, simulator.DeleteLaunchTemplate,
		simulator.CreateAutoScalingGroup, simulator.UpdateAutoScalingGroup, simulator.CancelInstanceRefresh,
		simulator.PutScalingPolicy, simulator.PutLifecycleHook, simulator.PutObject)
	h.AWS.FailNext(call, rapid.IntRange(1, 2).Draw(h.rt, "times"))
}

// refuse to apply one of the resources, until that is healed: no status is written meanwhile. It is not the group itself,
// which would do without its name.
func (h *history) refuse() {
	others := slices.DeleteFunc(h.resources(), func(name string) bool { return name == resourceGroup })
	if len(others) > 0 {
		h.refused = pick(h, "refused", others...)
	}
}

// loseRefresh makes the next rolls get lost: once, or so often that the retries are used up.
func (h *history) loseRefresh() {
	h.AWS.FailNext(simulator.StartInstanceRefresh, pick(h, "times", 1, 2, 3, 4, 5))
}

// endRefresh that is at work, without success.
func (h *history) endRefresh() {
	g := h.group()
	if g == nil {
		return
	}
	if rapid.Bool().Draw(h.rt, "fails") {
		g.FailRefresh("instances failed their health checks")
	} else {
		g.CancelRefresh()
	}
}

// setAside a member, so that no refresh replaces it, or put it back.
func (h *history) setAside() {
	g := h.group()
	if g == nil || len(g.Live()) == 0 {
		return
	}
	m := rapid.SampledFrom(g.Live()).Draw(h.rt, "member")
	switch {
	case rapid.Bool().Draw(h.rt, "protect"):
		m.Protected = !m.Protected
	case m.Lifecycle == simulator.LifecycleInService:
		m.Lifecycle = simulator.LifecycleStandby
	case m.Lifecycle == simulator.LifecycleStandby:
		m.Lifecycle = simulator.LifecycleInService
	}
}

// anHour passes in which nobody runs. What AWS tells wrongly it does not for so long.
func (h *history) anHour() {
	if !h.Reader.Lies() {
		time.Sleep(time.Hour + time.Second)
	}
}

// reclaim an instance, whatever its group has it as.
func (h *history) reclaim() {
	if g := h.group(); g != nil && len(g.Live()) > 0 {
		h.AWS.Reclaim(rapid.SampledFrom(g.Live()).Draw(h.rt, "member").ID)
	}
}

func (h *history) heal() {
	h.refused = ""
	if h.Reader.Lies() {
		h.lied = time.Now()
	}
	h.AWS.Heal()
	h.Reader.Heal()
	h.Provider.Heal()
}

// loseMemory that a control plane has. Of a group that no one has seen in AWS yet only its annotation and the status know
// the name, so one of them stays. With both gone and another cluster id there is nothing to know it by.
func (h *history) loseMemory() {
	if h.isUnnamed() {
		return
	}
	mr := h.MR(resourceGroup)
	unseen := mr != nil && simulator.Text(mr, "status", "atProvider", "arn") == ""
	if rapid.Bool().Draw(h.rt, "status") {
		if !unseen || h.isNamed(mr) {
			h.CatchUp()
			h.LoseStatus()
			h.statusLost = true
		}
		return
	}
	if unseen && simulator.Text(h.XR, "status", "autoscalingGroupName") == "" {
		return
	}
	if mr != nil && h.group() == nil {
		// A provider that creates a group that is gone, without annotations, names it anew. Whoever then still sees the
		// old one, and sends its name once more right before the provider restarts, has two.
		return
	}
	h.CatchUp()
	h.DropAnnotations()
	h.annotationsDropped = true
	h.Provider.Heal()
	if !h.Provider.Remembers(mr) {
		h.sendName()
	}
}

// isNamed reports whether the group's managed resource has a name of the function's.
func (h *history) isNamed(mr object) bool {
	name := simulator.Text(mr, "metadata", "annotations", "crossplane.io/external-name")
	return name != "" && name != simulator.Text(mr, "metadata", "name")
}

// isUnnamed reports whether the provider names the pool's next group itself, as annotations were lost and the group was deleted
// by hand before they were sent again. Whoever still sees the old one sends its name once more, and a provider that restarts
// just then creates that one too. No run can tell such a pool with two groups from one with one.
func (h *history) isUnnamed() bool {
	mr, g := h.MR(resourceGroup), h.group()
	if h.unnamed && g != nil && simulator.Text(mr, "status", "atProvider", "arn") == g.ARN &&
		simulator.Text(mr, "metadata", "annotations", "crossplane.io/external-name") == g.Name {
		h.unnamed = false
		// What is seen late is this.
		h.CatchUp()
	}
	return h.unnamed
}

// sendName before a provider that remembers nothing gets to see a group without annotations. It would name the group after
// its managed resource and create another one of that name. That is before the function is so much as asked.
func (h *history) sendName() {
	h.refused = ""
	h.restoreInputs()
	h.reconcile(simulator.ReconcileOptions{})
}

// restart of the provider, now or in the midst of its next creation.
func (h *history) restart() {
	if h.isUnnamed() {
		return
	}
	mr := h.MR(resourceGroup)
	if mr != nil && !h.isNamed(mr) {
		h.sendName()
	}
	switch pick(h, "restart", "now", "before it creates", "after it created") {
	case "now":
		h.Provider.Restart()
	case "before it creates":
		h.Provider.CrashOnCreate(false)
	case "after it created":
		h.Provider.CrashOnCreate(true)
	}
}

func (h *history) outOfBand() {
	g := h.group()
	if g == nil {
		return
	}
	switch pick(h, "what", "group", "instance", "object", "policies", "template") {
	case "group":
		if !h.isNamed(h.MR(resourceGroup)) {
			h.unnamed = true
			h.Provider.Heal()
		}
		h.AWS.RemoveGroup(g.Name)
	case "instance":
		if ids := h.members(); len(ids) > 0 {
			h.AWS.Terminate(pick(h, "instance", ids...))
		}
	case "object":
		h.AWS.RemoveObject(h.stagedAt())
	case "policies":
		clear(g.Policies)
	case "template":
		var ids []string
		for id := range h.AWS.Templates {
			ids = append(ids, id)
		}
		if len(ids) > 0 {
			slices.Sort(ids)
			h.AWS.RemoveTemplate(pick(h, "template", ids...))
			h.templatesRemoved++
		}
	}
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
