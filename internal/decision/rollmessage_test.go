package decision

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// rolled is a pool whose group is on the newer template and whose members are not.
// readAt is when AWS was read.
var readAt = time.Date(2026, 11, 29, 18, 0, 0, 10, time.UTC)

func rolled(changes ...change) *pool.Observation {
	o := readPool(newerTemplateExists)
	o.Managed.Group.SentTemplateID, o.Managed.Group.TemplateID = "lt-newer", "lt-newer"
	o.Composite.Status.Rollout.RollKey, o.Composite.Status.Rollout.Phase = newerKey, "Refreshing"
	o.Composite.Status.LaunchTemplateID = "lt-newer"
	o.AWS.Group.At, o.AWS.Refresh.At = readAt, readAt
	o.AWS.Group.Value.LaunchTemplateID = "lt-newer"
	o.AWS.Refresh.Asked = true
	for _, f := range changes {
		f(o)
	}
	return o
}

func lastRefresh(status, reason string) change {
	return func(o *pool.Observation) {
		o.AWS.Refresh.Value = &pool.Refresh{ID: "r-1", Status: status, StatusReason: reason}
	}
}

// attempt lets the newer template be the nth attempt at its key.
func attempt(n int, problem pool.CreationProblem) change {
	return func(o *pool.Observation) {
		tpl := o.Managed.Templates[newerTemplate]
		if problem != "" {
			tpl.ID, tpl.ExternalName, tpl.Creation = "", "", problem
			o.Managed.Group.SentTemplateID, o.Managed.Group.TemplateID = "lt-current", "lt-current"
		}
		delete(o.Managed.Templates, newerTemplate)
		name := newerTemplate
		if n > 0 {
			name = fmt.Sprintf("%s-%d", newerTemplate, n)
		}
		o.Managed.Templates[name] = tpl
	}
}

// lost is what the last run left of a roll that one reading found lost.
func lost(o *pool.Observation) {
	o.Composite.Status.Rollout.Phase, o.Composite.Status.Rollout.LostReading = "Lost", readAt.Add(-time.Minute).Format(readingTime)
}

func protect(ids ...string) change {
	return func(o *pool.Observation) {
		for i := range o.AWS.Group.Value.Members {
			m := &o.AWS.Group.Value.Members[i]
			m.LaunchTemplateID = "lt-newer"
			for _, id := range ids {
				if m.InstanceID == id {
					m.LaunchTemplateID, m.ProtectedFromScaleIn = "lt-current", true
				}
			}
		}
	}
}

