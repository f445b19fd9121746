package process

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// tick of the kernel's accounting, which is 100 Hz on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// cpu reads utime and stime of /proc/PID/stat. The second field is the program's name, which may hold spaces.
func cpu(stat []byte) (time.Duration, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields", len(fields))
	}
	var total time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * tick
	}
	return total, nil
}
