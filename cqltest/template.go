package cqltest

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/cqld/cqld/internal/inside"
)

// ServerTemplate is a state from which servers begin. Template makes one.
type ServerTemplate struct {
	build   func(testing.TB, *Server)
	options []Option

	once     sync.Once
	snapshot *Snapshot
	failed   string // why there is none
}

// Template fills a server with a function, once, when the first test needs it. Each test gets a server that begins
// with the same state. Such a server starts in about a millisecond, however many rows it has, and shares nothing with
// the others:
//
//	var shop = cqltest.Template(func(t testing.TB, srv *cqltest.Server) {
//		srv.LoadDir(t, "schema")
//	})
//
//	func TestOrders(t *testing.T) {
//		t.Parallel()
//		srv := shop.RunT(t)
//
// If the function fails its t, each test that uses the template fails. The cleanups of t run when the function has
// returned. Options apply to the server that it fills, and to the others.
func Template(build func(t testing.TB, srv *Server), options ...Option) *ServerTemplate {
	return &ServerTemplate{build: build, options: options}
}

// RunT starts a server with the state of the template, which stops with the test. Options come after those of the
// template. It fails the test if the template could not be built.
func (p *ServerTemplate) RunT(t testing.TB, options ...Option) *Server {
	t.Helper()
	p.once.Do(func() { p.snapshot, p.failed = p.fill(t) })
	if p.failed != "" {
		t.Fatalf("the template of this server could not be built:\n%s", p.failed)
	}
	own := append([]Option{}, p.options...)
	own = append(own, func(c *inside.Config) { // which the template may have changed since
		c.Clock, c.Layout = p.snapshot.held.Clock.Copy(), ""
	})
	return run(t, p.snapshot, append(own, options...))
}

// fill starts a server, fills it and returns its state, or the reason why that failed.
func (p *ServerTemplate) fill(t testing.TB) (*Snapshot, string) {
	build := &templateT{TB: t}
	c := newConfig(build)
	for _, o := range p.options {
		o(&c)
	}
	srv, err := start(c)
	if err != nil {
		return nil, fmt.Sprintf("start a CQL server: %v", err)
	}
	defer func() { _ = srv.Stop(context.Background()) }() // it is not needed any more
	build.run(func() { p.build(build, srv) })
	if build.Failed() {
		return nil, build.text.String()
	}
	return srv.Snapshot(), ""
}

// templateT is the testing.TB of a template: it keeps the log, and whether it has failed.
type templateT struct {
	testing.TB

	mu       sync.Mutex
	text     strings.Builder
	failed   bool
	cleanups []func()
}

// run calls a function, and then the cleanups.
func (t *templateT) run(fn func()) {
	t.call(fn)
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		last := t.cleanups[n-1]
		t.cleanups = t.cleanups[:n-1]
		t.mu.Unlock()
		t.call(last)
	}
}

// call calls a function in a goroutine that FailNow may end. If it panics, t has failed.
func (t *templateT) call(fn func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		fn()
	}()
	<-ended
}

// Write takes a line of the server's log.
func (t *templateT) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(line)
}

func (t *templateT) print(text string) {
	_, _ = fmt.Fprintln(t, strings.TrimSuffix(text, "\n")) // Write has no errors
}

// Helper does nothing: the log of a template has no lines of callers.
func (t *templateT) Helper() {}

// Log logs a text.
func (t *templateT) Log(args ...any) { t.print(fmt.Sprintln(args...)) }

// Logf logs a text.
func (t *templateT) Logf(format string, args ...any) { t.print(fmt.Sprintf(format, args...)) }

// Fail says that the template has failed.
func (t *templateT) Fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

// Failed reports whether the template has failed.
func (t *templateT) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// FailNow says so and ends the function.
func (t *templateT) FailNow() {
	t.Fail()
	runtime.Goexit()
}

// Error logs and fails.
func (t *templateT) Error(args ...any) {
	t.Log(args...)
	t.Fail()
}

// Errorf logs and fails.
func (t *templateT) Errorf(format string, args ...any) {
	t.Logf(format, args...)
	t.Fail()
}

// Fatal logs, fails and ends the function.
func (t *templateT) Fatal(args ...any) {
	t.Log(args...)
	t.FailNow()
}

// Fatalf logs, fails and ends the function.
func (t *templateT) Fatalf(format string, args ...any) {
	t.Logf(format, args...)
	t.FailNow()
}

// Skip fails: a template that is skipped holds nothing.
func (t *templateT) Skip(args ...any) {
	t.Fatal(append([]any{"a template cannot be skipped:"}, args...)...)
}

// Skipf fails as well.
func (t *templateT) Skipf(format string, args ...any) { t.Skip(fmt.Sprintf(format, args...)) }

// SkipNow fails as well.
func (t *templateT) SkipNow() { t.Skip() }

// Cleanup registers a function that is called when the template is built.
func (t *templateT) Cleanup(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, fn)
}

// Name is the name of no test.
func (t *templateT) Name() string { return "template" }

// TempDir is a folder that is removed when the template is built.
func (t *templateT) TempDir() string {
	dir, err := os.MkdirTemp("", "cqltest-template-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
