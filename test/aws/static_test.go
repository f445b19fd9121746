//go:build moto

package aws_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// Whatever happens to a read, the members, the image and the group stay, health says why, and one event marks the change.
func TestFunctionFailsStatic(t *testing.T) {
	t.Parallel()
	m, w, fn := start(t)
	publish(t, m, "capa-ami-ubuntu-24.04-v1.34.1-20260101")
	p := newPool(t, fn, m, "demo-pool-0", "{identity: Pod}")
	before := p.until("created", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.Healthy && rolloutIs(s, "Idle") })
	p.wantQuiet("created")

	const groups, instances, images = "DescribeAutoScalingGroups", "DescribeInstances", "DescribeImages"
	cases := []struct {
		name   string
		action string
		answer http.HandlerFunc
		// reason of health, or of ImageResolved when images cannot be read.
		reason string
	}{
		{"throttled", instances, refuses(http.StatusServiceUnavailable, "RequestLimitExceeded"), "Throttled"},
		{"throttled by Auto Scaling", groups, refuses(http.StatusBadRequest, "Throttling"), "Throttled"},
		{"denied", instances, refuses(http.StatusForbidden, "UnauthorizedOperation"), "AccessDenied"},
		{"expired", instances, refuses(http.StatusForbidden, "ExpiredToken"), "CredentialsInvalid"},
		{"a skewed clock", instances, refuses(http.StatusBadRequest, "RequestExpired"), "ClockSkewed"},
		{"timed out", instances, hangs, "TimedOut"},
		{"half an answer", instances, w.breaksOff(m), "PartialRead"},
		{"half a group", groups, w.breaksOff(m), "PartialRead"},
		{"empty where members are known", instances, says(http.StatusOK, noInstances), "PartialRead"},
		{"images are throttled", images, refuses(http.StatusServiceUnavailable, "RequestLimitExceeded"), ""},
	}
	for _, c := range cases {
		p.takeEvents()
		w.answer(c.action, c.answer)
		if c.reason == "" {
			p.until(c.name, func(v1alpha1.MachinePoolStatus) bool {
				what, _ := p.condition("ImageResolved")
				return what == "False ReadFailed"
			})
			p.wantEventOnly(c.name, "ReadFailed")
		} else {
			s := p.until(c.name, func(s v1alpha1.MachinePoolStatus) bool { return s.Health.State == "unknown" })
			if s.Health.Healthy || s.Health.Message == "" || !slices.Equal(s.Health.Reasons, []string{c.reason}) {
				t.Errorf("%s: want %s and why, got %+v", c.name, c.reason, s.Health)
			}
			p.wantConditions(c.name, map[string]string{"InfrastructureHealthy": "Unknown " + c.reason})
			p.wantEventOnly(c.name, c.reason)
		}
		p.wantKept(c.name, before)
		p.wantQuiet(c.name)

		w.answer(c.action, nil)
		p.until(c.name+": over", func(s v1alpha1.MachinePoolStatus) bool {
			what, _ := p.condition("ImageResolved")
			return s.Health.Healthy && what == "True Found"
		})
		if events := p.takeEvents(); len(events) != 1 {
			t.Errorf("%s: over: want one event, got %q", c.name, events)
		}
	}

	// Nothing listens at the endpoint.
	w.close()
	s := p.until("closed", func(s v1alpha1.MachinePoolStatus) bool {
		// Each has a cache of its own.
		what, _ := p.condition("ImageResolved")
		return s.Health.State == "unknown" && what == "False ReadFailed"
	})
	if !slices.Equal(s.Health.Reasons, []string{"ReadFailed"}) {
		t.Errorf("closed: got %+v", s.Health)
	}
	p.wantKept("closed", before)
	// One for the members, one for the image.
	if events := p.takeEvents(); len(events) != 2 {
		t.Errorf("closed: want an event for health and one for the image, got %q", events)
	}
	p.wantQuiet("closed")
	w.open(t, w.address)
	p.until("open again", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.Healthy })
	p.wantKept("open again", before)
}

// wantEventOnly holds that this one event was told since they were last taken, and takes them.
func (p *machinePool) wantEventOnly(when, reason string) {
	p.t.Helper()
	if len(p.events) != 1 {
		p.t.Errorf("%s: want one event, got %q", when, p.events)
	}
	p.wantEvent(when, reason)
}
