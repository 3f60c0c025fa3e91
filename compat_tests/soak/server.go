package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"syscall"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// server is cqld on one folder. It runs as one process after the other.
type server struct {
	binary, data string
	arguments    []string
	report       *report
	process      *process.Process // nil: none runs
}

// stopTime is how long the server may take to stop.
const stopTime = 10 * time.Second

func (s *server) command() []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--data", s.data}, s.arguments...)
}

// start starts the server and waits until it listens.
func (s *server) start() error {
	began := time.Now()
	p, err := process.Start(s.binary, s.command()...)
	if err != nil {
		return err
	}
	took := time.Since(began)
	s.process = p
	s.report.opened(took)
	s.report.note("the server runs as %d after %d ms", p.Pid(), took.Milliseconds())
	return nil
}

// kill kills the server.
func (s *server) kill() error {
	s.report.killed()
	s.report.note("kill -9")
	return s.gone(s.process.Kill())
}

// stop stops the server with a signal, as an operator would.
func (s *server) stop() error {
	began := time.Now()
	p := s.process
	done := make(chan error, 1)
	go func() { done <- p.Stop() }()
	var err error
	select {
	case err = <-done:
	case <-time.After(stopTime):
		s.report.fail(fmt.Sprintf("the server did not stop within %s", stopTime))
		_ = p.Signal(syscall.SIGKILL)
		<-done
	}
	took := time.Since(began)
	s.report.stopped(took)
	s.report.note("stopped within %d ms", took.Milliseconds())
	if err != nil {
		s.report.fail(fmt.Sprintf("the server stopped with %v:\n%s", err, p.Log()))
	}
	return s.gone(nil)
}

// gone records that the process has ended, and the errors in its log.
func (s *server) gone(err error) error {
	for _, line := range s.process.Errors() {
		s.report.fail("the server logged " + line)
	}
	s.process = nil
	return err
}

// end kills a server that still runs.
func (s *server) end() {
	if s.process != nil {
		_ = s.process.Kill()
		s.process = nil
	}
}

// longOpen is the latest time after the start at which interrupt kills a server.
const longOpen = 300 * time.Millisecond

// interrupt starts a server and kills it while it opens the folder, or shortly after.
func (s *server) interrupt(random *rand.Rand) error {
	p := exec.Command(s.binary, s.command()...)
	if err := p.Start(); err != nil {
		return err
	}
	time.Sleep(time.Duration(random.Int64N(int64(longOpen))))
	_ = p.Process.Kill()
	_ = p.Wait() // always an error: it was killed
	s.report.killed()
	s.report.note("kill -9 while it opens")
	return nil
}

// verify runs cqld verify on the folder of a stopped server.
func (s *server) verify() {
	began := time.Now()
	out, err := exec.Command(s.binary, "verify", "--quiet", s.data).CombinedOutput()
	if err != nil {
		s.report.fail(fmt.Sprintf("cqld verify: %v\n%s", err, firstLines(string(out))))
	}
	s.report.note("verified within %d ms", time.Since(began).Milliseconds())
}
