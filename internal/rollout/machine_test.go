package rollout

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
)

const (
	oldKey = "0ld00000"
	newKey = "4ew00000"
)

var (
	oldTemplate = Template{Resource: "launch-template-" + oldKey, ID: "lt-old"}
	newTemplate = Template{Resource: "launch-template-" + newKey, ID: "lt-new"}
	creating    = Template{Resource: "launch-template-" + newKey}
	onOld       = &Group{Sent: "lt-old", Observed: "lt-old"}
	onNew       = &Group{Sent: "lt-new", Observed: "lt-new"}
	moving      = &Group{Sent: "lt-new", Observed: "lt-old"}
)

// seenAt is a group at a generation.
func seenAt(generation int64, g Group) *Group {
	g.Generation = generation
	return &g
}

// sentAt is the memory of a run that saw the group at a generation, sent it to a template, and had others to leave.
func sentAt(generation int64, id string, left ...string) Memory {
	return Memory{RollKey: "b", Phase: PhaseSwitchPending, SentID: id, Generation: generation, Retired: left}
}

// members on the given templates, with ids i-0, i-1 and so on.
func members(templates ...string) []Member {
	out := make([]Member, 0, len(templates))
	for i, t := range templates {
		out = append(out, Member{ID: fmt.Sprintf("i-%d", i), TemplateID: t})
	}
	return out
}

// readAt is when AWS was read, and longBefore and later are readings that a lost roll can be told by beside that.
var (
	readAt     = time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)
	longBefore = readAt.Add(-time.Minute)
	later      = readAt.Add(time.Minute)
)

// reading of AWS once the group is on the new template.
func reading(status string, m ...Member) *Reading {
	r := &Reading{Oldest: readAt, Newest: readAt, TemplateID: "lt-new", Members: m, RefreshRead: true}
	if status != "" {
		r.Refresh = &Refresh{ID: "r-1", Status: status}
	}
	return r
}

