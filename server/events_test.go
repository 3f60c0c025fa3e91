package server_test

import (
	"fmt"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server/cqltest"
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
