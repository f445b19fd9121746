package decision

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// TestQueryAgain holds that what a kept answer would change is read anew before it is believed: it may be older than what the
// status was made from.
func TestQueryAgain(t *testing.T) {
	lookUp := func(o *pool.Observation) {
		o.Composite.Spec.MachineImage.ID = nil
		// The key of v1.34.1 without a pinned image, by sha256sum.
		delete(o.Managed.Templates, currentTemplate)
		tpl := template("a537c9ea", "lt-current")
		tpl.ImageID = "ami-looked-up"
		o.Managed.Templates["launch-template-a537c9ea"] = tpl
		o.Composite.Status.Rollout = &v1alpha1.RolloutStatus{RollKey: "a537c9ea", Phase: "Idle"}
		o.AWS.Image = pool.Read[*pool.Image]{Asked: true, Value: &pool.Image{ID: "ami-looked-up"}}
	}
	pinThere := func(o *pool.Observation) {
		o.AWS.Image = pool.Read[*pool.Image]{Asked: true, Value: &pool.Image{ID: pinnedImage, Architecture: "x86_64", State: "available"}}
	}
	switching := func(o *pool.Observation) {
		newerTemplateExists(o)
		o.Managed.Group.SentTemplateID, o.Managed.Group.TemplateID = "lt-newer", "lt-old"
		o.AWS.Group.Value.LaunchTemplateID = "lt-newer"
		o.AWS.Refresh.Asked = true
	}
	switched := func(o *pool.Observation) { o.Managed.Group.TemplateID = "lt-newer" }
	anew := func(o *pool.Observation) {
		o.AWS.Group.Anew, o.AWS.Instances.Anew, o.AWS.Refresh.Anew = true, true, true
	}
	fewer := func(o *pool.Observation) {
		o.AWS.Group.Value.Members, o.AWS.Instances.Value = o.AWS.Group.Value.Members[:2], o.AWS.Instances.Value[:2]
	}
	cases := map[string]struct {
		reason string
		before []change
		after  []change
		want   *pool.Parts
	}{
		"Steady": {
			reason: "What confirms the status changes nothing, however old it is.",
		},
		"ListShortened": {
			reason: "A member that a kept answer lacks may have been launched since.",
			after:  []change{fewer},
			want:   &pool.Parts{Members: true},
		},
		"ReadAnew": {
			reason: "What was read in this run is believed.",
			after:  []change{fewer, anew},
		},
		"ReadFailed": {
			reason: "A reading that fails changes the health alone, and was tried in this run.",
			after:  []change{readFails},
		},
		"SwitchSeen": {
			reason: "The run that first sees the switch takes no refresh from before it.",
			before: []change{switching},
			after:  []change{switching, switched},
			want:   &pool.Parts{Members: true, Refresh: true},
		},
		"SwitchSeenRefreshAnew": {
			reason: "Only what was kept is read again.",
			before: []change{switching},
			after:  []change{switching, switched, func(o *pool.Observation) { o.AWS.Refresh.Anew = true }},
			want:   &pool.Parts{Members: true},
		},
		"Tells": {
			reason: "The run that tells the group to move takes down which refresh was there before.",
			before: []change{newVersion},
			after:  []change{newerTemplateExists, func(o *pool.Observation) { o.AWS.Refresh.Asked = true }},
			want:   &pool.Parts{Members: true, Refresh: true},
		},
		"TemplateLetGo": {
			reason: "A template goes only when AWS says now that nothing uses it.",
			before: []change{func(o *pool.Observation) { o.AWS.Refresh.Asked = true }},
			after: []change{func(o *pool.Observation) {
				o.AWS.Refresh.Asked = true
				o.Managed.Templates[newerTemplate] = template(newerKey, "lt-newer")
				o.Composite.Status.Rollout.RetiredAttempts = []string{newerKey}
			}},
			want: &pool.Parts{Members: true, Refresh: true},
		},
		"ImageOfAnother": {
			reason: "An image that a kept answer has may be older than the one that the template got.",
			before: []change{lookUp},
			after:  []change{lookUp, func(o *pool.Observation) { o.AWS.Image.Value = &pool.Image{ID: "ami-older"} }},
			want:   &pool.Parts{Members: true, Image: true},
		},
		"ImageAnew": {
			reason: "One that was looked up in this run is the newest.",
			before: []change{lookUp},
			after: []change{lookUp, func(o *pool.Observation) {
				o.AWS.Image.Value, o.AWS.Image.Anew = &pool.Image{ID: "ami-newer"}, true
			}},
			want: &pool.Parts{Members: true},
		},
		"PinGone": {
			reason: "That a pinned image is gone, a kept answer may say from before it was there.",
			before: []change{pinThere},
			after:  []change{pinThere, func(o *pool.Observation) { o.AWS.Image.Value = nil }},
			want:   &pool.Parts{Image: true},
		},
		"PinGoneAnew": {
			reason: "One of this run is believed.",
			before: []change{pinThere},
			after:  []change{pinThere, func(o *pool.Observation) { o.AWS.Image.Value, o.AWS.Image.Anew = nil, true }},
		},
		"PinThere": {
			reason: "What confirms the condition changes nothing.",
			before: []change{pinThere},
			after:  []change{pinThere},
		},
		"Refused": {
			reason: "A pool that is refused changes nothing.",
			after:  []change{fewer, func(o *pool.Observation) { o.Composite.Spec.RootVolume.Type = "io9" }},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := reported(readPool(tc.before...)), readPool(tc.after...)
			retired := after.Composite.Status.Rollout.RetiredAttempts
			after.Conditions, after.Composite.Status = before.Conditions, before.Composite.Status
			if retired != nil {
				after.Composite.Status.Rollout.RetiredAttempts = retired
			}
			q, again := QueryAgain(after, Of(after))
			var got *pool.Parts
			if again {
				got = &q.Anew
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nQueryAgain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestQueryAgainEnds holds that a decision which was made from answers of this run is believed.
func TestQueryAgainEnds(t *testing.T) {
	o := readPool(newVersion)
	if _, again := QueryAgain(o, Of(o)); !again {
		t.Fatal("QueryAgain(...): kept answers are believed")
	}
	o.AWS.Group.Anew, o.AWS.Instances.Anew = true, true
	if q, again := QueryAgain(o, Of(o)); again {
		t.Errorf("QueryAgain(...): %+v is asked once more", q.Anew)
	}
}