// TestOf is the design's paragraph "Roll", step by step, and what stale or missing knowledge makes of it.
func TestOf(t *testing.T) {
	type want struct {
		phase    Phase
		current  string // Name among the composed resources.
		group    string // Template id that the group gets.
		keep     []string
		outdated *int
	}
	const newName, oldName = "launch-template-" + newKey, "launch-template-" + oldKey
	cases := map[string]struct {
		reason string
		args   Inputs
		want   want
	}{
		"New": {
			reason: "A new pool's template comes first.",
			args:   Inputs{},
			want:   want{phase: PhaseTemplatePending, current: newName},
		},
		"NewCreating": {
			reason: "There is no group before its template has an id.",
			args:   Inputs{Templates: []Template{creating}},
			want:   want{phase: PhaseTemplatePending, current: newName},
		},
		"NewCreated": {
			reason: "The group gets the template's literal id.",
			args:   Inputs{Templates: []Template{newTemplate}},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new"},
		},
		"NewGroupNotInAWS": {
			reason: "A group that was sent and is not seen in AWS is not there yet.",
			args:   Inputs{Templates: []Template{newTemplate}, Group: &Group{Sent: "lt-new"}},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new"},
		},
		"KeyChangesBeforeGroup": {
			reason: "While there is no group, an old template stays only until the current one exists.",
			args:   Inputs{Templates: []Template{oldTemplate, creating}},
			want:   want{phase: PhaseTemplatePending, current: newName, keep: []string{oldName}},
		},
		"KeyChangedBeforeGroup": {
			reason: "Nothing launches from the old template then.",
			args:   Inputs{Templates: []Template{oldTemplate, newTemplate}},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new"},
		},
		"Steady": {
			reason: "A group on the current template stays there.",
			args:   Inputs{Templates: []Template{newTemplate}, Group: onNew},
			want:   want{phase: PhaseIdle, current: newName, group: "lt-new"},
		},
		"NewKey": {
			reason: "A new key makes a new template, keeps the old one, and keeps the group on it.",
			args:   Inputs{Templates: []Template{oldTemplate}, Group: onOld},
			want:   want{phase: PhaseTemplatePending, current: newName, group: "lt-old", keep: []string{oldName}},
		},
		"TemplateCreating": {
			reason: "A template without an id moves no group.",
			args:   Inputs{Templates: []Template{oldTemplate, creating}, Group: onOld},
			want:   want{phase: PhaseTemplatePending, current: newName, group: "lt-old", keep: []string{oldName}},
		},
		"TemplateCreated": {
			reason: "An observed id moves the group, and the old template stays in the very run that does so.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: onOld},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new", keep: []string{oldName}},
		},
		"Moving": {
			reason: "The old template stays while AWS has the group on it.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: moving},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new", keep: []string{oldName}},
		},
		"ObservedBeforeSent": {
			reason: "A group that is seen on the new template though it was told to use the old one is about to leave it: only an id that it never had can prove that it is back.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: &Group{Sent: "lt-old", Observed: "lt-new"}},
			want:   want{phase: PhaseTemplatePending, current: newName + "-10", group: "lt-old", keep: []string{oldName, newName}},
		},
		"ObservedBeforeSentByLastRun": {
			reason: "The same where only the last run knows that the group was told to, as what is seen of it is older.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: seenAt(5, *onNew), Memory: sentAt(5, "lt-old", newKey)},
			want:   want{phase: PhaseTemplatePending, current: newName + "-10", group: "lt-old", keep: []string{oldName, newName}},
		},
		"ObservedBeforeSentTwice": {
			reason: "To be seen on a third template proves nothing either, where that is older than what the last run sent.",
			args: Inputs{
				Templates: []Template{newTemplate, oldTemplate, {Resource: oldName + "-10", ID: "lt-10"}},
				Group:     seenAt(5, Group{Sent: "lt-new", Observed: "lt-old"}), Memory: sentAt(5, "lt-10", oldKey, newKey),
			},
			want: want{phase: PhaseTemplatePending, current: newName + "-10", group: "lt-10", keep: []string{oldName, oldName + "-10", newName}},
		},
		"UnseenSinceSent": {
			reason: "A group that is not seen at all may be about to leave the template as well, when its key comes back.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: &Group{Sent: "lt-old"}, Memory: sentAt(5, "lt-old", newKey)},
			want:   want{phase: PhaseTemplatePending, current: newName + "-10", group: "lt-old", keep: []string{oldName, newName}},
		},
		"UnseenAndNeverLeft": {
			reason: "A group that never had the template can go there.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: &Group{Sent: "lt-old"}, Memory: sentAt(5, "lt-old")},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new", keep: []string{oldName}},
		},
		"UnseenAndMadeAgain": {
			reason: "A template that was made again with another id is no reason to make yet another.",
			args:   Inputs{Templates: []Template{newTemplate}, Group: &Group{Sent: "lt-gone"}, Memory: Memory{RollKey: newKey, Phase: PhaseSwitchPending, SentID: "lt-gone"}},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new"},
		},
		"SentByLastRun": {
			reason: "A group that is seen as it was before the last run is not sent back.",
			args:   Inputs{Templates: []Template{oldTemplate, {Resource: "launch-template-b", ID: "lt-b"}}, Group: seenAt(5, *onOld), Memory: sentAt(5, "lt-b", oldKey)},
			want:   want{phase: PhaseTemplatePending, current: newName, group: "lt-b", keep: []string{oldName, "launch-template-b"}},
		},
		"Held": {
			reason: "A group that cannot be told anything stays where it was sent.",
			args:   Inputs{Templates: []Template{oldTemplate, newTemplate}, Group: onOld, GroupHeld: true},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-old", keep: []string{oldName}},
		},
		"HeldAndOld": {
			reason: "So does one that is seen as it was before.",
			args:   Inputs{Templates: []Template{oldTemplate, newTemplate}, Group: seenAt(5, *onOld), Memory: sentAt(5, "lt-new", oldKey), GroupHeld: true},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new", keep: []string{oldName}},
		},
		"ObservedNothing": {
			reason: "A group whose observed template is missing proves nothing.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: &Group{Sent: "lt-new"}},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new", keep: []string{oldName}},
		},
		"SwitchedWithoutReads": {
			reason: "Without reads the group on the new template is all there is to know.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: onNew},
			want:   want{phase: PhaseIdle, current: newName, group: "lt-new"},
		},
		"SwitchedReadFailed": {
			reason: "With reads a failed one proves nothing: the old template stays, and what was not seen to end is not over.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: onNew, Wanted: true, Memory: Memory{RollKey: newKey, Phase: PhaseSwitchPending}},
			want:   want{phase: PhaseRefreshing, current: newName, group: "lt-new", keep: []string{oldName}},
		},
		"Refreshing": {
			reason: "Members on the old template keep it.",
			args: Inputs{
				Templates: []Template{newTemplate, oldTemplate}, Group: onNew, Wanted: true,
				Reading: reading("InProgress", members("lt-new", "lt-old", "lt-old")...),
			},
			want: want{phase: PhaseRefreshing, current: newName, group: "lt-new", keep: []string{oldName}, outdated: new(2)},
		},
		"RefreshEnding": {
			reason: "A refresh that is at work keeps it, even with no member left on it.",
			args: Inputs{
				Templates: []Template{newTemplate, oldTemplate}, Group: onNew, Wanted: true,
				Reading: reading("Baking", members("lt-new", "lt-new")...),
			},
			want: want{phase: PhaseRefreshing, current: newName, group: "lt-new", keep: []string{oldName}, outdated: new(0)},
		},
		"RefreshNewStatus": {
			reason: "A status that no one has heard of is at work.",
			args: Inputs{
				Templates: []Template{newTemplate, oldTemplate}, Group: onNew, Wanted: true,
				Reading: reading("Dreaming", members("lt-new")...),
			},
			want: want{phase: PhaseRefreshing, current: newName, group: "lt-new", keep: []string{oldName}, outdated: new(0)},
		},
		"Leaving": {
			reason: "A member on its way out needs no replacement, and its template until it has gone.",
			args: Inputs{
				Templates: []Template{newTemplate, oldTemplate}, Group: onNew, Wanted: true,
				Reading: reading("Successful", Member{ID: "i-0", TemplateID: "lt-new"}, Member{ID: "i-1", TemplateID: "lt-old", Leaving: true}),
			},
			want: want{phase: PhaseIdle, current: newName, group: "lt-new", keep: []string{oldName}, outdated: new(0)},
		},
		"Finished": {
			reason: "The old template goes when the group, every member and the refresh are done with it.",
			args: Inputs{
				Templates: []Template{newTemplate, oldTemplate}, Group: onNew, Wanted: true,
				Reading: reading("Successful", members("lt-new", "lt-new")...),
			},
			want: want{phase: PhaseIdle, current: newName, group: "lt-new", outdated: new(0)},
		},
		"FinishedWithoutRefresh": {
			reason: "A pool that had no member needed no refresh.",
			args:   Inputs{Templates: []Template{newTemplate, oldTemplate}, Group: onNew, Wanted: true, Reading: reading("")},
			want:   want{phase: PhaseIdle, current: newName, group: "lt-new", outdated: new(0)},
		},
		"ByHand": {
			reason: "An instance that came from no template keeps none and is not outdated.",
			args: Inputs{
				Templates: []Template{newTemplate, oldTemplate}, Group: onNew, Wanted: true,
				Reading: reading("Successful", members("lt-new", "")...),
			},
			want: want{phase: PhaseIdle, current: newName, group: "lt-new", outdated: new(0)},
		},
		"ForeignTemplate": {
			reason: "A member from a template that is none of ours is outdated all the same.",
			args: Inputs{
				Templates: []Template{newTemplate}, Group: onNew, Wanted: true,
				Reading: reading("InProgress", members("lt-new", "lt-foreign")...),
			},
			want: want{phase: PhaseRefreshing, current: newName, group: "lt-new", outdated: new(1)},
		},
		"OutdatedBeforeSwitch": {
			reason: "Members are counted as soon as there is a template to compare with.",
			args: Inputs{
				Templates: []Template{newTemplate, oldTemplate}, Group: onOld, Wanted: true,
				Reading: reading("", members("lt-old", "lt-old")...),
			},
			want: want{phase: PhaseSwitchPending, current: newName, group: "lt-new", keep: []string{oldName}, outdated: new(2)},
		},
		"Intermediate": {
			reason: "A key that changes again in mid-roll keeps every template until the newest is in use.",
			args: Inputs{
				Templates: []Template{oldTemplate, {Resource: "launch-template-m1d00000", ID: "lt-mid"}, creating},
				Group:     &Group{Sent: "lt-mid", Observed: "lt-old"},
			},
			want: want{phase: PhaseTemplatePending, current: newName, group: "lt-mid", keep: []string{oldName, "launch-template-m1d00000"}},
		},
		"IntermediateNeverCreated": {
			reason: "One that never came to exist goes with the others.",
			args: Inputs{
				Templates: []Template{oldTemplate, {Resource: "launch-template-m1d00000"}, newTemplate}, Group: onNew, Wanted: true,
				Reading: reading("Successful", members("lt-new")...),
			},
			want: want{phase: PhaseIdle, current: newName, group: "lt-new", outdated: new(0)},
		},
		"IntermediateInUse": {
			reason: "Of several old templates only those stay that members still need.",
			args: Inputs{
				Templates: []Template{oldTemplate, {Resource: "launch-template-m1d00000", ID: "lt-mid"}, newTemplate}, Group: onNew, Wanted: true,
				Reading: reading("Successful", Member{ID: "i-0", TemplateID: "lt-new"}, Member{ID: "i-1", TemplateID: "lt-mid", Leaving: true}),
			},
			want: want{phase: PhaseIdle, current: newName, group: "lt-new", keep: []string{"launch-template-m1d00000"}, outdated: new(0)},
		},
		"LeftBehind": {
			reason: "A template stays for a member that a finished refresh passed over.",
			args: Inputs{
				Templates: []Template{oldTemplate, newTemplate}, Group: onNew, Wanted: true,
				Reading: reading("Successful", Member{ID: "i-0", TemplateID: "lt-new"}, Member{ID: "i-1", TemplateID: "lt-old", Skipped: true}),
			},
			want: want{phase: PhaseStalled, current: newName, group: "lt-new", keep: []string{oldName}, outdated: new(1)},
		},
		"Unpersisted": {
			reason: "A template stays until its id is persisted: a provider that restarts could not delete it.",
			args: Inputs{
				Templates: []Template{{Resource: oldName, ID: "lt-old", Unpersisted: true}, newTemplate}, Group: onNew, Wanted: true,
				Reading: reading("Successful", members("lt-new")...),
			},
			want: want{phase: PhaseIdle, current: newName, group: "lt-new", keep: []string{oldName}, outdated: new(0)},
		},
		"Reverted": {
			reason: "A key that is taken back while the group is on the other's template goes back to its own.",
			args:   Inputs{RollKey: oldKey, Templates: []Template{oldTemplate, newTemplate}, Group: onNew},
			want:   want{phase: PhaseSwitchPending, current: oldName, group: "lt-old", keep: []string{newName}},
		},
		"RevertedOnTheWay": {
			reason: "A key that is taken back while the group moves away from its template gets another: the group still looks as if it were on that one.",
			args:   Inputs{RollKey: oldKey, Templates: []Template{oldTemplate, newTemplate}, Group: moving},
			want:   want{phase: PhaseTemplatePending, current: oldName + "-10", group: "lt-new", keep: []string{oldName, newName}},
		},
		"RevertedTooLate": {
			reason: "A key that is taken back while its template is being deleted gets another.",
			args: Inputs{
				RollKey: oldKey, Templates: []Template{{Resource: oldName, ID: "lt-old", Terminating: true}, newTemplate}, Group: onNew,
			},
			want: want{phase: PhaseTemplatePending, current: oldName + "-10", group: "lt-new", keep: []string{oldName, newName}},
		},
		"RevertedBeforeTheMove": {
			reason: "A key that is taken back before the group was told to move changes nothing.",
			args:   Inputs{RollKey: oldKey, Templates: []Template{oldTemplate, newTemplate}, Group: onOld},
			want:   want{phase: PhaseIdle, current: oldName, group: "lt-old"},
		},
		"GroupLost": {
			reason: "A group that is not observed, though there was one, may use any template.",
			args:   Inputs{Templates: []Template{oldTemplate, newTemplate}, GroupLost: true},
			want:   want{phase: PhaseSwitchPending, current: newName, group: "lt-new", keep: []string{oldName}},
		},
		"TemplateLost": {
			reason: "A group whose template's managed resource is gone is told to stay on it until there is a new one.",
			args:   Inputs{Group: onOld},
			want:   want{phase: PhaseTemplatePending, current: newName, group: "lt-old"},
		},
		"SentLost": {
			reason: "Where it is not known what was sent, what AWS has stands.",
			args:   Inputs{Group: &Group{Observed: "lt-old"}},
			want:   want{phase: PhaseTemplatePending, current: newName, group: "lt-old"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.args.RollKey == "" {
				tc.args.RollKey = newKey
			}
			p := Of(tc.args)
			got := want{phase: p.Phase, current: naming.ResourceTemplate(p.Current), group: p.GroupID, keep: p.Keep, outdated: p.Outdated}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if p.Reason == "" {
				t.Errorf("\n%s\nOf(...): phase %s has no reason", tc.reason, p.Phase)
			}
		})
	}
}

