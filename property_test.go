package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/rollout"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// How many histories are tried and how long they are is up to rapid's own flags, each history four times: in both scopes,
// with AWS reads and without.
//
//	go test -run TestHistories -rapid.checks=1000 -rapid.steps=60 .
//
// A failure prints the seed and the history that it shrank to; -rapid.seed replays it.

// A property that holds over all histories. test/mutants shows for each that something breaks it.
type property string

const (
	nothingInUseIsDeleted property = "property 1, nothing in use is deleted"
	poolConverges         property = "property 2, the pool converges"
	oneRefreshPerRoll     property = "property 3, one refresh per roll"
	rotationReachesS3     property = "property 4, a rotation reaches S3 and nothing else"
	convergedPoolIsStill  property = "property 5, a converged pool stands still"
	desiredAndMembersStay property = "property 6, desired capacity and members stay"
)

func (h *history) failsf(p property, format string, args ...any) {
	h.rt.Helper()
	h.rt.Fatalf("%s: %s\nrollout: %v", p, fmt.Sprintf(format, args...), simulator.Field(h.XR, "status", "rollout"))
}

// TestHistories holds all properties over random histories.
func TestHistories(t *testing.T) {
	t.Parallel()
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				inBubble(t, func() {
					h := newHistory(rt, s)
					rt.Repeat(h.actions())
					h.converges()
					h.startsOneRefreshPerRoll()
					h.standsStill()
					h.rotatesInPlace()
					h.misdoesNothing()
					h.takesNoName()
				})
			})
		})
	}
}

// inBubble plays in virtual time. A property that fails there by a panic fails here by the same, as rapid wants to see it.
func inBubble(t *testing.T, play func()) {
	var failed any
	var where int
	synctest.Test(t, func(*testing.T) {
		defer func() {
			if failed = recover(); failed != nil {
				where = whereFrom()
			}
			if fmt.Sprintf("%T", failed) == "rapid.invalidData" {
				// No history at all.
				where = places
			}
		}()
		play()
	})
	if failed != nil {
		panicAt(where, failed)
	}
}

// places that are told apart, which is as deep as rapid looks.
const places = 24

// whereFrom a panic comes, as a small number.
func whereFrom() int {
	pcs, sum := make([]uintptr, 64), uint64(0)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		sum = sum*31 + uint64(frame.Line)
	}
	return int(sum % places)
}

// panicAt a depth of the stack: rapid tells failures apart by it while it looks for a shorter history that fails alike.
func panicAt(depth int, failed any) {
	if depth > 0 {
		panicAt(depth-1, failed)
	}
	panic(failed)
}

// needed launch templates are those that the group has, as asked for, as the provider shows it and in AWS, and, where AWS
// is read, those that a member was launched from.
func (h *history) needed() map[string]string {
	needed := map[string]string{}
	if mr := h.MR(resourceGroup); mr != nil {
		needed[simulator.Text(mr, "spec", "forProvider", "launchTemplate", "id")] = "the group's spec"
		needed[simulator.Text(mr, "status", "atProvider", "launchTemplate", "id")] = "the group, as the provider shows it,"
	}
	for _, g := range h.AWS.Groups {
		needed[g.TemplateID] = "the group in AWS"
		if !h.setting.reads {
			continue
		}
		for id := range h.memberTemplates(g) {
			needed[id] = "a member"
		}
	}
	delete(needed, "")
	return needed
}

// memberTemplates are those that members were launched from which live.
func (h *history) memberTemplates(g *simulator.Group) map[string]int {
	templates := map[string]int{}
	for _, m := range g.Live() {
		if h.AWS.Lives(m.ID) {
			templates[m.TemplateID]++
		}
	}
	return templates
}

