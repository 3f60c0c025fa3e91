package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a running server.
type process struct {
	cmd  *exec.Cmd
	addr string // of CQL
	http string // of profiles; empty if it has none
}

var (
	cqlLine  = regexp.MustCompile(`listening for CQL clients on /([0-9.:]+)`)
	httpLine = regexp.MustCompile(`"address":"([0-9.:]+)"`)
)

// build makes the binary as a release has it.
func build(binary string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "github.com/cqld/cqld")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// start runs a server and waits until it says where it listens.
func start(binary string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(binary, args...)}
	log, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(log)
	var seen []string
	for p.addr == "" && lines.Scan() {
		seen = append(seen, lines.Text())
		if m := httpLine.FindStringSubmatch(lines.Text()); m != nil {
			p.http = m[1]
		}
		if m := cqlLine.FindStringSubmatch(lines.Text()); m != nil {
			p.addr = m[1]
		}
	}
	if p.addr == "" {
		return nil, fmt.Errorf("%s did not start: %s", binary, strings.Join(seen, "; "))
	}
	go func() { _, _ = io.Copy(io.Discard, log) }() // so that the server can go on writing
	return p, nil
}

// stop ends the server and waits for it.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// rss is the resident memory in bytes.
func (p *process) rss() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseInt(strings.Fields(kb)[0], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("no VmRSS of process %d", p.cmd.Process.Pid)
}

// clockTicks is how many ticks of /proc make a second; Linux has said 100 on every machine since long.
const clockTicks = 100

// cpu is the CPU time used so far.
func (p *process) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
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