// TestNeverDropsWhatIsInUse holds the invariant of every roll for whatever is observed, true or stale. A template that
// the group or a member uses is in desired, as far as anyone can know, and the group gets one that exists.
func TestNeverDropsWhatIsInUse(t *testing.T) {
	keys := []string{"aaaaaaaa", "bbbbbbbb", "cccccccc"}
	rapid.Check(t, func(t *rapid.T) {
		var (
			in  = Inputs{RollKey: rapid.SampledFrom(keys).Draw(t, "key"), Wanted: rapid.Bool().Draw(t, "wanted")}
			ids = []string{""}
		)
		for _, k := range keys {
			if !rapid.Bool().Draw(t, "exists") {
				continue
			}
			tpl := Template{Resource: naming.ResourceTemplate(naming.Attempt{RollKey: k, Number: rapid.SampledFrom([]int{0, 0, 1, 13}).Draw(t, "attempt")})}
			if rapid.Bool().Draw(t, "in AWS") {
				tpl.ID = "lt-" + k
				ids = append(ids, tpl.ID)
			}
			in.Templates = append(in.Templates, tpl)
		}
		id := rapid.SampledFrom(ids)
		if rapid.Bool().Draw(t, "group") {
			in.Group = &Group{Sent: id.Draw(t, "sent"), Observed: id.Draw(t, "observed"), Busy: rapid.Bool().Draw(t, "busy")}
		}
		if in.Wanted && rapid.Bool().Draw(t, "read") {
			in.Reading = reading(rapid.SampledFrom([]string{"", "InProgress", "Successful", "Failed", "Cancelled"}).Draw(t, "refresh"))
			for i, tpl := range rapid.SliceOfN(id, 0, 4).Draw(t, "members") {
				in.Reading.Members = append(in.Reading.Members, Member{ID: fmt.Sprint(i), TemplateID: tpl, Leaving: rapid.Bool().Draw(t, "leaving")})
			}
		}
		in.Memory = Memory{
			RollKey:     rapid.SampledFrom(keys).Draw(t, "last key"),
			LostReading: rapid.SampledFrom([]time.Time{{}, longBefore, readAt}).Draw(t, "lost"),
		}

		p := Of(in)
		for _, tpl := range in.Templates {
			lives := tpl.Resource == naming.ResourceTemplate(p.Current) || slices.Contains(p.Keep, tpl.Resource)
			if lives || in.Group == nil || tpl.ID == "" {
				continue
			}
			if tpl.ID == in.Group.Sent || tpl.ID == in.Group.Observed || tpl.ID == p.GroupID {
				t.Errorf("Of(%+v): %s is dropped while the group uses it", in, tpl.Resource)
			}
			if in.Wanted && (in.Reading == nil || in.Reading.isRefreshing() ||
				slices.ContainsFunc(in.Reading.Members, func(m Member) bool { return m.TemplateID == tpl.ID })) {
				t.Errorf("Of(%+v): %s is dropped while a member may use it", in, tpl.Resource)
			}
		}
		if in.Group != nil && (in.Group.Sent != "" || in.Group.Observed != "") && p.GroupID == "" {
			t.Errorf("Of(%+v): the group loses its template", in)
		}
		if p.CurrentID == "" && in.Group != nil && in.Group.Sent != "" && p.GroupID != in.Group.Sent {
			t.Errorf("Of(%+v): the group moves to %q, before the current template exists", in, p.GroupID)
		}
		if !slices.IsSorted(p.Keep) {
			t.Errorf("Of(%+v): %v is not sorted", in, p.Keep)
		}
		slices.Reverse(in.Templates)
		if in.Reading != nil {
			slices.Reverse(in.Reading.Members)
		}
		if diff := cmp.Diff(p, Of(in)); diff != "" {
			t.Errorf("Of(%+v): the order of templates or members matters:\n%s", in, diff)
		}
	})
}

