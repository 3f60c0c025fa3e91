package process

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Memory is resident memory in bytes.
type Memory struct {
	RSS  int64 // all of it
	Anon int64 // without pages of mapped files, which the system takes back when it needs them
}

// Memory reads the resident memory.
func (p *Process) Memory() (Memory, error) { return MemoryOf(p.Pid()) }

// MemoryOf reads the resident memory of any process.
func MemoryOf(pid int) (Memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	var m Memory
	for line := range strings.Lines(string(status)) {
		name, kb, _ := strings.Cut(line, ":")
		var field *int64
		switch name {
		case "VmRSS":
			field = &m.RSS
		case "RssAnon":
			field = &m.Anon
		default:
			continue
		}
		n, err := strconv.ParseInt(strings.Fields(kb)[0], 10, 64)
		if err != nil {
			return m, err
		}
		*field = n << 10
	}
	if m.RSS == 0 {
		return m, fmt.Errorf("no VmRSS of process %d: it has ended", pid)
	}
	return m, nil
}

// RSS is the resident memory in bytes.
func (p *Process) RSS() (int64, error) {
	m, err := p.Memory()
	return m.RSS, err
}

// Descriptors is how many files and sockets are open.
func (p *Process) Descriptors() (int, error) {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	return len(open), err
}

// clockTicks is the number of clock ticks per second in /proc; Linux reports 100 on every architecture.
const clockTicks = 100

// CPU is the CPU time used so far.
func (p *Process) CPU() (time.Duration, error) { return CPUOf(p.Pid()) }

// CPUOf is the CPU time that any process has used so far.
func CPUOf(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, fields, _ := strings.Cut(string(stat), ") ") // the program's name, before that, may contain spaces
	f := strings.Fields(fields)
	var ticks int64
	for _, s := range f[11:13] { // user and system time
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / clockTicks, nil
}

// metricTime is the timeout of a request for metrics.
const metricTime = 2 * time.Second

// Metric reads a metric from a server that was started with --http. The name may have labels, as the server prints
// them; without labels it sums all series of the metric. The connection is closed, so that it does not count among the
// descriptors.
func (p *Process) Metric(ctx context.Context, name string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, metricTime)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/metrics", p.HTTP), nil)
	if err != nil {
		return 0, err
	}
	ask.Close = true
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	sum, found := 0.0, false
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		n, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", lines.Text(), err)
		}
		sum, found = sum+n, true
	}
	if err := lines.Err(); err != nil || !found {
		return 0, fmt.Errorf("no %s among the metrics: %w", name, err)
	}
	return sum, nil
}