// TestRollMessages holds that whoever looks at a roll that does not go on is told what to do.
func TestRollMessages(t *testing.T) {
	many := func(o *pool.Observation) {
		o.AWS.Group.Value.Members, o.AWS.Instances.Value = nil, nil
		for i := range 12 {
			id := fmt.Sprintf("i-%02d", i)
			o.AWS.Group.Value.Members = append(o.AWS.Group.Value.Members, pool.GroupMember{InstanceID: id, Zone: "us-east-1a", LifecycleState: "Standby", LaunchTemplateID: "lt-current"})
			o.AWS.Instances.Value = append(o.AWS.Instances.Value, pool.Instance{ID: id, Zone: "us-east-1a", State: "running"})
		}
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		phase  string
		why    string
		says   []string
	}{
		"Expected":     {reason: "The provider is waited for.", args: rolled(func(o *pool.Observation) { o.Managed.Group.Busy = true }), phase: "Refreshing", why: "RefreshExpected", says: []string{"3 members", "waiting for the provider"}},
		"Lost":         {reason: "A refresh that did not start is told.", args: rolled(), phase: "Lost", why: "RefreshNotStarted", says: []string{"3 members", "no instance refresh"}},
		"Succeeded":    {reason: "A refresh that is over and left some is told.", args: rolled(lastRefresh("Successful", "")), phase: "Refreshing", why: "RefreshSucceeded", says: []string{"3 members", "over", "next reading"}},
		"Failing":      {reason: "A template that the provider cannot create is told with where to look.", args: rolled(attempt(0, pool.CreationFailing)), phase: "TemplatePending", why: "TemplateFailing", says: []string{"fails", newerTemplate}},
		"Retrying":     {reason: "And that the roll starts again.", args: rolled(lost), phase: "TemplatePending", why: "Retrying", says: []string{newerKey + "-1"}},
		"Exhausted":    {reason: "And that it no longer does.", args: rolled(lost, attempt(3, ""), lastRefresh("Successful", "")), phase: "Stalled", why: "RetriesExhausted", says: []string{"3 retries did not replace them", "Successful", "spec.rollout.trigger"}},
		"Failed":       {reason: "AWS's reason for a failure is passed on.", args: rolled(lastRefresh("Failed", "no instance became healthy")), phase: "Stalled", why: "RefreshFailed", says: []string{"Failed: no instance became healthy", "spec.rollout.trigger"}},
		"Cancelled":    {reason: "So is that someone cancelled.", args: rolled(lastRefresh("Cancelled", "")), phase: "Stalled", why: "RefreshCancelled", says: []string{"Cancelled", "spec.rollout.trigger"}},
		"Skipped":      {reason: "Members that a refresh passes over are named.", args: rolled(protect("i-3", "i-1")), phase: "Stalled", why: "MembersSkipped", says: []string{"i-1, i-3", "scale-in", "Standby"}},
		"SkippedMany":  {reason: "The first ten of them.", args: rolled(many), phase: "Stalled", why: "MembersSkipped", says: []string{"i-00, i-01", "i-09 and 2 more"}},
		"NameTaken":    {reason: "A name that is taken is got around.", args: rolled(attempt(0, pool.CreationNameTaken)), phase: "TemplatePending", why: "Retrying", says: []string{newerKey + "-1"}},
		"NamesTaken":   {reason: "And told when it cannot be.", args: rolled(attempt(3, pool.CreationNameTaken)), phase: "Stalled", why: "TemplateNameTaken", says: []string{"taken", "spec.rollout.trigger"}},
		"Undetermined": {reason: "An interrupted creation is told with what to look at.", args: rolled(attempt(3, pool.CreationUndetermined)), phase: "Stalled", why: "TemplateCreationUndetermined", says: []string{"external-create-pending", "spec.rollout.trigger"}},
		"ReadFails":    {reason: "A read that fails ends no roll.", args: rolled(readFails), phase: "Refreshing", why: "MembersUnknown", says: []string{"autoscaling:DescribeAutoScalingGroups: throttled"}},
		"RefreshReadFails": {
			reason: "Nor does one of the refresh alone, with no member left to replace.",
			args: rolled(protect(), func(o *pool.Observation) {
				o.AWS.Refresh.Err = &pool.ReadError{Reason: pool.ReadThrottled, Message: "throttled"}
			}),
			phase: "Refreshing", why: "MembersUnknown", says: []string{"lt-newer"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			c := conditionOf(t, d, v1alpha1.ConditionRollingOut)
			if c.Status != condition.True || c.Reason != tc.why || d.Status.Rollout.Phase != tc.phase {
				t.Errorf("\n%s\nOf(...): want True, %s in phase %s, got %s, %s in phase %s", tc.reason, tc.why, tc.phase, c.Status, c.Reason, d.Status.Rollout.Phase)
			}
			for _, w := range tc.says {
				if !strings.Contains(c.Message, w) {
					t.Errorf("\n%s\nOf(...): RollingOut says %q, not %q", tc.reason, c.Message, w)
				}
			}
			if d.Status.Rollout.Message != c.Message {
				t.Errorf("\n%s\nOf(...): status.rollout says %q, RollingOut %q", tc.reason, d.Status.Rollout.Message, c.Message)
			}
			if !hasTemplate(d, currentTemplate) {
				t.Errorf("\n%s\nOf(...): the old template is dropped", tc.reason)
			}
			if !d.Changing {
				t.Errorf("\n%s\nOf(...): nothing says that the next run should come soon", tc.reason)
			}
		})
	}
}

