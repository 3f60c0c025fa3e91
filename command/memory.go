package command

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// memoryBound limits the memory of the process.
type memoryBound struct {
	bytes int64  // 0: unknown
	from  string // the source, for the log
	hard  bool   // the process may be killed beyond it, so Go's limit is lower
}

// boundMemory returns the limit of the flag, or else of GOMEMLIMIT, of the control group, or half of the machine's
// memory.
func boundMemory(flag int64) memoryBound {
	if flag > 0 {
		return memoryBound{flag, "--memory-limit", true}
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 && os.Getenv("GOMEMLIMIT") != "" {
		return memoryBound{limit, "GOMEMLIMIT", true} // without the variable tuneMemory has set it
	}
	if limit := containerMemory("/"); limit > 0 {
		return memoryBound{limit, "the control group", true}
	}
	return memoryBound{machineMemory() / 2, "half of the machine", false}
}

// memoryShares has the memory of each part of the server, in bytes.
type memoryShares struct {
	clients    int64 // requests and responses
	memtable   int64 // one memtable; there are up to two, and Badger has as much again
	filter     int64 // Bloom filters of written keys
	tombstones int64 // Bloom filters of partitions with tombstones
	prepared   int64 // prepared statements
	texts      int64 // plans of unprepared statements
}

// usualShares are the shares if there is enough memory.
var usualShares = memoryShares{
	clients: 112 << 20, memtable: 256 << 20, filter: 64 << 20, tombstones: 32 << 20,
	prepared: 64 << 20, texts: 16 << 20,
}

// shares divides the bound. The parts take two thirds of it at most; the rest is for Badger and for garbage.
func (b memoryBound) shares() memoryShares {
	s := usualShares
	if b.bytes == 0 {
		return s
	}
	s.clients = min(s.clients, b.bytes/5)
	s.memtable = min(s.memtable, b.bytes/32)
	s.filter = min(s.filter, b.bytes/16)
	s.tombstones = min(s.tombstones, b.bytes/32)
	s.prepared = min(s.prepared, b.bytes/16)
	s.texts = min(s.texts, b.bytes/64)
	return s
}

// useMemory sets the sizes that no flag has set.
func (s *settings) useMemory(b memoryBound) {
	shares := b.shares()
	if s.limits.Memory == 0 {
		s.limits.Memory = shares.clients
	}
	if s.memtable == 0 {
		s.memtable = max(shares.memtable, minMemtable)
	}
	s.limits.PreparedBytes, s.limits.TextBytes = shares.prepared, shares.texts
	s.filter, s.tombstones = shares.filter, shares.tombstones
}

// logMemory logs the sizes.
func (s *settings) logMemory(b memoryBound, log zerolog.Logger) {
	log.Info().Str("limit", mebibytes(b.bytes)).Str("from", b.from).Str("clients", mebibytes(s.limits.Memory)).
		Str("memtable", mebibytes(s.memtable)).Str("prepared", mebibytes(s.limits.PreparedBytes)).
		Msg("memory is divided")
}

// mebibytes prints a number of bytes in the syntax of flags.
func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", n>>20) }

// tuneMemory sets up the garbage collector, unless the environment does. With Go's defaults a server with a small heap
// would collect every few megabytes.
func tuneMemory(b memoryBound, getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(b.collectAt(0))
	}
}

// gcPercent lets the heap grow to three times the live heap.
const gcPercent = 200

// collectAt returns the memory limit of Go's runtime for a live heap: enough for the heap and for short-lived memory
// of requests, but little garbage. 384 MiB is enough for a server on disk with small memtables. A hard bound leaves a
// fifth to spare.
func (b memoryBound) collectAt(live int64) int64 {
	limit := max(384<<20, live/4*5+128<<20)
	if b.hard {
		limit = min(limit, b.bytes/10*8)
	}
	return limit
}

// governMemory adapts the memory limit to the live heap, and returns memory to the system while the server is idle.
// It returns when ctx ends.
func governMemory(ctx context.Context, b memoryBound, getenv func(string) string) {
	const live, allocated = 0, 1
	samples := []metrics.Sample{live: {Name: "/gc/heap/live:bytes"}, allocated: {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	before := samples[allocated].Value.Uint64()
	returned := before
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(samples)
		heap, now := samples[live].Value.Uint64(), samples[allocated].Value.Uint64()
		if limit := b.collectAt(int64(heap)); getenv("GOMEMLIMIT") == "" && limit != debug.SetMemoryLimit(-1) {
			debug.SetMemoryLimit(limit)
		}
		if now-before < idleAllocation && now-returned > heap/4+64<<20 {
			runtime.GC() // FreeOSMemory collects again, which frees the contents of pools
			debug.FreeOSMemory()
			metrics.Read(samples[allocated:])
			now = samples[allocated].Value.Uint64()
			returned = now
		}
		before = now
	}
}

// idleAllocation is how many bytes an idle server may allocate in a second: metrics and health checks take some.
const idleAllocation = 2 << 20

// containerMemory returns the smallest memory limit of the process's control group and of those around it, or 0. In a
// container the process's own group is usually the root that it sees; in a service of systemd it is not, and the limit
// may be that of a slice around it. root is "/" except in tests.
func containerMemory(root string) (limit int64) {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		groups = []byte("0::/\n1:memory:/\n") // without /proc only the root's limit can be known
	}
	for line := range strings.Lines(string(groups)) { // such as 0::/a/b or, in version 1, 4:memory:/a/b
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(part) < 3 {
			continue
		}
		mount, name := "sys/fs/cgroup", "memory.max"
		if part[0] != "0" || part[1] != "" {
			if mount, name = mount+"/memory", "memory.limit_in_bytes"; !slices.Contains(strings.Split(part[1], ","), "memory") {
				continue
			}
		}
		for group := path.Join("/", part[2]); ; group = path.Dir(group) {
			// In a container, the name may be that on the host, of which only the root exists here.
			n := memoryLimit(filepath.Join(root, mount, group, name))
			if n > 0 && (limit == 0 || n < limit) {
				limit = n
			}
			if group == "/" {
				break
			}
		}
	}
	return limit
}

// memoryLimit reads the limit in a file of a control group, or returns 0.
func memoryLimit(file string) int64 {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	if err != nil || n >= 1<<50 { // max, or the huge number of version 1, is no limit
		return 0
	}
	return n
}

// machineMemory returns the memory of the machine, or 0 if it is unknown.
func machineMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kibibytes int64
		if n, _ := fmt.Sscanf(lines.Text(), "MemTotal: %d kB", &kibibytes); n == 1 {
			return kibibytes << 10
		}
	}
	return 0
}
