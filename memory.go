package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// tuneMemory sets up the garbage collector, unless the environment does. By default a server with little live memory
// would collect every few megabytes.
func tuneMemory(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(0, containerMemory()))
	}
}

// gcPercent lets the heap grow to three times the live memory.
const gcPercent = 200

// memoryLimit is the memory limit for the process: enough for live memory and for short-lived memory of requests, but
// not so much that garbage piles up. It begins at what a server on disk needs, whatever its data. In a container it
// stays below the container's limit, at which the process would be killed.
func memoryLimit(live, container int64) int64 {
	limit := max(384<<20, live/4*5+128<<20)
	if container > 0 {
		limit = min(limit, container/10*8)
	}
	return limit
}

// governMemory keeps the memory limit above the live memory, and returns memory to the system while the server is idle.
// It returns when ctx ends.
func governMemory(ctx context.Context, getenv func(string) string) {
	const live, allocated = 0, 1
	samples := []metrics.Sample{live: {Name: "/gc/heap/live:bytes"}, allocated: {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	before := samples[allocated].Value.Uint64()
	returned := before
	container := containerMemory()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(samples)
		lives, now := samples[live].Value.Uint64(), samples[allocated].Value.Uint64()
		if limit := memoryLimit(int64(lives), container); getenv("GOMEMLIMIT") == "" && limit != debug.SetMemoryLimit(-1) {
			debug.SetMemoryLimit(limit)
		}
		if now-before < idleAllocation && now-returned > lives/4+64<<20 {
			runtime.GC() // the second collection frees what pools keep
			debug.FreeOSMemory()
			metrics.Read(samples[allocated:])
			now = samples[allocated].Value.Uint64()
			returned = now
		}
		before = now
	}
}

// idleAllocation is how many bytes an idle server may allocate in a second.
const idleAllocation = 16 << 20

// containerMemory is the memory limit of the process's control group; 0: there is none.
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
		if err == nil && n > 0 && n < 1<<50 { // version 1 has a huge number for no limit
			return n
		}
	}
	return 0
}
