package server_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// wire are the ways answers travel.
var wire = []client.Options{
	{Version: protocol.V3},
	{Version: protocol.V4},
	{Version: protocol.V4, Compression: protocol.LZ4},
	{Version: protocol.V4, Compression: protocol.Snappy},
	{Version: protocol.V5},
	{Version: protocol.V5, Compression: protocol.LZ4},
}

func eachWire(t *testing.T, s *cqltest.Server, fn func(*testing.T, *client.Conn)) {
	t.Helper()
	for _, o := range wire {
		t.Run(fmt.Sprintf("v%d %s", o.Version, o.Compression), func(t *testing.T) { fn(t, connect(t, s, o)) })
	}
}

// Thousands of requests of all kinds may be under way on one connection; each is answered on its stream.
func TestPipeline(t *testing.T) {
	s := withTable(t)
	eachWire(t, s, func(t *testing.T, c *client.Conn) {
		insert, err := c.Prepare(testContext(t), "INSERT INTO ks.t (k, v) VALUES (?, ?)", "")
		if err != nil {
			t.Fatal(err)
		}
		read, err := c.Prepare(testContext(t), "SELECT v FROM ks.t WHERE k = ?", "")
		if err != nil {
			t.Fatal(err)
		}
		const n = 3000
		sent := make(chan error, 1)
		go func() {
			for i := range n {
				if err := c.Send(context.Background(), int16(i), 0, nil, pipelined(i, insert, read)); err != nil {
					sent <- err
					return
				}
			}
			sent <- nil
		}()
		kinds := make(map[string]int)
		seen := make(map[int16]bool)
		for range n {
			a, err := c.Receive(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			if seen[a.Header.Stream] {
				t.Fatalf("stream %d was answered twice", a.Header.Stream)
			}
			seen[a.Header.Stream] = true
			kinds[fmt.Sprintf("%d %T", a.Header.Stream%5, a.Response)]++
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{
			"0 *protocol.Void", "1 *protocol.Rows", "2 *protocol.Rows", "3 *protocol.Supported", "4 *protocol.Error",
		} {
			if kinds[kind] != n/5 {
				t.Errorf("%d answers %s, want %d: %v", kinds[kind], kind, n/5, kinds)
			}
		}
	})
}

// pipelined is the i-th request of the test: five kinds take turns.
func pipelined(i int, insert, read *client.Prepared) protocol.Request {
	switch i % 5 {
	case 0:
		m := &protocol.Execute{ID: insert.ID, ResultMetadataID: insert.ResultMetadataID}
		m.Parameters.Consistency, m.Parameters.Flags = cqlerr.One, protocol.WithValues
		m.Parameters.Values = append(m.Parameters.Values, intValue(i), textValue(strings.Repeat("x", i%300)))
		return m
	case 1:
		m := &protocol.Execute{ID: read.ID, ResultMetadataID: read.ResultMetadataID}
		m.Parameters.Consistency, m.Parameters.Flags = cqlerr.One, protocol.WithValues
		m.Parameters.Values = append(m.Parameters.Values, intValue(1))
		return m
	case 2:
		m := &protocol.Query{Query: fmt.Sprintf("SELECT v FROM ks.t WHERE k = %d", i%50)}
		m.Parameters.Consistency = cqlerr.One
		return m
	case 3:
		return &protocol.Options{}
	}
	return &protocol.Query{Query: "SELEC", Parameters: protocol.QueryParameters{Consistency: cqlerr.One}}
}

// A statement that takes its time holds up nobody on its connection.
func TestSlowStatement(t *testing.T) {
	release := make(chan struct{})
	var once sync.Once
	defer once.Do(func() { close(release) })
	s := withTable(t, inside.Intercept(func(ctx context.Context, r *server.Inspected) error {
		if strings.Contains(r.Statements[0], "slow") {
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return nil
	}))
	eachWire(t, s, func(t *testing.T, c *client.Conn) {
		ctx := testContext(t)
		slow := &protocol.Query{Query: "SELECT k AS slow FROM ks.t"}
		slow.Parameters.Consistency = cqlerr.One
		if err := c.Send(ctx, 77, 0, nil, slow); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			run(t, c, "SELECT * FROM ks.t WHERE k = 1")
		}
	})
	// The last connection's slow statement is answered when it is ready.
	c := connect(t, s, client.Options{})
	slow := &protocol.Query{Query: "SELECT k AS slow FROM ks.t", Parameters: protocol.QueryParameters{Consistency: cqlerr.One}}
	if err := c.Send(testContext(t), 5, 0, nil, slow); err != nil {
		t.Fatal(err)
	}
	run(t, c, "SELECT * FROM ks.t WHERE k = 1")
	once.Do(func() { close(release) })
	if a, err := c.Receive(testContext(t)); err != nil || a.Header.Stream != 5 {
		t.Errorf("%+v, %v", a, err)
	}
}

// More requests than may run at a time wait in the socket, and all are answered.
func TestConcurrencyLimit(t *testing.T) {
	var running, highest int
	var mu sync.Mutex
	s := withTable(t, inside.Limits(server.Limits{Concurrent: 4, ConnectionBytes: 2000, Unread: 500}),
		inside.Intercept(func(context.Context, *server.Inspected) error {
			mu.Lock()
			running++
			highest = max(highest, running)
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		}))
	requests := make([]protocol.Request, 100)
	for i := range requests {
		requests[i] = &protocol.Query{Query: "SELECT * FROM ks.t", Parameters: protocol.QueryParameters{Consistency: cqlerr.One}}
	}
	for i, a := range answers(t, connect(t, s, client.Options{}), requests...) {
		if _, ok := a.Response.(*protocol.Rows); !ok {
			t.Fatalf("answer %d: %s", i, what(a))
		}
	}
	if highest > 4 {
		t.Errorf("%d requests ran at a time", highest)
	}
	awaitNothingInFlight(t, s)
}

// awaitNothingInFlight waits until requests have given back their bytes, which they do after their answers are sent.
func awaitNothingInFlight(t *testing.T, s *cqltest.Server) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); inside.Of(s).Metrics().BytesInFlight != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes in flight at the end", inside.Of(s).Metrics().BytesInFlight)
		}
	}
}

