package server_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// A schema change is told before it is answered, on the connection that asked for it and on others.
func TestEvents(t *testing.T) {
	s := cqltest.RunT(t)
	eachWire(t, s, func(t *testing.T, c *client.Conn) {
		others := []*client.Conn{
			connect(t, s, client.Options{Version: protocol.V4}), connect(t, s, client.Options{Version: protocol.V5}),
		}
		deaf := connect(t, s, client.Options{})
		for _, conn := range append(others, c) {
			for range 2 { // the second time changes nothing
				if err := conn.Register(testContext(t), protocol.SchemaChanges, protocol.StatusChange); err != nil {
					t.Fatal(err)
				}
			}
		}
		m := &protocol.Query{Query: createKeyspace, Parameters: protocol.QueryParameters{Consistency: cqlerr.One}}
		if err := c.Send(testContext(t), 9, 0, nil, m); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"EVENT on -1", "RESULT on 9"} {
			h, _, err := c.ReceiveEnvelope(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s on %d", h.Opcode, h.Stream); got != want {
				t.Errorf("message %d is %s, want %s", i, got, want)
			}
		}
		run(t, c, "CREATE TABLE ks.t (k int PRIMARY KEY)", "CREATE TABLE IF NOT EXISTS ks.t (k int PRIMARY KEY)",
			"TRUNCATE ks.t", "DROP KEYSPACE ks")
		expectEvents(t, c, "CREATED TABLE ks.t", "DROPPED TABLE ks.t", "DROPPED KEYSPACE ks.")
		for _, other := range others {
			expectEvents(t, other, "CREATED KEYSPACE ks.", "CREATED TABLE ks.t", "DROPPED TABLE ks.t", "DROPPED KEYSPACE ks.")
		}
		if _, err := deaf.Supported(testContext(t)); err != nil {
			t.Error(err)
		}
	})
}

func expectEvents(t *testing.T, c *client.Conn, events ...string) {
	t.Helper()
	for _, want := range events {
		e, err := c.NextEvent(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s %s %s.%s", e.Schema.Change, e.Schema.Target, e.Schema.Keyspace, e.Schema.Name)
		if got != want || e.Type != protocol.SchemaChanges {
			t.Errorf("event %s %s, want %s", e.Type, got, want)
		}
	}
}

// Nothing counts beside a name that does not exist; the names before one that the version does not have do.
func TestRegister(t *testing.T) {
	s := cqltest.RunT(t)
	c := connect(t, s, client.Options{Version: protocol.V4})
	_, err := c.Do(testContext(t), &protocol.Register{Names: []string{"schema_change", "BAR"}})
	expectError(t, err, cqlerr.ProtocolError, "Invalid value 'BAR' for Type")
	run(t, c, createKeyspace)
	if _, err := c.Do(testContext(t), &protocol.Register{Names: []string{}}); err != nil {
		t.Error(err)
	}
	v3 := connect(t, s, client.Options{Version: protocol.V3})
	_, err = v3.Do(testContext(t), &protocol.Register{Names: []string{"schema_change", "TRACE_COMPLETE"}})
	expectError(t, err, cqlerr.ProtocolError, "Event TRACE_COMPLETE not valid for protocol version 3/v3")
	if err := c.Register(testContext(t), protocol.SchemaChanges); err != nil {
		t.Fatal(err)
	}
	run(t, c, "CREATE TABLE ks.t (k int PRIMARY KEY)")
	expectEvents(t, c, "CREATED TABLE ks.t")
	expectEvents(t, v3, "CREATED TABLE ks.t")
}

// pipes is a listener whose connections are pipes: nothing stands between a client that does not read and the server.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (l pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l pipes) Close() error   { close(l.closed); return nil }
func (l pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A connection that does not read its events is closed before they take much memory, and others get all of theirs.
func TestUnreadEvents(t *testing.T) {
	const deaf, share = 50, 16 << 10
	s := cqltest.RunT(t, inside.Log(zerolog.Nop()), inside.Limits(server.Limits{Memory: 4 << 20}))
	l := pipes{make(chan net.Conn), make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- inside.Of(s).Serve(l) }()
	for range deaf {
		ours, theirs := net.Pipe()
		defer ours.Close()
		l.accepted <- theirs
		for _, m := range []protocol.Request{startupMessage, &protocol.Register{Names: []string{"SCHEMA_CHANGE"}}} {
			if _, err := ours.Write(protocol.AppendRequest(nil, protocol.Header{Version: protocol.V4}, nil, m)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(ours, make([]byte, protocol.HeaderSize)); err != nil { // READY
				t.Fatal(err)
			}
		}
	}
	c, hears := connect(t, s, client.Options{}), connect(t, s, client.Options{Version: protocol.V5})
	if err := hears.Register(testContext(t), protocol.SchemaChanges); err != nil {
		t.Fatal(err)
	}
	run(t, c, createKeyspace)
	expectEvents(t, hears, "CREATED KEYSPACE ks.")
	name := strings.Repeat("n", 48)
	told := 0
	for ; inside.Of(s).Metrics().ConnectionsDeaf < deaf; told += 2 * len(name) {
		if told > 2*share {
			t.Fatalf("after %d bytes of events: %+v", told, inside.Of(s).Metrics())
		}
		run(t, c, "CREATE TABLE ks."+name+" (k int PRIMARY KEY)", "DROP TABLE ks."+name)
		expectEvents(t, hears, "CREATED TABLE ks."+name, "DROPPED TABLE ks."+name)
	}
	eventually(t, "they are closed", func() bool { return inside.Of(s).Metrics().Connections == 2 })
	if err := s.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
