package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/command"
)

// output is what a program has written so far.
type output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write keeps what is written.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(b)
}

// String is all of it.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// TestStartWithoutCluster starts the program where nobody listens, and where somebody does who never answers. It waits
// as long as --wait says and tells what for, and ends at once when it is told to.
func TestStartWithoutCluster(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	var accepted atomic.Bool
	go func() {
		if _, err := silent.Accept(); err == nil { // the connection is left open
			accepted.Store(true)
		}
	}()
	for _, c := range []struct {
		name, pd, wait string
		stop           bool
		code           int
		within         time.Duration
		says           string
	}{
		{"nobody is waited for", "127.0.0.1:1", "1s", false, 1, 30 * time.Second, "does not answer within 1s (--wait): connect to PD"},
		{"stopped where nobody listens", "127.0.0.1:1", "1m", true, 0, 5 * time.Second, "stopped before the cluster was reached"},
		{"stopped without an answer", silent.Addr().String(), "1m", true, 0, 5 * time.Second, "stopped before the cluster was reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out output
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			run := command.Program{
				Args:  []string{"serve", "--pd", c.pd, "--wait", c.wait, "--listen", "127.0.0.1:0", "--log-format", "json"},
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Engine: new(flags).engine(),
			}
			ended := make(chan int, 1)
			began := time.Now()
			go func() { ended <- run.Run(ctx) }()
			if c.stop {
				eventually(t, "it waits for the cluster", func() bool {
					if c.pd == silent.Addr().String() {
						return accepted.Load()
					}
					return strings.Contains(out.String(), "waiting for the cluster")
				})
				began = time.Now()
				stop()
			}
			if code := <-ended; code != c.code || !strings.Contains(out.String(), c.says) {
				t.Errorf("it ends with %d, want %d and %q:\n%s", code, c.code, c.says, out.String())
			}
			if took := time.Since(began); took > c.within {
				t.Errorf("it ends after %v, want %v at most", took, c.within)
			}
		})
	}
}

// TestWait looks at a server that waits for its cluster: clients are refused, so that they go to another server, and
// the health checks tell an orchestrator to leave it alone.
func TestWait(t *testing.T) {
	address := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	cql, web := address(), address()
	var out output
	ctx, stop := context.WithCancel(t.Context())
	run := command.Program{
		Args:  []string{"serve", "--pd", "127.0.0.1:1", "--wait", "1m", "--listen", cql, "--http", web},
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Engine: new(flags).engine(),
	}
	ended := make(chan int, 1)
	go func() { ended <- run.Run(ctx) }()
	defer func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("it ends with %d:\n%s", code, out.String())
		}
	}()
	eventually(t, "it waits for the cluster", func() bool { return strings.Contains(out.String(), "waiting for the cluster") })
	if conn, err := net.Dial("tcp", cql); err == nil {
		conn.Close()
		t.Error("a client can connect, and would not be answered")
	}
	for path, want := range map[string]int{"/health": http.StatusOK, "/ready": http.StatusServiceUnavailable} {
		got, err := http.Get("http://" + web + path)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != want {
			t.Errorf("%s answers %d, want %d", path, got.StatusCode, want)
		}
	}
}