// A world plays Crossplane, the provider and AWS around a plan: what a plan asks for is there in the next run.
type world struct {
	in Inputs
	// lose makes the provider lose every refresh that it should start.
	lose bool
	read int
}

// run a plan, then let everyone do their part.
func (w *world) run() Plan {
	w.read++
	if w.in.Reading != nil {
		w.in.Reading.Oldest = readAt.Add(time.Duration(w.read) * 10 * time.Second)
		w.in.Reading.Newest = w.in.Reading.Oldest
	}
	p := Of(w.in)
	w.in.Memory = p.Memory
	w.in.Templates = slices.DeleteFunc(w.in.Templates, func(t Template) bool {
		return t.Resource != naming.ResourceTemplate(p.Current) && !slices.Contains(p.Keep, t.Resource)
	})
	if p.CurrentID == "" {
		w.in.Templates = append(w.in.Templates, Template{Resource: naming.ResourceTemplate(p.Current), ID: "lt-" + p.Current.String()})
	}
	if p.GroupID != w.in.Group.Sent {
		w.in.Group = &Group{Sent: p.GroupID, Observed: p.GroupID}
		w.in.Reading.TemplateID = p.GroupID
		if !w.lose {
			w.in.Reading.Refresh = &Refresh{ID: "r-" + p.GroupID, Status: "InProgress"}
		}
	}
	return p
}