// Over the limits, a client that asked for it in STARTUP is told at once.
func TestThrowOnOverload(t *testing.T) {
	block := make(chan struct{})
	s := withTable(t, inside.Limits(server.Limits{ConnectionBytes: 200}),
		inside.Intercept(func(_ context.Context, r *server.Inspected) error {
			if r.Options["THROW_ON_OVERLOAD"] == "1" {
				<-block
			}
			return nil
		}))
	c := connect(t, s, client.Options{
		Startup: []protocol.Option{{Key: "THROW_ON_OVERLOAD", Value: "1"}},
	})
	m := &protocol.Query{
		Query:      "SELECT * FROM ks.t WHERE k = 1 /*" + strings.Repeat("x", 100) + "*/",
		Parameters: protocol.QueryParameters{Consistency: cqlerr.One},
	}
	for i := range 3 {
		if err := c.Send(testContext(t), int16(i), 0, nil, m); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		a, err := c.Receive(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		e, ok := a.Response.(*protocol.Error)
		if !ok || e.Err.Code != cqlerr.Overloaded {
			t.Fatalf("answer %s", what(a))
		}
	}
	close(block)
	if a, err := c.Receive(testContext(t)); err != nil || a.Header.Stream != 0 {
		t.Errorf("%v, %v", a, err)
	}
}

// A request that had to wait for room among the bytes in flight is answered with a warning, where the protocol has
// warnings.
func TestWarnsOfBytesInFlight(t *testing.T) {
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
		block := make(chan struct{})
		s := withTable(t, inside.Limits(server.Limits{ConnectionBytes: 200, BytesInFlight: 1 << 20}),
			inside.Intercept(func(ctx context.Context, r *server.Inspected) error {
				if strings.Contains(r.Statements[0], "/*x") {
					<-block
				}
				return nil
			}))
		c, other := connect(t, s, client.Options{Version: v}), connect(t, s, client.Options{})
		m := queryOf(0, "SELECT * FROM ks.t WHERE k = 1 /*%s*/", strings.Repeat("x", 100))
		sendAll(t, c, 2, m)
		eventually(t, "the connection is not read", func() bool {
			return viewRow(t, other, "thread_pools", "name = 'Native-Transport-Requests'")["blocked_tasks"] == 1
		})
		close(block)
		want := []string{"Request breached limit(s) on bytes in flight (Endpoint: 200, Global: 1048576) and triggered " +
			"backpressure."}
		if v == protocol.V3 {
			want = nil
		}
		for i := range 2 {
			a, err := c.Receive(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			if a.Prefix != nil {
				got = a.Prefix.Warnings
			}
			if i == 0 && len(got) > 0 || i == 1 && !slices.Equal(got, want) {
				t.Errorf("%s, request %d: %q", v, i, got)
			}
		}
	}
}

// A large answer comes in one piece, whatever it has to be cut into.
func TestLargeAnswer(t *testing.T) {
	s := withTable(t)
	text := strings.Repeat("0123456789abcdef", 1<<15) // 512 KiB
	eachWire(t, s, func(t *testing.T, c *client.Conn) {
		ctx := testContext(t)
		for k := range 4 {
			p, err := c.Prepare(ctx, "INSERT INTO ks.t (k, v) VALUES (?, ?)", "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Execute(ctx, p, []types.Value{intValue(k), textValue(text)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		r := run(t, c, "SELECT v FROM ks.t WHERE k IN (0, 1, 2, 3)")
		if len(r.Rows) != 4 {
			t.Fatalf("%d rows", len(r.Rows))
		}
		for _, row := range r.Rows {
			if string(row[0]) != text {
				t.Fatal("a row differs")
			}
		}
	})
}
