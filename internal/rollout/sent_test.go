package rollout

import "testing"

// TestIsOld holds which of what is seen of a group and what the status remembers is newer.
func TestIsOld(t *testing.T) {
	all := []Template{oldTemplate, newTemplate}
	cases := map[string]struct {
		reason string
		args   Inputs
		want   bool
	}{
		"NoGroup":    {reason: "There is none.", args: Inputs{Templates: all, Memory: sentAt(5, "lt-new")}},
		"StatusLost": {reason: "Without a memory what is seen is all there is.", args: Inputs{Templates: all, Group: seenAt(5, *onOld)}},
		"Before": {
			reason: "What is not beyond the generation from which the last run sent it elsewhere is from before.",
			args:   Inputs{Templates: all, Group: seenAt(5, *onOld), Memory: sentAt(5, "lt-new")}, want: true,
		},
		"LongBefore": {
			reason: "All the more what is older than that.",
			args:   Inputs{Templates: all, Group: seenAt(3, *onOld), Memory: sentAt(5, "lt-new")}, want: true,
		},
		"Sent": {
			reason: "The next generation has what the last run sent.",
			args:   Inputs{Templates: all, Group: seenAt(6, *moving), Memory: sentAt(5, "lt-new")},
		},
		"StatusOlder": {
			reason: "A group that another run has sent elsewhere, whose status could not be written or is not seen yet, is beyond the status.",
			args:   Inputs{Templates: all, Group: seenAt(7, *onOld), Memory: sentAt(5, "lt-new")},
		},
		"Agreed": {
			reason: "A run that changed nothing has nothing that could be missing.",
			args:   Inputs{Templates: all, Group: seenAt(5, *onNew), Memory: sentAt(5, "lt-new")},
		},
		"Unknown": {
			reason: "Without a generation nothing can be told.",
			args:   Inputs{Templates: all, Group: onOld, Memory: sentAt(5, "lt-new")},
		},
		"Gone": {
			reason: "No group can go back to a template that is not there any more.",
			args:   Inputs{Templates: all, Group: seenAt(5, *onOld), Memory: sentAt(5, "lt-gone")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isOld(tc.args); got != tc.want {
				t.Errorf("\n%s\nisOld(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestSentFrom holds that the next run can tell what this one sent from what was there before, however old the view was, and
// that a run which sends the same remembers the same.
func TestSentFrom(t *testing.T) {
	in := Inputs{RollKey: newKey, Templates: []Template{oldTemplate, newTemplate}, Group: seenAt(5, *onOld)}
	first := Of(in)
	if first.GroupID != "lt-new" || first.Memory.Generation != 5 {
		t.Fatalf("Of(...): a group seen at generation 5 is sent %q from %d", first.GroupID, first.Memory.Generation)
	}
	in.Memory = first.Memory
	if again := Of(in); again.GroupID != "lt-new" || again.Memory.Generation != 5 {
		t.Errorf("Of(...): an old view sends the group %q from %d, want lt-new from 5 again", again.GroupID, again.Memory.Generation)
	}
	in.RollKey, in.Templates = "b", append(in.Templates, Template{Resource: "launch-template-b", ID: "lt-b"})
	other := Of(in)
	if other.GroupID != "lt-b" || other.Memory.Generation != 6 {
		t.Errorf("Of(...): an old view sends the group %q from %d, want lt-b from 6, which the run before made", other.GroupID, other.Memory.Generation)
	}
	in.Memory, in.Group = other.Memory, seenAt(6, *moving)
	if late := Of(in); late.GroupID != "lt-b" || late.Phase != PhaseSwitchPending {
		t.Errorf("Of(...): what the run before last made is taken for newer than what the last one did: %+v", late)
	}
}
