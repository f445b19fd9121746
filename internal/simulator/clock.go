package simulator

import "time"

// A Clock is logical time: it stands still but for a second per step that someone takes.
type Clock struct {
	// Real time instead, for a simulator beside an API server, which writes times of its own.
	Real bool

	seconds int
}

// Now is the time.
func (c *Clock) Now() time.Time {
	if c.Real {
		return time.Now().UTC() //nolint:forbidigo // It is not the function that takes it.
	}
	return time.Date(2026, 1, 1, 0, 0, c.seconds, 0, time.UTC)
}

func (c *Clock) step() { c.seconds++ }

// text is the time as Kubernetes writes it.
func (c *Clock) text() string { return c.Now().Format(time.RFC3339) }
