package rollout

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// edited is a pool whose settings have changed so often since the group was sent to its template. The templates of all changes but the
// last exist.
func edited(times int) Inputs {
	in := Inputs{RollKey: newKey, Templates: []Template{oldTemplate}, Group: onOld, Wanted: true, Reading: &Reading{TemplateID: "lt-old", Members: members("lt-old")}}
	for i := range times - 1 {
		in.Templates = append(in.Templates, Template{
			Resource: fmt.Sprintf("launch-template-%08x", i), ID: fmt.Sprintf("lt-%d", i), Created: readAt.Add(time.Duration(i) * time.Second),
		})
	}
	return in
}

// TestEditsLeaveFewTemplates holds that a pool whose settings change in each run, so that no roll ever begins, has few templates
// at any time, and that none of them is in use which goes.
func TestEditsLeaveFewTemplates(t *testing.T) {
	newest := []string{"launch-template-00000006", "launch-template-00000007", "launch-template-00000008"}
	all := make([]string, 0, 9)
	for i := range 9 {
		all = append(all, fmt.Sprintf("launch-template-%08x", i))
	}
	cases := map[string]struct {
		reason string
		change func(*Inputs)
		want   []string
	}{
		"Read":        {reason: "The group's own stays, and the newest.", change: func(*Inputs) {}, want: append([]string{oldTemplate.Resource}, newest...)},
		"NotWanted":   {reason: "Where AWS is not read the provider says what the group uses.", change: func(in *Inputs) { in.Wanted, in.Reading = false, nil }, want: append([]string{oldTemplate.Resource}, newest...)},
		"NoGroup":     {reason: "Nothing launches from any before there is a group.", change: func(in *Inputs) { in.Group, in.Reading = nil, nil }, want: newest},
		"ReadFails":   {reason: "Any may have members.", change: func(in *Inputs) { in.Reading = nil }, want: append([]string{oldTemplate.Resource}, all...)},
		"NotObserved": {reason: "A group that the provider has not seen may use any.", change: func(in *Inputs) { in.Wanted, in.Reading, in.Group = false, nil, &Group{Sent: "lt-old"} }, want: append([]string{oldTemplate.Resource}, all...)},
		"Lost":        {reason: "So may one that is not observed at all.", change: func(in *Inputs) { in.Group, in.GroupLost = nil, true }, want: append([]string{oldTemplate.Resource}, all...)},
		"Old":         {reason: "A group that is seen as it was before the last run says nothing of what it uses.", change: func(in *Inputs) { in.Group, in.Memory = seenAt(1, *onOld), sentAt(1, "lt-8") }, want: append([]string{oldTemplate.Resource}, all...)},
		"NotSettled": {
			reason: "The provider may be about to move the group to any that it was told to use.",
			change: func(in *Inputs) { in.Group = &Group{Sent: "lt-8", Observed: "lt-old"} },
			want:   append([]string{oldTemplate.Resource}, all...),
		},
		"NotSettledForHours": {
			reason: "It is not after an hour: of the first five the newest three stay.",
			change: func(in *Inputs) {
				in.Group, in.Reading.Oldest = &Group{Sent: "lt-8", Observed: "lt-old"}, readAt.Add(operationTime+5*time.Second)
			},
			want: append([]string{oldTemplate.Resource}, all[2:]...),
		},
		"OtherInAWS": {
			reason: "Nor is the group settled where AWS has it elsewhere.",
			change: func(in *Inputs) { in.Reading.TemplateID = "lt-8" },
			want:   append([]string{oldTemplate.Resource}, all...),
		},
		"Sent":         {reason: "What the group was told to use stays.", change: func(in *Inputs) { in.Group, in.Reading.TemplateID = &Group{Sent: "lt-1", Observed: "lt-1"}, "lt-1" }, want: append([]string{oldTemplate.Resource, "launch-template-00000001"}, newest...)},
		"Remembered":   {reason: "Also where the status alone remembers it.", change: func(in *Inputs) { in.Memory.SentID = "lt-1" }, want: append([]string{oldTemplate.Resource, "launch-template-00000001"}, newest...)},
		"Member":       {reason: "What a member was launched from stays.", change: func(in *Inputs) { in.Reading.Members = members("lt-old", "lt-1") }, want: append([]string{oldTemplate.Resource, "launch-template-00000001"}, newest...)},
		"UnseenMember": {reason: "Also a member that EC2 does not list.", change: func(in *Inputs) { in.Reading.Members = []Member{{ID: "i-0", TemplateID: "lt-1", Unseen: true}} }, want: append([]string{oldTemplate.Resource, "launch-template-00000001"}, newest...)},
		"Refreshing": {
			reason: "While a refresh is at work all stay, as they did before there was one to spare.",
			change: func(in *Inputs) {
				in.Templates = append(in.Templates, newTemplate)
				in.Group, in.Reading = onNew, reading("InProgress", members("lt-new", "lt-old")...)
			},
			want: append([]string{oldTemplate.Resource}, all...),
		},
		"Unpersisted":  {reason: "An id that is no external name yet is sent first.", change: func(in *Inputs) { in.Templates[2].Unpersisted = true }, want: append([]string{oldTemplate.Resource, "launch-template-00000001"}, newest...)},
		"BeingCreated": {reason: "One without an id may have one by now.", change: func(in *Inputs) { in.Templates[2].ID = "" }, want: append([]string{oldTemplate.Resource, "launch-template-00000001"}, newest...)},
		"CreatedAtOnce": {reason: "Of those of one second the names decide, the same in each run.", change: func(in *Inputs) {
			for i := range in.Templates {
				in.Templates[i].Created = readAt
			}
		}, want: append([]string{oldTemplate.Resource}, all[:3]...)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := edited(10)
			tc.change(&in)
			got := Of(in).Keep
			if diff := cmp.Diff(sorted(tc.want), got); diff != "" {
				t.Errorf("\n%s\nOf(...).Keep: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNoMoreTemplatesAreMade holds that a pool has a bounded number of templates even where all of them may be in use.
func TestNoMoreTemplatesAreMade(t *testing.T) {
	cases := map[string]struct {
		reason string
		edits  int
		change func(*Inputs)
		want   Reason
	}{
		"Few":        {reason: "Another one is made while there are few.", edits: maxTemplates - 1, change: func(*Inputs) {}, want: ReasonTemplateCreating},
		"Many":       {reason: "No other one is made then.", edits: maxTemplates, change: func(*Inputs) {}, want: ReasonTooManyTemplates},
		"Exists":     {reason: "One that is there already is used.", edits: maxTemplates, change: func(in *Inputs) { in.RollKey = "00000005" }, want: ReasonGroupUpdating},
		"BeingMade":  {reason: "One that is being made goes on to be.", edits: maxTemplates, change: func(in *Inputs) { in.Templates = append(in.Templates, creating) }, want: ReasonTemplateCreating},
		"OnTheirWay": {reason: "Those that are being deleted do not count.", edits: maxTemplates, change: func(in *Inputs) { in.Templates[3].Terminating = true }, want: ReasonTemplateCreating},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := edited(tc.edits)
			in.Reading = nil
			tc.change(&in)
			if got := Of(in); got.Reason != tc.want {
				t.Errorf("\n%s\nOf(...): want %s, got %s/%s", tc.reason, tc.want, got.Phase, got.Reason)
			}
		})
	}
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return names
}
