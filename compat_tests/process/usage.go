package process

import (
	"fmt"
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

// Memory asks for the resident memory.
func (p *Process) Memory() (Memory, error) { return MemoryOf(p.Pid()) }

// MemoryOf asks for the resident memory of any process.
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

// clockTicks is how many ticks of /proc make a second; Linux has said 100 on every machine since long.
const clockTicks = 100

// CPU is the CPU time used so far.
func (p *Process) CPU() (time.Duration, error) { return CPUOf(p.Pid()) }

// CPUOf is the CPU time that any process has used so far.
func CPUOf(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, fields, _ := strings.Cut(string(stat), ") ") // the name before may have spaces
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
