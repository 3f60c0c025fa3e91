package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v", what, patience)
		}
	}
}

// goroutinesBack waits until there are no more goroutines than before, give or take the runtime's.
func goroutinesBack(t *testing.T, before int) {
	t.Helper()
	end := time.Now().Add(patience)
	for runtime.NumGoroutine() > before+2 {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// Requests in flight are answered before a connection closes, and nobody else can connect.
func TestShutdownDrains(t *testing.T) {
	before := runtime.NumGoroutine()
	var started atomic.Int32
	release := make(chan struct{})
	s := withTable(t, inside.Intercept(func(_ context.Context, r *server.Inspected) error {
		if strings.Contains(r.Statements[0], "slow") {
			started.Add(1)
			<-release
		}
		return nil
	}))
	busy, idle := connect(t, s, client.Options{}), connect(t, s, client.Options{})
	const n = 20
	for i := range int16(n) {
		m := &protocol.Query{Query: "SELECT k AS slow FROM ks.t", Parameters: protocol.QueryParameters{Consistency: cqlerr.One}}
		if err := busy.Send(testContext(t), i, 0, nil, m); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "requests run", func() bool { return started.Load() == n })
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(testContext(t)) }()
	if _, err := idle.NetConn().Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("an idle connection: %v", err)
	}
	if c, err := net.Dial("tcp", s.Addr()); err == nil {
		c.Close()
		t.Error("somebody could connect")
	}
	select {
	case err := <-stopped:
		t.Fatalf("Shutdown did not wait for the requests: %v", err)
	default:
	}
	close(release)
	for range n {
		a, err := busy.Receive(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := a.Response.(*protocol.Rows); !ok {
			t.Errorf("answer %s", what(a))
		}
	}
	if _, err := busy.Receive(testContext(t)); !errors.Is(err, io.EOF) {
		t.Errorf("behind the answers: %v", err)
	}
	busy.Close()
	idle.Close()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	goroutinesBack(t, before)
}

// When its context ends, Shutdown abandons what still runs.
func TestShutdownAbandons(t *testing.T) {
	started := make(chan struct{})
	s := withTable(t, inside.Intercept(func(ctx context.Context, r *server.Inspected) error {
		if strings.Contains(r.Statements[0], "slow") {
			close(started)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}))
	c := connect(t, s, client.Options{})
	m := &protocol.Query{Query: "SELECT k AS slow FROM ks.t", Parameters: protocol.QueryParameters{Consistency: cqlerr.One}}
	if err := c.Send(testContext(t), 1, 0, nil, m); err != nil {
		t.Fatal(err)
	}
	<-started
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := inside.Of(s).Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown returned %v", err)
	}
	if n := inside.Of(s).Metrics().Connections; n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

// Clients that hold things up do not hold up Shutdown: those that do not read, or have not finished a message, and
// scans whose client has gone.
func TestShutdownIsPrompt(t *testing.T) {
	for name, hold := range map[string]func(*testing.T, *cqltest.Server, *heldEngine){
		"unread": func(t *testing.T, s *cqltest.Server, _ *heldEngine) {
			for range 6 {
				c := connect(t, s, client.Options{Version: protocol.V4})
				if err := c.NetConn().(*net.TCPConn).SetReadBuffer(4096); err != nil {
					t.Fatal(err)
				}
				sendAll(t, c, 16, queryOf(0, "SELECT * FROM ks.wide WHERE p = 1"))
			}
			eventually(t, "answers wait to be read", func() bool { return inside.Of(s).Metrics().BytesAnswers > roomForAnswers/2 })
		},
		"unfinished": func(t *testing.T, s *cqltest.Server, _ *heldEngine) {
			for i := range 6 {
				o := client.Options{Version: protocol.V4}
				if i%2 == 1 {
					o.Version = protocol.V5
				}
				socket, bytes := connect(t, s, o).NetConn(), unfinished(t, o, 2<<20)
				go func() { _, _ = socket.Write(bytes) }() // until it is closed, perhaps
			}
			eventually(t, "messages have arrived in part", func() bool { return inside.Of(s).Metrics().BytesArriving > roomForArriving/2 })
		},
		"gone": func(t *testing.T, s *cqltest.Server, e *heldEngine) {
			e.slow(20 * time.Millisecond)
			c := connect(t, s, client.Options{})
			sendAll(t, c, 40, queryOf(0, "SELECT c FROM ks.wide WHERE n = -1 ALLOW FILTERING"))
			eventually(t, "a scan is under way", func() bool { return e.scanned.Load() > 0 })
			c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			e, withEngine := withHeldEngine()
			s := withTable(t, withEngine, inside.Limits(server.Limits{
				Memory: 16 << 20, ReadTimeout: time.Hour, RangeTimeout: time.Hour, // which nobody waits for
			}))
			fill(t, s, 32, 32<<10)
			hold(t, s, e)
			began := time.Now()
			if err := inside.Of(s).Shutdown(testContext(t)); err != nil {
				t.Error(err)
			}
			e.slow(0)
			t.Logf("Shutdown took %v", time.Since(began))
			if m := inside.Of(s).Metrics(); m.BytesAnswers != 0 || m.BytesArriving != 0 || m.BytesInFlight != 0 || m.ReadsWaiting != 0 {
				t.Errorf("at the end: %+v", m)
			}
			if err := s.Stop(testContext(t)); err != nil {
				t.Error(err)
			}
			goroutinesBack(t, before)
		})
	}
}

// slowScans starts a server whose scans of a table of so many rows take 10 ms for each.
func slowScans(t *testing.T, rows int) (*heldEngine, *cqltest.Server) {
	t.Helper()
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, inside.Limits(server.Limits{RangeTimeout: time.Hour}))
	fill(t, s, rows, 1)
	e.slow(10 * time.Millisecond)
	return e, s
}