// replace all members.
func (w *world) replace() {
	for i := range w.in.Reading.Members {
		w.in.Reading.Members[i].TemplateID = w.in.Group.Sent
	}
	w.in.Reading.Refresh.Status = "Successful"
}

func newWorld() *world {
	return &world{in: Inputs{
		RollKey: newKey, Templates: []Template{oldTemplate}, Group: onOld, Wanted: true,
		Reading: &Reading{TemplateID: "lt-old", Members: members("lt-old", "lt-old"), RefreshRead: true},
		Memory:  Memory{RollKey: oldKey, Phase: PhaseIdle},
	}}
}

func TestRollRunsThrough(t *testing.T) {
	w := newWorld()
	var phases []Phase
	for range 4 {
		phases = append(phases, w.run().Phase)
	}
	w.replace()
	last := w.run()
	phases = append(phases, last.Phase)
	want := []Phase{PhaseTemplatePending, PhaseSwitchPending, PhaseRefreshing, PhaseRefreshing, PhaseIdle}
	if diff := cmp.Diff(want, phases); diff != "" {
		t.Errorf("phases of a roll: -want, +got:\n%s", diff)
	}
	if len(w.in.Templates) != 1 || w.in.Templates[0].ID != "lt-"+newKey {
		t.Errorf("templates after a roll: %+v", w.in.Templates)
	}
	if again := w.run(); cmp.Diff(last, again) != "" {
		t.Errorf("a pool at rest changes: -before, +after:\n%s", cmp.Diff(last, again))
	}
}

