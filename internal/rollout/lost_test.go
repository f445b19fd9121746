package rollout

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLostRoll holds that a refresh which never started is started by another template, and only after two readings
// said so, three times at most.
func TestLostRoll(t *testing.T) {
	w := newWorld()
	w.lose = true
	var attempts []string
	var p Plan
	for range 40 {
		p = w.run()
		if a := p.Current.String(); !slices.Contains(attempts, a) {
			attempts = append(attempts, a)
		}
	}
	if diff := cmp.Diff([]string{newKey, newKey + "-1", newKey + "-2", newKey + "-3"}, attempts); diff != "" {
		t.Errorf("attempts of a roll that is always lost: -want, +got:\n%s", diff)
	}
	if p.Phase != PhaseStalled || p.Reason != ReasonRetriesExhausted {
		t.Errorf("a roll that is always lost ends in %s/%s, not %s/%s", p.Phase, p.Reason, PhaseStalled, ReasonRetriesExhausted)
	}

	w = newWorld()
	w.lose = true
	for p = w.run(); p.Phase != PhaseLost; p = w.run() {
		if w.read > 10 {
			t.Fatal("a lost roll is not found")
		}
	}
	w.read-- // The next run has the same reading, from a cache.
	if p = w.run(); p.Phase != PhaseLost || p.Current.Number != 0 {
		t.Errorf("one reading that is seen twice starts the roll again: %s, attempt %d", p.Phase, p.Current.Number)
	}
	w.lose = false
	for range 5 {
		p = w.run()
	}
	if p.Phase != PhaseRefreshing || p.Current.Number != 1 {
		t.Errorf("a lost roll does not start again: %s, attempt %d", p.Phase, p.Current.Number)
	}
	w.replace()
	if p = w.run(); p.Phase != PhaseIdle {
		t.Errorf("a roll that was retried ends in %s, not %s", p.Phase, PhaseIdle)
	}
}

