// Package process builds and runs servers as separate processes: cqld built like a release, and any other program that
// logs the address it listens on. Tests that kill a server, the bench and the comparisons with Cassandra use it; a test
// that only needs a server uses cqltest, which is faster.
package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Process is a running server.
type Process struct {
	Addr string // of CQL
	HTTP string // of profiles; empty if it has none

	cmd    *exec.Cmd
	log    tail
	logged sync.WaitGroup // the reader of the log
}

var (
	cqlLine  = regexp.MustCompile(`listening for CQL clients on /([0-9.:]+)`)
	httpLine = regexp.MustCompile(`"address":"([0-9.:]+)"`)
)

// Build builds the binary like a release, in the folder of cqld's module. It can be called in any module of the
// repository.
func Build(binary string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cqld/cqld").Output()
	if err != nil {
		return fmt.Errorf("find the module of cqld: %w", err)
	}
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", binary, ".")
	cmd.Dir = strings.TrimSpace(string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build cqld: %w\n%s", err, out)
	}
	return nil
}

// Start runs a server and waits until it logs the address it listens on.
func Start(binary string, args ...string) (*Process, error) {
	return StartWith(nil, binary, args...)
}

// StartWith is Start with more variables (NAME=value) in the server's environment.
func StartWith(environment []string, binary string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.Command(binary, args...)}
	// cqld reads flags from CQLD_* variables, and must not read those in the test's environment.
	p.cmd.Env = append(slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "CQLD_")
	}), environment...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(stderr)
	for p.Addr == "" {
		line, err := lines.ReadString('\n')
		p.log.add(line)
		if m := httpLine.FindStringSubmatch(line); m != nil {
			p.HTTP = m[1]
		}
		if m := cqlLine.FindStringSubmatch(line); m != nil {
			p.Addr = m[1]
		} else if err != nil {
			return nil, fmt.Errorf("%s did not start: %w\n%s", binary, p.cmd.Wait(), p.Log())
		}
	}
	p.logged.Go(func() { p.log.follow(lines) })
	return p, nil
}

// Stop ends the server as an operator would, and waits for it.
func (p *Process) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.Wait()
}

// Signal sends a signal and waits for nothing.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Wait waits until the server has ended.
func (p *Process) Wait() error {
	p.logged.Wait()
	return p.cmd.Wait()
}

// Pid is the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Kill kills the server.
func (p *Process) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	p.logged.Wait()
	_ = p.cmd.Wait() // always an error: it was killed
	return nil
}

// Log returns the end of the server's log or, after a crash, the lines from the crash on.
func (p *Process) Log() string { return p.log.String() }

// Errors returns the first errors that the server has logged, as JSON.
func (p *Process) Errors() []string { return p.log.logged() }

// tailLines is how many lines of a log are kept, keptErrors how many errors.
const (
	tailLines  = 40
	keptErrors = 20
)

// tail keeps the end of a log. After a crash it keeps the lines from the crash on: the cause precedes the stacks of all
// goroutines.
type tail struct {
	mu      sync.Mutex
	lines   []string
	errors  []string
	crashed bool
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.crashed && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		t.crashed, t.lines = true, t.lines[:0]
	}
	if strings.Contains(line, `"level":"error"`) && len(t.errors) < keptErrors {
		t.errors = append(t.errors, line)
	}
	if len(t.lines) == tailLines {
		if t.crashed {
			return
		}
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
}

// follow reads the log to its end, so that the server's writes do not block.
func (t *tail) follow(log *bufio.Reader) {
	for {
		line, err := log.ReadString('\n')
		t.add(line)
		if err != nil {
			_, _ = io.Copy(io.Discard, log)
			return
		}
	}
}

func (t *tail) logged() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.errors)
}

// String joins the last lines that the process wrote.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "")
}
