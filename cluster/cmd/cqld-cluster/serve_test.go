package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/cqld/cqld/cluster/tikv"
	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/command"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
)

var listening = regexp.MustCompile(`listening for CQL clients on /([0-9.:]+)`)

var serving = regexp.MustCompile(`"address":"([0-9.:]+)"`)

// program is the program, which serves on a cluster in this process.
type program struct {
	addr   string
	http   string // of metrics; empty if it has none
	killed atomic.Bool
	cut    atomic.Bool // nothing reaches the cluster
	stop   context.CancelFunc
	ended  chan struct{} // is closed when it has ended
	code   int           // after that

	logging sync.Mutex
	logged  strings.Builder // lines that match noted
}

// noted are lines of the log that tests look for.
var noted = regexp.MustCompile(`the cluster (does not answer|answers again)`)

// note keeps a line of the log, and fails the test if it is an error that nobody expects.
func (p *program) note(t *testing.T, line string) {
	if strings.Contains(line, `"level":"error"`) && !p.killed.Load() {
		t.Error(line)
	}
	if noted.MatchString(line) {
		p.logging.Lock()
		defer p.logging.Unlock()
		p.logged.WriteString(line + "\n")
	}
}

// notes are the lines that were kept.
func (p *program) notes() string {
	p.logging.Lock()
	defer p.logging.Unlock()
	return p.logged.String()
}

var errKilled = errors.New("the process was killed")

// serve runs the program with more arguments of serve, and returns when it serves. Its server is a node.
func serve(t *testing.T, c *tikvtest.Cluster, args ...string) *program {
	t.Helper()
	return start(t, c, new(cluster.Options), args...)
}

// start is serve for a server that is a node, or none if node is nil.
func start(t *testing.T, c *tikvtest.Cluster, node *cluster.Options, args ...string) *program {
	t.Helper()
	return startSplitting(t, c, node, 1, nil, args...)
}

// startSplitting is start for a server that splits new tables into parts. between may be nil.
func startSplitting(
	t *testing.T, c *tikvtest.Cluster, node *cluster.Options, parts int, between tikvtest.Between, args ...string,
) *program {
	t.Helper()
	p := &program{ended: make(chan struct{})}
	through := func(r *tikvrpc.Request, send func() error) error {
		if p.cut.Load() {
			return errKilled
		}
		if between != nil {
			return between(r, send)
		}
		return send()
	}
	flags := func(f *pflag.FlagSet) {
		if node != nil {
			command.NodeFlags(f, node)
		}
	}
	open := func(_ context.Context, f engine.Fold, log zerolog.Logger) (engine.Engine, error) {
		// Cassandra takes longer keys than TiKV does where its setting for that is the default.
		o := tikv.Options{Prefix: "scripts", MaxKey: 1 << 18, Split: parts, Patience: 6 * time.Second, Log: log}
		return tikv.Open(c.ConnectThrough(t, through), o, f)
	}
	log, end := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	run := command.Program{
		Args: append([]string{
			"serve", "--listen", "127.0.0.1:0", "--log-format", "json", // and no timeouts, on a machine that does other things
			"--read-timeout", "5m", "--range-timeout", "5m", "--write-timeout", "5m", "--counter-timeout", "5m",
			"--cas-timeout", "5m", "--truncate-timeout", "5m",
		}, args...),
		Stdin: strings.NewReader(""), Stdout: end, Stderr: end,
		Engine: &command.Engine{Reach: func(*pflag.FlagSet) {}, Flags: flags, Open: open, Shared: node},
	}
	go func() {
		defer close(p.ended)
		p.code = run.Run(ctx)
		_ = end.Close()
	}()
	t.Cleanup(func() {
		p.cut.Store(false) // else what was begun is tried for long
		p.end()
		if p.code != 0 && !p.killed.Load() {
			t.Errorf("the server ends with %d", p.code)
		}
	})
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if m := serving.FindStringSubmatch(lines.Text()); m != nil {
			p.http = m[1]
		}
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			p.addr = m[1]
			go func() {
				for lines.Scan() {
					p.note(t, lines.Text())
				}
			}()
			return p
		}
	}
	t.Fatal("the server did not start")
	return nil
}

// end ends the program as a signal does, and waits.
func (p *program) end() {
	p.stop()
	<-p.ended
}

// kill ends the program without a word to the others: nothing that it sends reaches the cluster any more.
func (p *program) kill() {
	p.killed.Store(true)
	p.cut.Store(true)
	p.stop()
}

// TestEndUnreachable ends servers that do not reach the cluster: one that does nothing, and one that writes.
func TestEndUnreachable(t *testing.T) {
	for _, writing := range []bool{false, true} {
		t.Run(fmt.Sprint("writing ", writing), func(t *testing.T) {
			t.Parallel()
			p := serve(t, tikvtest.New(t, 1))
			conn := dial(t, p)
			ask(t, conn, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
			ask(t, conn, "CREATE TABLE k.t (a int PRIMARY KEY)")
			p.killed.Store(true) // it ends with an error
			p.cut.Store(true)
			if writing {
				go func() { _, _ = conn.Query(t.Context(), "INSERT INTO k.t (a) VALUES (1)", nil, nil) }()
			}
			began := time.Now()
			p.stop()
			select {
			case <-p.ended:
			case <-time.After(time.Minute):
				t.Fatal("the server does not end")
			}
			if d := time.Since(began); d > 15*time.Second {
				t.Errorf("the server has ended after %v", d)
			}
			if p.code == 0 {
				t.Error("the server ends as if it had told the cluster")
			}
		})
	}
}
