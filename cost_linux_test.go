package main

import (
	"syscall"
	"time"
)

// threadTime is how long the calling thread was on a processor.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD of getrusage(2).
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
