package batch

import "time"

// A Source is where a Loader's answer came from.
type Source string

// Sources.
const (
	// SourceCache is an answer that was kept.
	SourceCache Source = "cache"
	// SourceShared is a read of the same key that another caller had begun.
	SourceShared Source = "shared"
	// SourceCall is a read of its own, in a batch with other keys or alone.
	SourceCall Source = "call"
)

// An Observer is told what a Loader does. It is called by many goroutines at once and must not block.
type Observer interface {
	// Wanted is called once for each key that a caller wants.
	Wanted(from Source)
	// Started is called for each batch, with how many keys callers wait for, and how many are prefetched.
	Started(keys, prefetched int)
	// Answered is called for each answer, with its age: the time since its batch was started.
	Answered(age time.Duration)
}

type nopObserver struct{}

func (nopObserver) Wanted(Source)          {}
func (nopObserver) Started(int, int)       {}
func (nopObserver) Answered(time.Duration) {}
