package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpToDate holds which of what is seen of a group and what the status remembers is newer.
func TestUpToDate(t *testing.T) {
	retry := Template{Resource: oldTemplate.Resource + "-1", ID: "lt-retry"}
	all := []Template{oldTemplate, retry, newTemplate}
	cases := map[string]struct {
		reason string
		args   Inputs
		want   *Group
	}{
		"NoGroup": {
			reason: "There is none.",
			args:   Inputs{Memory: sentTo("lt-new", oldKey)},
		},
		"StatusLost": {
			reason: "Without a memory what is seen is all there is.",
			args:   Inputs{Templates: all, Group: onOld},
			want:   onOld,
		},
		"Agreed": {
			reason: "Nothing is older.",
			args:   Inputs{Templates: all, Group: moving, Memory: sentTo("lt-new", oldKey)},
			want:   moving,
		},
		"GroupOlder": {
			reason: "A group on a template that the last run sent it away from is an old view of it.",
			args:   Inputs{Templates: all, Group: onOld, Memory: sentTo("lt-new", oldKey)},
			want:   &Group{Sent: "lt-new"},
		},
		"GroupOlderThanARetry": {
			reason: "So is one on an earlier attempt at the same key.",
			args:   Inputs{Templates: all, Group: onOld, Memory: sentTo("lt-retry")},
			want:   &Group{Sent: "lt-retry"},
		},
		"StatusOlder": {
			reason: "A template that was to come yet, in the run that wrote the status, is one that the group was sent to since.",
			args:   Inputs{Templates: all, Group: moving, Memory: Memory{RollKey: newKey, Phase: PhaseTemplatePending, SentID: "lt-old", Retired: []string{oldKey}}},
			want:   moving,
		},
		"StatusOlderThanARetry": {
			reason: "So is a later attempt.",
			args:   Inputs{Templates: all, Group: &Group{Sent: "lt-retry"}, Memory: sentTo("lt-old")},
			want:   &Group{Sent: "lt-retry"},
		},
		"StatusOlderThanGoingBack": {
			reason: "A group that is seen where the status has it, and was sent back since, was so by a run whose status was not written.",
			args:   Inputs{Templates: all, Group: &Group{Sent: "lt-old", Observed: "lt-new"}, Memory: sentTo("lt-new", oldKey)},
			want:   &Group{Sent: "lt-old", Observed: "lt-new"},
		},
		"Settled": {
			reason: "Once a run has seen the group where it was sent, no later one sees less.",
			args:   Inputs{Templates: all, Group: onOld, Memory: Memory{RollKey: newKey, Phase: PhaseIdle, SentID: "lt-new", Retired: []string{oldKey}}},
			want:   onOld,
		},
		"Gone": {
			reason: "Of a template that is not there any more nothing is known.",
			args:   Inputs{Templates: all, Group: &Group{Sent: "lt-gone"}, Memory: sentTo("lt-new", oldKey)},
			want:   &Group{Sent: "lt-gone"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, upToDate(tc.args)); diff != "" {
				t.Errorf("\n%s\nupToDate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
