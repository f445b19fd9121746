package decision

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// TestEvents holds that events tell of transitions, once: each case is what changes between two runs.
func TestEvents(t *testing.T) {
	type event struct {
		Reason  string
		Warning bool
	}
	stopped := func(o *pool.Observation) { o.AWS.Instances.Value[0].State = "stopped" }
	pending := func(o *pool.Observation) { o.AWS.Instances.Value[0].State = "pending" }
	switched := func(o *pool.Observation) {
		newerTemplateExists(o)
		o.Managed.Group.SentTemplateID, o.Managed.Group.TemplateID = "lt-newer", "lt-newer"
		o.AWS.Group.Value.LaunchTemplateID = "lt-newer"
	}
	allNew := func(o *pool.Observation) {
		switched(o)
		for i := range o.AWS.Group.Value.Members {
			o.AWS.Group.Value.Members[i].LaunchTemplateID = "lt-newer"
		}
	}
	refresh := func(status string) change {
		return func(o *pool.Observation) {
			o.AWS.Refresh = pool.Read[*pool.Refresh]{Asked: true, Value: &pool.Refresh{ID: "r-1", Status: status}}
		}
	}
	cases := map[string]struct {
		reason        string
		before, after []change
		want          []event
	}{
		"Steady":      {reason: "A run that changes nothing has none."},
		"SameTrouble": {reason: "Trouble that goes on is not told again.", before: []change{noSecret, noExports, readFails}, after: []change{noSecret, noExports, readFails}},
		"SecretGone":  {reason: "A Secret that goes is told.", after: []change{noSecret}, want: []event{{"NotFound", true}}},
		"SecretBack":  {reason: "And that it is back.", before: []change{noSecret}, want: []event{{"Staged", false}}},
		"ExportsGone": {reason: "Exports that go are told.", after: []change{noExports}, want: []event{{"NotFound", true}}},
		"ExportsBack": {reason: "And that they are back.", before: []change{noExports}, want: []event{{"Available", false}}},
		"ReadFails":   {reason: "A read that begins to fail is told once.", after: []change{readFails}, want: []event{{"Throttled", true}}},
		"ReadWorks":   {reason: "And that it works again.", before: []change{readFails}, want: []event{{"Healthy", false}}},
		"Stopped":     {reason: "A member that stops is told.", after: []change{stopped}, want: []event{{"InstanceStopped", true}}},
		"Pending":     {reason: "Members come and go by themselves, which is told and calls no one.", after: []change{pending}, want: []event{{"InstancePending", false}}},
		"Scaling": {
			reason: "So do those of Spot instances that are reclaimed.", want: []event{{"ScalingInProgress", false}},
			after: []change{func(o *pool.Observation) {
				o.AWS.Group.Value.Members, o.AWS.Instances.Value = o.AWS.Group.Value.Members[1:], o.AWS.Instances.Value[1:]
			}},
		},
		"OtherTrouble": {reason: "One trouble that becomes another is told.", before: []change{pending}, after: []change{stopped}, want: []event{{"InstanceStopped", true}}},
		"GroupGone":    {reason: "A group that goes is told.", after: []change{groupGoneInAWS}, want: []event{{"GroupNotFound", true}}},
		"RollStarted":  {reason: "A roll that begins is told.", after: []change{newVersion}, want: []event{{"RollStarted", false}}},
		"RollGoesOn":   {reason: "Its way is not.", before: []change{newVersion}, after: []change{newerTemplateExists}},
		"RollRefreshes": {
			reason: "Nor that the refresh begins.",
			before: []change{newerTemplateExists}, after: []change{switched, refresh("InProgress")},
		},
		"RollFinished": {
			reason: "That it ends is told.",
			before: []change{switched, refresh("InProgress")}, after: []change{allNew, refresh("Successful")},
			want: []event{{"RollFinished", false}},
		},
		"RollRetried": {
			reason: "That a lost roll starts again is told.",
			before: []change{instead(rolled())}, after: []change{instead(rolled(readLater))},
			want: []event{{"RollRetried", true}},
		},
		"RollRetriedAgain": {
			reason: "So is each attempt after it.",
			before: []change{instead(rolled(attempt(0, pool.CreationNameTaken)))}, after: []change{instead(rolled(attempt(1, pool.CreationNameTaken)))},
			want: []event{{"RollRetried", true}},
		},
		"TemplateFailing": {
			reason: "That a template cannot be created is told.",
			before: []change{instead(rolled(attempt(0, "")))}, after: []change{instead(rolled(attempt(0, pool.CreationFailing)))},
			want: []event{{"TemplateFailing", true}},
		},
		"RollFailed": {
			reason: "That it failed is told.",
			before: []change{switched, refresh("InProgress")}, after: []change{switched, refresh("Failed")},
			want: []event{{"RefreshFailed", true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := reported(readPool(tc.before...)), readPool(tc.after...)
			after.Conditions, after.Composite.Status = before.Conditions, before.Composite.Status
			d := Of(after)
			var got []event
			for _, e := range d.Events {
				got = append(got, event{Reason: e.Reason, Warning: e.Warning})
				if e.Message == "" || strings.Contains(e.Message, "do-not-tell") {
					t.Errorf("\n%s\nOf(...).Events: message %q", tc.reason, e.Message)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nOf(...).Events: -want, +got:\n%s", tc.reason, diff)
			}
			again := Of(reported(after))
			if len(again.Events) > 0 {
				t.Errorf("\n%s\nOf(...).Events: told again: %+v", tc.reason, again.Events)
			}
		})
	}
	t.Run("New", func(t *testing.T) {
		if d := Of(newPool(noSecret)); len(d.Events) > 0 {
			t.Errorf("a new pool is all beginnings, and told of none: %+v", d.Events)
		}
	})
}

// readLater makes a reading the next one.
func readLater(o *pool.Observation) {
	o.AWS.Group.At, o.AWS.Refresh.At = readAt.Add(time.Minute), readAt.Add(time.Minute)
}

// instead is a change to another observation.
func instead(o *pool.Observation) change { return func(to *pool.Observation) { *to = *o } }

// TestSettles holds that a pool of which nothing changes reaches a status that no longer does: one that churns trips
// Crossplane's circuit breaker.
func TestSettles(t *testing.T) {
	cases := map[string]*pool.Observation{
		"New":        newPool(),
		"Steady":     steadyPool(),
		"Read":       readPool(),
		"ReadFails":  readPool(readFails),
		"Roll":       readPool(newerTemplateExists),
		"NoInputs":   steadyPool(noExports, noSecret),
		"GroupGone":  readPool(groupGoneInAWS),
		"LastKnown":  readPool(lastKnown, readFails),
		"NewVersion": steadyPool(newVersion),
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			first := Of(reported(o))
			second := Of(reported(o))
			if diff := cmp.Diff(first.Status, second.Status); diff != "" {
				t.Errorf("Of(...).Status: -a run, +the next:\n%s", diff)
			}
			if diff := cmp.Diff(first.Conditions, second.Conditions); diff != "" {
				t.Errorf("Of(...).Conditions: -a run, +the next:\n%s", diff)
			}
		})
	}
}

// TestNoSecretIsTold holds that bootstrap data reaches the object alone.
func TestNoSecretIsTold(t *testing.T) {
	for name, o := range map[string]*pool.Observation{"New": newPool(), "Read": readPool(newerTemplateExists), "Refused": newPool(manyErrors)} {
		t.Run(name, func(t *testing.T) {
			o.Bootstrap.Payload = []byte("do-not-tell")
			d := Of(o)
			d.Object = nil
			text, err := json.Marshal(d) //nolint:musttag // What is in it matters, not how it is named.
			if err != nil {
				t.Fatal(err)
			}
			for _, told := range []string{"do-not-tell", base64.StdEncoding.EncodeToString([]byte("do-not-tell"))} {
				if strings.Contains(string(text), told) {
					t.Errorf("Of(...): the payload is in the decision:\n%s", text)
				}
			}
		})
	}
}