// made is when the new template was, where that matters.
var made = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// withRefresh are the inputs of a roll whose members are on the old template, and whose refresh began at a time.
func withRefresh(status string, started time.Time) Inputs {
	t, r := newTemplate, reading(status, members("lt-old")...)
	t.Created, r.Refresh.Started = made, started
	return Inputs{RollKey: newKey, Templates: []Template{oldTemplate, t}, Wanted: true, Reading: r}
}

// TestEarlierRefresh holds that the refresh which is there before the group is told of a template is remembered by its id, from
// the run that tells it. Until then it is beside the one of the template that the group is on, as the change can be taken back.
func TestEarlierRefresh(t *testing.T) {
	type want struct{ earlier, newest string }
	pending := Memory{RollKey: newKey, Phase: PhaseTemplatePending, SentID: "lt-old", EarlierRefresh: "r-0", NewestRefresh: "r-older"}
	cases := map[string]struct {
		reason string
		args   func(in *Inputs)
		want   want
	}{
		"Told": {
			reason: "What is there in the run that tells the group is earlier, whenever it began.",
			want:   want{earlier: "r-1"},
		},
		"None": {
			reason: "So is that there was none.",
			args:   func(in *Inputs) { in.Reading.Refresh = nil },
			want:   want{earlier: NoRefresh},
		},
		"NotRead": {
			reason: "A run that cannot read it goes by the last one that could.",
			args:   func(in *Inputs) { in.Reading = nil },
			want:   want{earlier: "r-older"},
		},
		"TemplatePending": {
			reason: "Before the group is told, its own roll's record stays.",
			args:   func(in *Inputs) { in.Templates[1].ID = "" },
			want:   want{earlier: "r-0", newest: "r-1"},
		},
		"TakenBack": {
			reason: "A change that is taken back leaves that record as it was: the roll's own refresh is no earlier one.",
			args:   func(in *Inputs) { in.RollKey = oldKey },
			want:   want{earlier: "r-0"},
		},
		"StatusNotWritten": {
			reason: "A status from before the run that told the group has the newest that was there.",
			args:   func(in *Inputs) { in.Group, in.Reading.TemplateID = onNew, "lt-new" },
			want:   want{earlier: "r-older"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := withRefresh("Pending", made.Add(-time.Hour))
			in.Reading.TemplateID = "lt-old"
			in.Group, in.Memory = onOld, pending
			if tc.args != nil {
				tc.args(&in)
			}
			p := Of(in)
			if diff := cmp.Diff(tc.want, want{p.Memory.EarlierRefresh, p.Memory.NewestRefresh}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestClocksMayDiffer holds that a refresh which failed is not started again by itself. That is so though the API
// server's clock, by which the template was made, is two minutes before or behind that of AWS, by which the refresh
// began.
func TestClocksMayDiffer(t *testing.T) {
	cases := map[string]struct {
		reason  string
		earlier string
		started time.Duration
		want    int
	}{
		"RecordedNone":        {reason: "There was none before, so this is the roll's.", earlier: NoRefresh, started: -2 * time.Minute},
		"RecordedAnother":     {reason: "There was another before.", earlier: "r-0", started: -2 * time.Minute},
		"RecordedThis":        {reason: "This is the one from before, though it seems to have begun after.", earlier: "r-1", started: 2 * time.Minute, want: 1},
		"NotRecorded":         {reason: "Without a record a refresh that began about then may be the roll's, which waits for a person.", started: -2 * time.Minute},
		"NotRecordedAfter":    {reason: "One from after the template is.", started: time.Hour},
		"NotRecordedBefore":   {reason: "One that began well before the template was made is not.", started: -2*time.Minute - time.Second, want: 1},
		"NotRecordedNotBegun": {reason: "AWS does not say when one that is Pending began.", started: time.Duration(-1 << 63)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			started := made.Add(tc.started)
			if tc.started == time.Duration(-1<<63) {
				started = time.Time{}
			}
			in := withRefresh("Failed", started)
			in.Group = onNew
			in.Memory = Memory{RollKey: newKey, Phase: PhaseLost, SentID: "lt-new", LostReading: longBefore, EarlierRefresh: tc.earlier}
			if p := Of(in); p.Current.Number != tc.want {
				t.Errorf("\n%s\nOf(...): want attempt %d, got %d in phase %s", tc.reason, tc.want, p.Current.Number, p.Phase)
			}
		})
	}
}

// TestLastKnownPhase holds that a phase which only AWS can tell stays while AWS cannot be read, and that a switch which
// was not seen to be over is not taken for finished.
func TestLastKnownPhase(t *testing.T) {
	both := []Template{newTemplate, oldTemplate}
	cases := map[string]struct {
		args      Memory
		templates []Template
		want      Phase
	}{
		"NewPool":         {args: Memory{RollKey: newKey, Phase: PhaseSwitchPending}, want: PhaseIdle},
		"NewPoolNoMemory": {want: PhaseIdle},
		"NoMemory":        {templates: both, want: PhaseRefreshing},
		"Idle":            {args: Memory{RollKey: newKey, Phase: PhaseIdle}, want: PhaseIdle},
		"Refreshing":      {args: Memory{RollKey: newKey, Phase: PhaseRefreshing}, want: PhaseRefreshing},
		"Lost":            {args: Memory{RollKey: newKey, Phase: PhaseLost}, want: PhaseLost},
		"Stalled":         {args: Memory{RollKey: newKey, Phase: PhaseStalled}, want: PhaseStalled},
		"SwitchPending":   {args: Memory{RollKey: newKey, Phase: PhaseSwitchPending}, templates: both, want: PhaseRefreshing},
		"TemplatePending": {args: Memory{RollKey: newKey, Phase: PhaseTemplatePending}, templates: both, want: PhaseRefreshing},
		"OtherKey":        {args: Memory{RollKey: oldKey, Phase: PhaseIdle}, templates: both, want: PhaseRefreshing},
		"Unheard":         {args: Memory{RollKey: newKey, Phase: "Dancing"}, want: PhaseIdle},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.templates == nil {
				tc.templates = []Template{newTemplate}
			}
			p := Of(Inputs{RollKey: newKey, Templates: tc.templates, Group: onNew, Wanted: true, Memory: tc.args})
			if p.Phase != tc.want || p.Reason != ReasonMembersUnknown {
				t.Errorf("Of(...): want %s/%s, got %s/%s", tc.want, ReasonMembersUnknown, p.Phase, p.Reason)
			}
			if p.Outdated != nil {
				t.Errorf("Of(...): %d outdated, though nothing was read", *p.Outdated)
			}
		})
	}
}

// TestRetired holds what is remembered of attempts at other keys: each once, and the last ten.
func TestRetired(t *testing.T) {
	var before []string
	for i := range 10 {
		before = append(before, fmt.Sprintf("%08d", i))
	}
	cases := map[string]struct {
		reason string
		args   Inputs
		want   []string
	}{
		"None": {
			reason: "A template of the key itself is not let go.",
			args:   Inputs{Templates: []Template{newTemplate, {Resource: "launch-template-" + newKey + "-1"}}},
		},
		"Others": {
			reason: "Those of other keys are, from when they are first seen, in an order that does not change.",
			args:   Inputs{Templates: []Template{{Resource: "launch-template-b"}, newTemplate, {Resource: "launch-template-a-2"}}},
			want:   []string{"a-2", "b"},
		},
		"Again": {
			reason: "One that is remembered is not remembered twice, and keeps its place.",
			args:   Inputs{Templates: []Template{{Resource: "launch-template-a"}, {Resource: "launch-template-z"}}, Memory: Memory{Retired: []string{"z"}}},
			want:   []string{"z", "a"},
		},
		"Full": {
			reason: "The oldest is forgotten first.",
			args:   Inputs{Templates: []Template{{Resource: "launch-template-new"}}, Memory: Memory{Retired: before}},
			want:   append(slices.Clone(before[1:]), "new"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.args.RollKey = newKey
			got := Of(tc.args).Memory.Retired
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nOf(...).Memory.Retired: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestKeyComesBack holds that a key whose template was let go gets another name than that one, which may still be
// taken in AWS.
func TestKeyComesBack(t *testing.T) {
	w := newWorld()
	roll := func(key string) {
		w.in.RollKey = key
		for range 4 {
			w.run()
		}
		w.replace()
		w.run()
	}
	roll(newKey)
	roll("m1d00000")
	roll(newKey)
	p := w.run()
	if p.Phase != PhaseIdle || p.Current != (naming.Attempt{RollKey: newKey, Number: 10}) {
		t.Errorf("a key that comes back is at attempt %s in phase %s, want %s-10 in %s", p.Current, p.Phase, newKey, PhaseIdle)
	}
}

// TestStuckTemplate holds that a template which the provider cannot create is replaced by another, three times at most.
func TestStuckTemplate(t *testing.T) {
	stuckAt := func(number int) Inputs {
		a := naming.Attempt{RollKey: newKey, Number: number}
		return Inputs{
			RollKey: newKey, Group: onOld,
			Templates: []Template{oldTemplate, {Resource: naming.ResourceTemplate(a), Stuck: ReasonTemplateNameTaken}},
		}
	}
	for number, want := range []naming.Attempt{{RollKey: newKey, Number: 1}, {RollKey: newKey, Number: 2}, {RollKey: newKey, Number: 3}, {RollKey: newKey, Number: 3}} {
		p := Of(stuckAt(number))
		if p.Current != want {
			t.Errorf("attempt %d is stuck: want %s next, got %s", number, want, p.Current)
		}
		if p.GroupID != "lt-old" || !slices.Contains(p.Keep, oldTemplate.Resource) {
			t.Errorf("attempt %d is stuck: the group gets %q, %v stay", number, p.GroupID, p.Keep)
		}
	}
	if p := Of(stuckAt(3)); p.Phase != PhaseStalled || p.Reason != ReasonTemplateNameTaken {
		t.Errorf("the last attempt is stuck: want %s/%s, got %s/%s", PhaseStalled, ReasonTemplateNameTaken, p.Phase, p.Reason)
	}
}

func TestIsActive(t *testing.T) {
	cases := map[string]bool{
		"Pending": true, "InProgress": true, "Cancelling": true, "Baking": true, "RollbackInProgress": true,
		"Successful": false, "Failed": false, "Cancelled": false, "RollbackSuccessful": false, "RollbackFailed": false,
		"SomethingNew": true, "": true,
	}
	for status, want := range cases {
		t.Run(status, func(t *testing.T) {
			if got := IsActive(status); got != want {
				t.Errorf("IsActive(%q): want %t, got %t", status, want, got)
			}
		})
	}
}
