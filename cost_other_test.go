//go:build !linux

package main

import "time"

// threadTime is the time, where a thread's own is not to be had.
func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