// TestRollMemory holds that what a roll must remember goes through the status, from one run to the next.
func TestRollMemory(t *testing.T) {
	t.Run("EarlierRefreshIsWritten", func(t *testing.T) {
		d := Of(readPool(newerTemplateExists, lastRefresh("Failed", ""), func(o *pool.Observation) { o.AWS.Refresh.Asked = true }))
		if got := d.Status.Rollout.EarlierRefresh; got != "r-1" {
			t.Errorf("the refresh from before the switch is remembered as %q, not r-1", got)
		}
	})
	t.Run("EarlierRefreshIsRead", func(t *testing.T) {
		d := Of(rolled(lost, lastRefresh("Failed", ""), func(o *pool.Observation) { o.Composite.Status.Rollout.EarlierRefresh = "r-1" }))
		if c := conditionOf(t, d, v1alpha1.ConditionRollingOut); c.Reason != "Retrying" {
			t.Errorf("a refresh from before the switch is taken for this roll's: %+v", c)
		}
		if got := d.Status.Rollout.EarlierRefresh; got != "r-1" {
			t.Errorf("the refresh from before the switch is forgotten: %q", got)
		}
	})
	t.Run("RetiredIsWritten", func(t *testing.T) {
		d := Of(readPool(newerTemplateExists))
		if got := strings.Join(d.Status.Rollout.RetiredAttempts, " "); got != currentKey {
			t.Errorf("templates of other keys are remembered as %q, not %s", got, currentKey)
		}
	})
	t.Run("RetiredIsRead", func(t *testing.T) {
		d := Of(readPool(newVersion, func(o *pool.Observation) { o.Composite.Status.Rollout.RetiredAttempts = []string{newerKey} }))
		if !hasTemplate(d, newerTemplate+"-10") {
			t.Errorf("a key that comes back gets a name that may still be taken: %+v", d.Templates)
		}
	})
	t.Run("LostReadingIsWritten", func(t *testing.T) {
		d := Of(rolled())
		if got := d.Status.Rollout.LostReading; got != "2026-11-29T18:00:00.000000010Z" {
			t.Errorf("the reading that found the roll lost is remembered as %q", got)
		}
	})
	t.Run("PartsOfOneReading", func(t *testing.T) {
		// The group was read once more, along with others, and the refresh comes from the cache.
		first := Of(rolled()).Status.Rollout.LostReading
		d := Of(rolled(lost, func(o *pool.Observation) {
			o.Composite.Status.Rollout.LostReading = first
			o.AWS.Group.At = readAt.Add(time.Minute)
		}))
		if c := conditionOf(t, d, v1alpha1.ConditionRollingOut); c.Reason != "RefreshNotStarted" {
			t.Errorf("one reading of the refresh is taken for two: %+v", c)
		}
	})
}

// TestLeavingMember holds that a member on its way out needs no replacement, and its template until it is gone.
func TestLeavingMember(t *testing.T) {
	d := Of(rolled(protect(), lastRefresh("Successful", ""), func(o *pool.Observation) {
		m := &o.AWS.Group.Value.Members[0]
		m.LaunchTemplateID, m.LifecycleState = "lt-current", "Terminating:Wait"
	}))
	if got := d.Status.Rollout; got.Phase != "Idle" || *got.OutdatedInstances != 0 {
		t.Errorf("Of(...): phase %s with %d outdated", got.Phase, *got.OutdatedInstances)
	}
	if !hasTemplate(d, currentTemplate) {
		t.Error("Of(...): the template of a member that waits to terminate is dropped")
	}
}
