package command

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cqld/cqld/store/engine/files"
)

// sampleProcess takes the metrics of the process from the system, by the names that Prometheus' own clients use.
func sampleProcess(s sample) {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano())
		s.take("counter", "process_cpu_seconds_total", "", "CPU time of the process.", cpu.Seconds())
	}
	if open, limit, known := files.Descriptors(); known {
		s.take("gauge", "process_open_fds", "", "Open file descriptors.", float64(open))
		s.take("gauge", "process_max_fds", "", "Maximum number of open file descriptors.", float64(limit))
	}
	statm, err := os.ReadFile("/proc/self/statm") // sizes in pages: all, resident, shared ...
	if sizes := strings.Fields(string(statm)); err == nil && len(sizes) > 1 {
		for i, name := range []string{"virtual", "resident"} {
			if pages, err := strconv.ParseUint(sizes[i], 10, 64); err == nil {
				s.take("gauge", "process_"+name+"_memory_bytes", "", "Memory of the process: "+name+".",
					float64(pages)*float64(os.Getpagesize()))
			}
		}
	}
}