// A client that goes away while the server waits for its scans is not waited for.
func TestHangUpDuringShutdown(t *testing.T) {
	e, s := slowScans(t, 1000)
	defer e.slow(0)
	c := connect(t, s, client.Options{})
	sendAll(t, c, 40, queryOf(0, "SELECT c FROM ks.wide WHERE n = -1 ALLOW FILTERING"))
	eventually(t, "a scan is under way", func() bool { return e.scanned.Load() > 0 })
	stopped := make(chan error, 1)
	go func() { stopped <- inside.Of(s).Shutdown(testContext(t)) }()
	eventually(t, "nobody can connect", func() bool {
		other, err := net.Dial("tcp", s.Addr())
		if err == nil {
			other.Close()
		}
		return err != nil
	})
	inside.Of(s).Metrics() // it is the turn of the connections before
	c.Close()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A scan that takes long is ended in time for its client to be told.
func TestShutdownEndsLongWork(t *testing.T) {
	t.Parallel()
	e, s := slowScans(t, 6000)
	defer e.slow(0)
	c := connect(t, s, client.Options{})
	answered := make(chan error, 1)
	go func() {
		_, err := c.Query(testContext(t), "SELECT c FROM ks.wide WHERE n = -1 ALLOW FILTERING", nil, nil)
		answered <- err
	}()
	eventually(t, "a scan is under way", func() bool { return e.scanned.Load() > 0 })
	if err := inside.Of(s).Shutdown(testContext(t)); err != nil {
		t.Error(err)
	}
	if told, ok := cqlerr.As(<-answered); !ok || told.Code != cqlerr.Overloaded {
		t.Errorf("the scan is answered %v", told)
	}
}

// Connections that go away in the middle of a message leave nothing behind.
func TestDroppedConnections(t *testing.T) {
	s := withTable(t)
	before := runtime.NumGoroutine()
	heap := heapInUse()
	starts := []string{
		startupHex("04", "CQL_VERSION", "3.0.0"), startupHex("05", "CQL_VERSION", "3.0.0"), "04", "0400000107",
		startupHex("04", "CQL_VERSION", "3.0.0") + "0400000107" + "00ffffff" + "00",
		startupHex("05", "CQL_VERSION", "3.0.0") + "ffff0200", startupHex("05", "CQL_VERSION", "3.0.0") + "090002a4c8c105000001",
		startupHex("04", "CQL_VERSION", "3.0.0") + "0400000107" + "00000023" +
			"0000001c53454c454354206b65792046524f4d2073797374656d2e6c6f63616c0001",
	}
	for i := range 1000 {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(unhex(t, starts[i%len(starts)])); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	eventually(t, "connections end", func() bool { return inside.Of(s).Metrics().Connections == 0 })
	goroutinesBack(t, before)
	if after := heapInUse(); after > heap+8<<20 {
		t.Errorf("%d bytes of heap, %d before", after, heap)
	}
	run(t, connect(t, s, client.Options{}), "SELECT * FROM ks.t")
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // the second one empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
