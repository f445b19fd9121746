package simulator

import "time"

// A Clock is logical time: it stands still but for a second per step that someone takes.
type Clock struct {
	// Real time instead, for a simulator beside an API server, which writes times of its own.
	Real bool
	// Pause is called in each step, which takes no real time by itself.
	Pause func()

	seconds int
}

// Now is the time.
func (c *Clock) Now() time.Time {
	if c.Real {
		return time.Now().UTC() //nolint:forbidigo // It is not the function that takes it.
	}
	return time.Date(2026, 1, 1, 0, 0, c.seconds, 0, time.UTC)
}

func (c *Clock) step() {
	c.seconds++
	if c.Pause != nil {
		c.Pause()
	}
}

func (c *Clock) text() string { return text(c.Now()) }

// text is a time as Kubernetes writes it.
func text(t time.Time) string { return t.UTC().Format(time.RFC3339) }
