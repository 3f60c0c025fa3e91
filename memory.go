package main

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// tuneMemory sets how the garbage collector works unless the environment does: a server with little live
// memory would otherwise collect every few megabytes, and one in a container should collect harder before
// it is killed for what it could have freed.
func tuneMemory(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMEMLIMIT") == "" {
		if limit := containerMemory(); limit > 0 {
			debug.SetMemoryLimit(limit / 10 * 8)
		}
	}
}

// gcPercent lets the heap grow to three times what lives.
const gcPercent = 200

// containerMemory is the limit of the control group that the process is in; 0 if there is none.
func containerMemory() int64 {
	for _, path := range []string{
		"/sys/fs/cgroup/memory.max",
		"/sys/fs/cgroup/memory/memory.limit_in_bytes",
	} {
		content, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err == nil && n > 0 && n < 1<<50 { // version 1 says a huge number for no limit
			return n
		}
	}
	return 0
}