// deletesNothingInUse is property 1.
func (h *history) deletesNothingInUse(r simulator.Reconcile, needed map[string]string) {
	desired := r.Response.GetDesired().GetResources()
	for name, observed := range r.Request.GetObserved().GetResources() {
		if _, kept := desired[name]; kept {
			continue
		}
		if name == resourceGroup || name == resourceObject {
			h.failsf(nothingInUseIsDeleted, "%s is observed and not desired", name)
		}
		id := simulator.Text(observed.GetResource().AsMap(), "status", "atProvider", "id")
		if user, used := needed[id]; used {
			h.failsf(nothingInUseIsDeleted, "%s (%s) is observed and not desired, and %s uses it", name, id, user)
		}
	}
}

// misdoesNothing is property 1 as AWS sees it.
func (h *history) misdoesNothing() {
	if len(h.AWS.Misdeeds) > 0 {
		h.failsf(nothingInUseIsDeleted, "%v", h.AWS.Misdeeds)
	}
}

// takesNoName of a template that may still be there, unless what it knew of that one was lost. It is part of property 2: such
// a template cannot be created.
func (h *history) takesNoName() {
	if forgotten := h.statusLost || h.annotationsDropped; !forgotten && len(h.AWS.Collisions) > 0 {
		h.failsf(poolConverges, "templates of these names were there already: %v", h.AWS.Collisions)
	}
}

// keepsName of a group that the provider has seen in AWS: a rename is a lost group. It is part of property 1.
func (h *history) keepsName(r simulator.Reconcile) {
	group, composed := r.Response.GetDesired().GetResources()[resourceGroup]
	if !composed {
		return
	}
	name := valueAt(group.GetResource(), "metadata", "annotations", "crossplane.io/external-name").GetStringValue()
	if is := naming.GroupOfARN(observedARN(r)); is != "" && name != is {
		h.failsf(nothingInUseIsDeleted, "the group is called %q and was %q", name, is)
	}
	if len(h.AWS.Groups) > 1 {
		h.failsf(nothingInUseIsDeleted, "AWS has %d groups for one pool", len(h.AWS.Groups))
	}
}

// observedARN is the group's as a run saw it.
func observedARN(r simulator.Reconcile) string {
	return valueAt(r.Request.GetObserved().GetResources()[resourceGroup].GetResource(), "status", "atProvider", "arn").GetStringValue()
}

// keepsZones that the pool recorded, unless both of its records were lost. It is part of property 2.
func (h *history) keepsZones(r simulator.Reconcile) {
	if r.Err != nil || observedARN(r) == "" {
		return
	}
	now := simulator.Texts(h.XR, "status", "inheritedFailureDomains")
	if h.recorded == nil && len(now) > 0 {
		h.recorded = now
	}
	if forgotten := h.statusLost && h.annotationsDropped; !forgotten && len(now) > 0 && !slices.Equal(h.recorded, now) {
		h.failsf(poolConverges, "the pool inherits zones %v and did %v", now, h.recorded)
	}
}