// TestLostReadingOutlastsFailedReads holds that what one reading found stays found while AWS cannot be read, and no longer: with a
// throttled account two readings in a row are rare.
func TestLostReadingOutlastsFailedReads(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(in *Inputs)
		want   time.Time
	}{
		"Unread":        {reason: "A read that fails says nothing of what an earlier one found.", want: longBefore},
		"OtherKey":      {reason: "What was found of another roll says nothing of this one.", change: func(in *Inputs) { in.Memory.RollKey = "0ther000" }},
		"OtherTemplate": {reason: "Nor what was found of another attempt at it.", change: func(in *Inputs) { in.Memory.SentID = "lt-other" }},
		"Done":          {reason: "A reading that finds no member left forgets it.", change: func(in *Inputs) { in.Reading = reading("", members("lt-new")...) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Inputs{
				RollKey: newKey, Templates: []Template{oldTemplate, newTemplate}, Group: onNew, Wanted: true,
				Memory: Memory{RollKey: newKey, Phase: PhaseLost, SentID: "lt-new", LostReading: longBefore},
			}
			if tc.change != nil {
				tc.change(&in)
			}
			if got := Of(in).Memory.LostReading; !got.Equal(tc.want) {
				t.Errorf("\n%s\nOf(...).Memory.LostReading: want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

// TestNotLost holds that a roll is only started again when nothing else explains members that are left over.
func TestNotLost(t *testing.T) {
	type want struct {
		phase  Phase
		reason Reason
	}
	outdated := members("lt-old", "lt-new")
	base := func() Inputs {
		return Inputs{
			RollKey: newKey, Templates: []Template{oldTemplate, newTemplate}, Group: onNew, Wanted: true,
			Reading: reading("", outdated...), Memory: Memory{RollKey: newKey, Phase: PhaseLost, SentID: "lt-new", LostReading: longBefore},
		}
	}
	cases := map[string]struct {
		reason string
		change func(in *Inputs)
		want   want
	}{
		"FirstReading": {reason: "One reading may be too early.", change: func(in *Inputs) { in.Memory.LostReading = time.Time{} }, want: want{PhaseLost, ReasonRefreshNotStarted}},
		"OlderReading": {reason: "Nor does one from before it, as another process may have.", change: func(in *Inputs) { in.Memory.LostReading = later }, want: want{PhaseLost, ReasonRefreshNotStarted}},
		"SameReading":  {reason: "The same reading again says nothing new.", change: func(in *Inputs) { in.Memory.LostReading = in.Reading.Newest }, want: want{PhaseLost, ReasonRefreshNotStarted}},
		"OneGroupTwice": {
			reason: "Nor does one in which only the refresh was read once more.",
			change: func(in *Inputs) { in.Memory.LostReading, in.Reading.Newest = in.Reading.Oldest, later },
			want:   want{PhaseLost, ReasonRefreshNotStarted},
		},
		"OneRefreshTwice": {
			reason: "Nor one in which only the group was: the refresh is older than the first reading's group.",
			change: func(in *Inputs) {
				in.Memory.LostReading, in.Reading.Oldest, in.Reading.Newest = readAt, readAt.Add(-3*time.Second), later
			},
			want: want{PhaseLost, ReasonRefreshNotStarted},
		},
		"SameMoment": {
			reason: "Two answers of the same moment can both be too old.",
			change: func(in *Inputs) { in.Memory.LostReading = in.Reading.Oldest.Add(-time.Second) },
			want:   want{PhaseLost, ReasonRefreshNotStarted},
		},
		"BeforeTheSwitch": {
			reason: "A reading in which AWS has the group on the old template is from before the switch.",
			change: func(in *Inputs) { in.Reading.TemplateID = "lt-old" },
			want:   want{PhaseRefreshing, ReasonRefreshExpected},
		},
		"Busy":        {reason: "The provider may be about to start it.", change: func(in *Inputs) { in.Group = &Group{Sent: "lt-new", Observed: "lt-new", Busy: true} }, want: want{PhaseRefreshing, ReasonRefreshExpected}},
		"NotAskedFor": {reason: "A refresh that was not read may be at work.", change: func(in *Inputs) { in.Reading.RefreshRead = false }, want: want{PhaseRefreshing, ReasonRefreshExpected}},
		"Active":      {reason: "A refresh is at work.", change: func(in *Inputs) { in.Reading = reading("Pending", outdated...) }, want: want{PhaseRefreshing, ReasonRefreshActive}},
		"Failed":      {reason: "A refresh that failed is for a person: to repeat it could replace nodes forever.", change: func(in *Inputs) { in.Reading = reading("Failed", outdated...) }, want: want{PhaseStalled, ReasonRefreshFailed}},
		"Succeeded": {
			reason: "Members that a refresh left may have been read before its end.",
			change: func(in *Inputs) { in.Reading, in.Memory.LostReading = reading("Successful", outdated...), time.Time{} },
			want:   want{PhaseRefreshing, ReasonRefreshSucceeded},
		},
		"EarlierSucceeded": {
			reason: "A refresh from before the roll is not the roll's.",
			change: func(in *Inputs) {
				in.Reading, in.Memory.LostReading, in.Memory.EarlierRefresh = reading("Successful", outdated...), time.Time{}, "r-1"
			},
			want: want{PhaseLost, ReasonRefreshNotStarted},
		},
		"RolledBack": {reason: "One that was rolled back, too.", change: func(in *Inputs) { in.Reading = reading("RollbackSuccessful", outdated...) }, want: want{PhaseStalled, ReasonRefreshFailed}},
		"Cancelled":  {reason: "One that someone cancelled, too.", change: func(in *Inputs) { in.Reading = reading("Cancelled", outdated...) }, want: want{PhaseStalled, ReasonRefreshCancelled}},
		"Skipped": {
			reason: "A refresh passes over members that are protected.",
			change: func(in *Inputs) { in.Reading.Members[0].Skipped = true },
			want:   want{PhaseStalled, ReasonMembersSkipped},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := base()
			in.Reading.Members = slices.Clone(in.Reading.Members)
			tc.change(&in)
			p := Of(in)
			if diff := cmp.Diff(tc.want, want{p.Phase, p.Reason}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if p.Current.Number != 0 {
				t.Errorf("\n%s\nOf(...): started attempt %s", tc.reason, p.Current)
			}
		})
	}
	t.Run("Lost", func(t *testing.T) {
		if p := Of(base()); p.Current.Number != 1 || p.Phase != PhaseTemplatePending || p.Reason != ReasonRetrying {
			t.Errorf("two readings that find a roll lost do not start it again: %+v", p)
		}
	})
	t.Run("StaleView", func(t *testing.T) {
		in := base()
		in.Reading = reading("Failed", outdated...)
		in.Group = seenAt(5, *onOld)
		in.Memory = Memory{RollKey: newKey, Phase: PhaseSwitchPending, SentID: "lt-new", Generation: 5}
		if p := Of(in); p.Memory.EarlierRefresh != "" {
			t.Errorf("a group that was sent to the template, and is shown as before, makes the roll's own refresh an earlier one: %+v", p.Memory)
		}
	})
	t.Run("StaleEverything", func(t *testing.T) {
		in := base()
		in.Reading = reading("Failed", outdated...)
		in.Reading.TemplateID = "lt-new"
		in.Group = &Group{Sent: "lt-old", Observed: "lt-old"}
		in.Memory = Memory{RollKey: newKey, Phase: PhaseTemplatePending}
		if p := Of(in); p.Memory.EarlierRefresh != "" {
			t.Errorf("a group that AWS has on the template makes the roll's own refresh an earlier one: %+v", p.Memory)
		}
	})
	t.Run("TakenBack", func(t *testing.T) {
		in := base()
		in.Reading = reading("InProgress", outdated...)
		in.Reading.TemplateID = "lt-new"
		in.RollKey, in.Memory.RollKey = "00000003", "00000003"
		if p := Of(in); p.Memory.EarlierRefresh != "" {
			t.Errorf("a change that is not taken up yet makes the roll's own refresh an earlier one: %+v", p.Memory)
		}
	})
	t.Run("BeganBeforeTheSwitch", func(t *testing.T) {
		in := base()
		in.Reading = reading("InProgress", outdated...)
		in.Group, in.Reading.TemplateID = onOld, "lt-old"
		if p := Of(in); p.Memory.EarlierRefresh != in.Reading.Refresh.ID {
			t.Errorf("a refresh that began while the template was made is not remembered: %+v", p.Memory)
		}
	})
	t.Run("EarlierRefresh", func(t *testing.T) {
		in := base()
		in.Reading = reading("Failed", outdated...)
		in.Memory.EarlierRefresh = in.Reading.Refresh.ID
		if p := Of(in); p.Current.Number != 1 {
			t.Errorf("a refresh from before the roll keeps it from starting again: %+v", p)
		}
	})
}