// sendsPayload is property 4 within a run: what the Secret holds is what the object is to hold.
func (h *history) sendsPayload(r simulator.Reconcile) {
	secret := h.Objects[simulator.ObjectKey("Secret", exportsNamespace, poolName)]
	value := simulator.Text(secret, "data", "value")
	object, composed := r.Response.GetDesired().GetResources()[resourceObject]
	if value == "" || !composed {
		return
	}
	if sent := valueAt(object.GetResource(), "spec", "forProvider", "contentBase64").GetStringValue(); sent != value {
		h.failsf(rotationReachesS3, "the Secret holds %q and the run sends %q", value, sent)
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

// losesNoHealthyRoll is part of property 3: of a roll whose refresh is at work none says that it was lost, as soon as AWS tells of
// the refresh.
func (h *history) losesNoHealthyRoll(r simulator.Reconcile) {
	g, n := h.group(), len(h.AWS.Moves)
	if h.Reader.Lag > 0 || g == nil || n == 0 || !g.IsRefreshing() || h.AWS.Moves[n-1].Refresh == nil {
		return
	}
	for _, c := range r.Response.GetConditions() {
		if c.GetType() == "RollingOut" && c.GetReason() == string(rollout.ReasonRefreshNotStarted) {
			h.failsf(oneRefreshPerRoll, "a roll is said to be lost whose refresh is at work: %s", h.moves())
		}
	}
}

// retriesNoHealthyRoll is part of property 3: while the refresh of the group's last move is at work no run begins another attempt
// at the same roll, whatever answers lack.
func (h *history) retriesNoHealthyRoll(r simulator.Reconcile, existing []string) {
	g, n := h.group(), len(h.AWS.Moves)
	if g == nil || n == 0 || !g.IsRefreshing() || h.AWS.Moves[n-1].Refresh != g.Refreshes[len(g.Refreshes)-1] {
		return
	}
	a := attemptOf(h.AWS.Moves[n-1].Name)
	next := naming.ResourceTemplate(naming.Attempt{RollKey: a.RollKey, Number: a.Number + 1})
	if _, begun := r.Response.GetDesired().GetResources()[next]; begun && !slices.Contains(existing, next) {
		h.failsf(oneRefreshPerRoll, "a roll is begun again whose refresh is at work: %s", h.moves())
	}
}

// losesNoMember is the second half of property 6: Cluster API deletes the Nodes of those that leave the list.
func (h *history) losesNoMember(before []string) {
	after := simulator.Texts(h.XR, "status", "providerIDList")
	for _, id := range before {
		if !slices.Contains(after, id) {
			h.failsf(desiredAndMembersStay, "%s lives and left providerIDList", id)
		}
	}
}

// bringsBackNoMember is part of property 6: a member that left the list and has ended does not come back, whatever a replica
// remembers of it.
func (h *history) bringsBackNoMember(before []string) {
	after := simulator.Texts(h.XR, "status", "providerIDList")
	for _, id := range after {
		if i := h.AWS.Instances[id[strings.LastIndex(id, "/")+1:]]; h.left[id] && !slices.Contains(before, id) && (i == nil || i.State == "terminated") {
			h.failsf(desiredAndMembersStay, "%s ended, had left providerIDList and is there again", id)
		}
	}
	for _, id := range before {
		if !slices.Contains(after, id) {
			h.left[id] = true
		}
	}
}

// poll resources, and hold the first half of property 6: no one but AWS's own bounds moves the desired capacity of a group
// that exists.
func (h *history) poll(resources ...string) {
	type size struct {
		ARN     string
		Desired int
	}
	h.PollEach(resources, func(poll func()) {
		before := map[string]size{}
		for name, g := range h.AWS.Groups {
			before[name] = size{ARN: g.ARN, Desired: g.Desired}
		}
		poll()
		for name, g := range h.AWS.Groups {
			was, existed := before[name]
			if want := min(max(was.Desired, g.Min), g.Max); existed && was.ARN == g.ARN && g.Desired != want {
				h.failsf(desiredAndMembersStay, "the desired capacity was reset from %d to %d, the bounds are %d and %d", was.Desired, g.Desired, g.Min, g.Max)
			}
		}
	})
}

// converges is property 2: a pool to which nothing happens any more becomes what its spec says, or says why only a person
// can get it there, which then works.
func (h *history) converges() {
	h.Fresh = true
	h.restoreInputs()
	h.heal()
	if domains := simulator.Texts(h.XR, "spec", "failureDomains"); slices.Contains(domains, "us-east-1z") {
		h.set(nil, "failureDomains")
	}
	h.zonesOf = "abc"
	h.publish(h.exports())
	// After an hour nothing is doubted any more.
	h.reconcile(simulator.ReconcileOptions{})
	time.Sleep(time.Hour + time.Second)
	if rapid.IntRange(0, 3).Draw(h.rt, "denied") == 0 {
		// One fault stays: the provider may not start a refresh, and has to.
		h.AWS.FailNext(simulator.StartInstanceRefresh, math.MaxInt)
		h.set(pick(h, "trigger", "", "b", "c"), "rollout", "trigger")
		h.countKey()
	}
	h.rests()
	if simulator.Text(h.XR, "status", "doubtedReading") != "" {
		// Another instance was forgotten meanwhile, and the hour begins anew.
		time.Sleep(time.Hour + time.Second)
		h.rests()
	}

	g := h.group()
	if g == nil {
		h.failsf(poolConverges, "there is no group; conditions: %v", simulator.Field(h.XR, "status", "conditions"))
	}
	h.startsOneRefreshPerRoll()
	h.stallsForAReason(g)
	h.AWS.Heal()
	skipped := false
	for _, m := range g.Live() {
		skipped = skipped || m.IsSkipped()
		m.Protected = false
		if m.Lifecycle == simulator.LifecycleStandby {
			m.Lifecycle = simulator.LifecycleInService
		}
	}
	if left := h.outdated(g); h.phase() == "Stalled" || left > 0 {
		h.set("once more", "rollout", "trigger")
		h.countKey()
	} else if !skipped {
		h.isWhole()
		return
	}
	h.rests()
	h.isWhole()
}

// attemptOf a launch template's name, which is the group's and then the attempt. The group's may be another than it got
// in the end, when the cluster's exports change meanwhile.
func attemptOf(name string) naming.Attempt {
	parts := strings.Split(name, "-")
	if last := len(parts) - 1; len(parts[last]) < len("497384ff") {
		return naming.ParseAttempt(parts[last-1] + "-" + parts[last])
	}
	return naming.ParseAttempt(parts[len(parts)-1])
}

// outdated members of the group.
func (h *history) outdated(g *simulator.Group) int {
	n := 0
	for id, members := range h.memberTemplates(g) {
		if id != g.TemplateID {
			n += members
		}
	}
	return n
}

// stallsForAReason holds that a pool at rest is Stalled exactly when retries were used up, a refresh did not succeed, or
// what is left is protected.
func (h *history) stallsForAReason(g *simulator.Group) {
	outdated, reason := h.outdated(g), h.condition("RollingOut").Reason
	current, status := naming.Attempt{}, ""
	if t := h.AWS.Templates[g.TemplateID]; t != nil {
		current = attemptOf(t.Name)
	}
	if n := len(g.Refreshes); n > 0 {
		status = g.Refreshes[n-1].Status
	}
	skipped := 0
	for _, m := range g.Live() {
		if m.IsSkipped() && m.TemplateID != g.TemplateID && h.AWS.Lives(m.ID) {
			skipped++
		}
	}
	// Which refresh was there before this roll is read in one run, and kept in the status. What that run cannot read, or the
	// status loses, is taken for a refresh of this roll: it waits for a person then, as it does when it is.
	forgotten := h.statusLost || h.readFailed || h.Reader.Lag > 0
	justified := false
	switch h.phase() + "/" + reason {
	case "Idle/UpToDate":
		justified = outdated == 0
	case "Idle/MembersNotRead":
		justified = !h.setting.reads && (outdated == 0 || outdated == skipped || status == simulator.RefreshFailed || status == simulator.RefreshCancelled || h.isLost() || h.arePassedOver(g))
	case "Stalled/RefreshFailed":
		justified = outdated > skipped && status == simulator.RefreshFailed && (forgotten || !h.isLost())
	case "Stalled/RefreshCancelled":
		justified = outdated > skipped && status == simulator.RefreshCancelled && (forgotten || !h.isLost())
	case "Stalled/RetriesExhausted":
		justified = outdated > skipped && current.Number%10 == 3 && h.isLost()
	case "Stalled/MembersSkipped":
		justified = outdated > 0 && outdated == skipped
	case "Stalled/TemplateNameTaken", "Stalled/TemplateCreationUndetermined":
		justified = h.MR(naming.ResourceTemplate(naming.Attempt{RollKey: h.key, Number: 3})) != nil ||
			h.MR(naming.ResourceTemplate(naming.Attempt{RollKey: h.key, Number: 13})) != nil
	}
	if !justified {
		h.failsf(poolConverges, "at rest in phase %s/%s with %d members outdated, %d of them skipped, attempt %s, last refresh %q", h.phase(), reason, outdated, skipped, current, status)
	}
}

// arePassedOver reports whether the last refresh succeeded and left all that are outdated: they were protected until it had.
func (h *history) arePassedOver(g *simulator.Group) bool {
	n := len(g.Refreshes)
	if n == 0 || g.Refreshes[n-1].Status != simulator.RefreshSuccessful {
		return false
	}
	return !slices.ContainsFunc(g.Live(), func(m *simulator.Member) bool {
		return m.TemplateID != g.TemplateID && !slices.Contains(g.Refreshes[n-1].Replace, m.ID)
	})
}

// isLost reports whether the group's last move never got its refresh.
func (h *history) isLost() bool {
	n := len(h.AWS.Moves)
	return n > 0 && h.AWS.Moves[n-1].Lost
}

// rests until nothing moves any more.
func (h *history) rests() {
	quiet, before := 0, h.hash()
	for range 150 {
		h.reconcile(simulator.ReconcileOptions{})
		h.helps()
		h.poll(h.resources()...)
		h.AWS.Tick()
		// Where nothing moves, the next run comes when the response's time to live is over.
		time.Sleep(15 * time.Second)
		quiet++
		if after := h.hash(); after != before {
			quiet, before = 0, after
		}
		// An operation shows nothing while it is under way.
		if quiet == 3+h.AWS.RefreshDelay {
			return
		}
	}
	switch h.condition("RollingOut").Reason {
	case "TemplateNameTaken", "TemplateCreationUndetermined":
		// The provider goes on trying what it cannot do: to create that template, or to move the group to one that someone
		// deleted. Another trigger has to end that.
		return
	}
	h.failsf(poolConverges, "it does not come to rest")
}

// helps as a person does, with what no function can. That is what Crossplane leaked, and what the provider was
// interrupted while it created, but for launch templates without an id, as the function has those made under another
// name.
func (h *history) helps() {
	for _, resource := range h.Leaked() {
		if id := simulator.Text(h.MR(resource), "status", "atProvider", "id"); h.needed()[id] == "" {
			h.Delete(resource)
		}
	}
	for _, name := range h.mrNames() {
		mr := h.MRs[name]
		helpless := mr["kind"] != "LaunchTemplate" || simulator.Text(mr, "metadata", "deletionTimestamp") != "" ||
			simulator.Text(mr, "status", "atProvider", "id") != ""
		if simulator.IsCreationIncomplete(mr) && helpless {
			simulator.SetField(mr, nil, "metadata", "annotations", "crossplane.io/external-create-pending")
		}
		if t := h.AWS.TemplateNamed(simulator.Text(mr, "spec", "forProvider", "name")); t != nil && h.isTaken(mr, t) {
			h.AWS.RemoveTemplate(t.ID)
		}
	}
}

// isTaken reports whether someone deleted a template, and that the provider lost its next id: it shows the old one for good, and
// cannot make another of its name. Neither a run nor the provider can tell that from a template that is there.
func (h *history) isTaken(mr object, t *simulator.LaunchTemplate) bool {
	shown := simulator.Text(mr, "status", "atProvider", "id")
	return shown != "" && h.AWS.Templates[shown] == nil && h.AWS.Forgotten(t.ID)
}

// hash of all that a test can see, to tell whether anything moves.
func (h *history) hash() uint64 {
	parts := []any{h.XR["status"], h.AWS.Writes()}
	for _, name := range h.mrNames() {
		parts = append(parts, h.MRs[name]["spec"], h.MRs[name]["status"])
	}
	for _, g := range h.AWS.Groups {
		parts = append(parts, g.Desired)
		for _, m := range g.Members {
			parts = append(parts, m.ID, m.Lifecycle)
		}
	}
	return simulator.Hash(parts)
}

// isWhole holds what a pool has become: one template, every member on it, phase Idle, health running.
func (h *history) isWhole() {
	g := h.group()
	for id := range h.AWS.Templates {
		if id != g.TemplateID && !h.AWS.Forgotten(id) {
			h.failsf(poolConverges, "the group is on %s, AWS has %s as well, called %s", g.TemplateID, id, h.AWS.Templates[id].Name)
		}
	}
	if h.AWS.Templates[g.TemplateID] == nil {
		h.failsf(poolConverges, "the group is on %s, which AWS lacks", g.TemplateID)
	}
	if name := h.AWS.Templates[g.TemplateID].Name; attemptOf(name).RollKey != h.rollKey() {
		h.failsf(poolConverges, "the group is on template %s, the roll key is %s", name, h.rollKey())
	}
	want := map[string]int{}
	if g.Desired > 0 {
		want[g.TemplateID] = g.Desired
	}
	if diff := cmp.Diff(want, g.MemberTemplates()); diff != "" {
		h.failsf(poolConverges, "members by template, -want, +got:\n%s\nmoves %+v", diff, h.AWS.Moves)
	}
	if h.phase() != "Idle" {
		h.failsf(poolConverges, "phase is %s", h.phase())
	}
	state := simulator.Text(h.XR, "status", "health", "state")
	if healthy, _ := simulator.Field(h.XR, "status", "health", "healthy").(bool); h.setting.reads && (!healthy || state != "running") {
		h.failsf(poolConverges, "health: %v", simulator.Field(h.XR, "status", "health"))
	}
	if c := h.condition("Ready"); c.Status != "True" {
		h.failsf(poolConverges, "not ready: %v", simulator.Field(h.XR, "status", "conditions"))
	}
	if chosen := simulator.Texts(h.XR, "spec", "failureDomains"); len(chosen) == 0 {
		zones := []string{}
		for _, s := range g.Subnets {
			zones = append(zones, h.AWS.Zones[s])
		}
		if inherited := simulator.Texts(h.XR, "status", "inheritedFailureDomains"); !slices.Equal(zones, inherited) {
			h.failsf(poolConverges, "the group spans %v, the pool inherits %v", zones, inherited)
		}
	}
	if replicas, _ := simulator.Number(h.XR, "spec", "replicas"); simulator.Field(h.XR, "spec", "autoscaling") == nil && g.Desired != replicas {
		h.failsf(poolConverges, "desired capacity is %d, the spec has %d replicas", g.Desired, replicas)
	}
}

// startsOneRefreshPerRoll is property 3. A group moves to a template because the roll key changed, or because a roll is
// retried and counted as such, or because someone deleted the template. Each move starts one refresh, unless the call
// fails, and nothing else does.
func (h *history) startsOneRefreshPerRoll() {
	refreshes, keys, recreated := 0, 0, 0
	last := map[string]naming.Attempt{}
	for i, m := range h.AWS.Moves {
		switch {
		case m.Refresh != nil && m.Lost, m.Refresh == nil && !m.Lost:
			h.failsf(oneRefreshPerRoll, "move %d: %+v", i, *m)
		case m.Refresh != nil:
			refreshes++
		}
		a := attemptOf(m.Name)
		previous, again := last[m.From]
		last[m.To] = a
		switch {
		case a.Number%10 > 3:
			h.failsf(oneRefreshPerRoll, "move %d is retry number %d", i, a.Number%10)
		case a.Number%10 > 0 && h.isRetry(i, a):
		case again && previous == a:
			recreated++
		default:
			keys++
		}
	}
	if refreshes != h.AWS.Refreshes {
		h.failsf(oneRefreshPerRoll, "%d refreshes were started for %d moves", h.AWS.Refreshes, refreshes)
	}
	if keys+recreated > h.keys+h.templatesRemoved || recreated > h.templatesRemoved {
		h.failsf(oneRefreshPerRoll, "the group moved %d times for %d changes of the roll key, and %d times for %d deleted templates: %s", keys, h.keys, recreated, h.templatesRemoved, h.moves())
	}
}

// isRetry reports whether a move is a counted retry for which there was a reason. The move before it got no refresh, or one that
// passed over members, or the attempt before could not be created.
func (h *history) isRetry(i int, a naming.Attempt) bool {
	before := naming.Attempt{RollKey: a.RollKey, Number: a.Number - 1}
	if h.AWS.Taken[strings.TrimSuffix(h.AWS.Moves[i].Name, a.String())+before.String()] || i == 0 {
		return true
	}
	m := h.AWS.Moves[i-1]
	return m.Lost || m.Refresh.Status == simulator.RefreshSuccessful
}

func (h *history) moves() string {
	var b strings.Builder
	for _, m := range h.AWS.Moves {
		fmt.Fprintf(&b, "\n%s -> %s (%s), lost %t, refresh %+v", m.From, m.To, m.Name, m.Lost, m.Refresh)
	}
	return b.String()
}

// standsStill is property 5: after convergence, further runs change nothing.
func (h *history) standsStill() {
	writes, specsBefore := h.AWS.Writes(), specs(h.life)
	var first []byte
	for i := range 3 {
		h.round()
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(h.last.Response)
		if err != nil {
			h.rt.Fatal(err)
		}
		if i == 0 {
			first = b
		} else if !bytes.Equal(first, b) {
			h.failsf(convergedPoolIsStill, "responses differ though nothing changes, -first, +later:\n%s", cmp.Diff(string(first), string(b)))
		}
	}
	if len(h.last.Response.GetResults()) > 0 {
		h.failsf(convergedPoolIsStill, "events though nothing changes: %v", h.last.Response.GetResults())
	}
	if got := h.AWS.Writes() - writes; got != 0 {
		h.failsf(convergedPoolIsStill, "%d calls of AWS though nothing changes", got)
	}
	if after := specs(h.life); simulator.Hash(specsBefore) != simulator.Hash(after) {
		h.failsf(convergedPoolIsStill, "managed resources change though nothing else does:\n%s", cmp.Diff(specsBefore, after))
	}
}

// rotatesInPlace is property 4 of a pool at rest: one run later the payload is on its way to S3, and all that was called
// is PutObject.
func (h *history) rotatesInPlace() {
	writes, puts := h.AWS.Writes(), h.AWS.Calls[simulator.PutObject]
	h.rotate("last")
	h.reconcile(simulator.ReconcileOptions{})
	h.PollAll()
	if diff := cmp.Diff(cloudConfig("last"), h.staged()); diff != "" {
		h.failsf(rotationReachesS3, "payload in S3, -want, +got:\n%s", diff)
	}
	h.round()
	if other := h.AWS.Writes() - writes - (h.AWS.Calls[simulator.PutObject] - puts); other != 0 {
		h.failsf(rotationReachesS3, "a rotation made %d calls beside PutObject", other)
	}
}

// TestDeterminism holds that equal input gives byte-equal output, in whatever order maps and sets come.
func TestDeterminism(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		inBubble(t, func() {
			h := newHistory(rt, rapid.SampledFrom(settings).Draw(rt, "setting"))
			actions := h.actions()
			check := func(*rapid.T) { h.sameWhenShuffled() }
			actions["shuffle 1"], actions["shuffle 2"], actions["shuffle 3"] = check, check, check
			rt.Repeat(actions)
			h.sameWhenShuffled()
		})
	})
}

// sameWhenShuffled runs the last request again with everything that has no order in another one.
func (h *history) sameWhenShuffled() {
	h.anyReconcile()
	rnd := rand.New(rand.NewSource(rapid.Int64Range(0, 1<<20).Draw(h.rt, "shuffle")))
	for range 2 {
		// What AWS said in that run, one reading after the other.
		said := h.replicas.last.readings
		reading := AWSReaderFn(func(context.Context, pool.Query) pool.Reading {
			r := said[0]
			said = said[1:]
			if g := r.Group.Value; g != nil {
				shuffle(rnd, g.Members)
			}
			shuffle(rnd, r.Instances.Value)
			return r
		})
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
	return valueAt(s, path...).GetListValue().GetValues()
}

func valueAt(s *structpb.Struct, path ...string) *structpb.Value {
	v := structpb.NewStructValue(s)
	for _, name := range path {
		v = v.GetStructValue().GetFields()[name]
	}
	return v
}
