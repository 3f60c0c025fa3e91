package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// versions are those that timeouts are tested with: the error has other fields in each.
var versions = []protocol.Version{protocol.V3, protocol.V4, protocol.V5}

// conditionalRequests are conditional writes of three rows of ks.t, in the ways that they can be sent.
func conditionalRequests(v protocol.Version) []protocol.Request {
	text := func(i int) string {
		return fmt.Sprintf("INSERT INTO ks.t (k, v) VALUES (%d, 'late') IF NOT EXISTS", conditionalKey(v, i))
	}
	p := protocol.QueryParameters{
		Consistency: cqlerr.One, SerialConsistency: cqlerr.LocalSerial, Flags: protocol.WithSerialConsistency,
	}
	return []protocol.Request{
		&protocol.Query{Query: text(0), Parameters: p},
		&protocol.Batch{Type: protocol.UnloggedBatch, Children: []protocol.BatchChild{{Query: text(1)}}, Parameters: p},
		&protocol.Query{Query: "BEGIN BATCH " + text(2) + " APPLY BATCH", Parameters: p},
	}
}

// conditionalKey is the key that a request of conditionalRequests writes.
func conditionalKey(v protocol.Version, i int) int { return 10*int(v) + i }

// timeOutConditionally sends conditional writes in all versions while the engine does not answer. It checks their
// errors, and how many rows each has stored in the end.
func timeOutConditionally(t *testing.T, block func(*heldEngine), stored int, want func(protocol.Version) cqlerr.Error) {
	t.Helper()
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, inside.Limits(server.Limits{CASTimeout: 50 * time.Millisecond}))
	conns := make([]*client.Conn, len(versions))
	for i, v := range versions {
		conns[i] = connect(t, s, client.Options{Version: v})
	}
	block(e)
	defer e.release()
	for i, v := range versions {
		for stream, m := range conditionalRequests(v) {
			if err := conns[i].Send(testContext(t), int16(stream), 0, nil, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, v := range versions {
		for range conditionalRequests(v) {
			a, err := conns[i].Receive(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			if told, ok := a.Response.(*protocol.Error); !ok || *told.Err != want(v) {
				t.Errorf("%s, stream %d: %s, want %+v", v, a.Header.Stream, what(a), want(v))
			}
		}
	}
	e.release()
	awaitNothingInFlight(t, s)
	for i, v := range versions {
		for n := range conditionalRequests(v) {
			read := fmt.Sprintf("SELECT v FROM ks.t WHERE k = %d", conditionalKey(v, n))
			r, err := conns[i].Query(testContext(t), read, nil, nil)
			if err != nil || len(r.Rows) != stored {
				t.Errorf("%s, request %d: %+v, %v; want %d rows", v, n, r, err, stored)
			}
		}
	}
}

// A conditional write that is not decided in time is not stored, and the error says so.
func TestConditionalWriteTimeouts(t *testing.T) {
	timeOutConditionally(t, (*heldEngine).stall, 0, func(v protocol.Version) cqlerr.Error {
		e := cqlerr.Error{
			Code: cqlerr.WriteTimeout, Message: "Operation timed out - received only 0 responses.",
			Detail: cqlerr.TimeoutDetail{Consistency: cqlerr.LocalSerial, BlockFor: 1, WriteType: "CAS"},
		}
		if v == protocol.V5 {
			e.Message = "CAS operation timed out: received 0 of 1 required responses after 0 contention retries"
		}
		return e
	})
}

// Nobody knows the outcome of a conditional write that was decided and is not confirmed in time.
func TestUnknownConditionalWrites(t *testing.T) {
	timeOutConditionally(t, (*heldEngine).hold, 1, func(v protocol.Version) cqlerr.Error {
		if v == protocol.V5 {
			return cqlerr.Error{
				Code: cqlerr.CASWriteUnknown, Message: "CAS operation result is unknown - proposal accepted by 0 but not a quorum.",
				Detail: cqlerr.TimeoutDetail{Consistency: cqlerr.LocalSerial, BlockFor: 1},
			}
		}
		return cqlerr.Error{
			Code: cqlerr.WriteTimeout, Message: "Operation timed out - received only 0 responses.",
			Detail: cqlerr.TimeoutDetail{Consistency: cqlerr.LocalSerial, BlockFor: 1, WriteType: "CAS"},
		}
	})
}

// A TRUNCATE that takes too long is answered, and the table is empty in the end.
func TestTruncateTimeout(t *testing.T) {
	t.Parallel()
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, inside.Limits(server.Limits{TruncateTimeout: 50 * time.Millisecond}))
	for _, v := range versions {
		c := connect(t, s, client.Options{Version: v})
		run(t, c, "INSERT INTO ks.t (k, v) VALUES (1, 'there')")
		e.hold()
		_, err := c.Do(testContext(t), queryOf(0, "TRUNCATE ks.t"))
		e.release()
		expectError(t, err, cqlerr.TruncateError, "Error during truncate: Truncate timed out - received only 0 responses")
		awaitNothingInFlight(t, s)
		r, err := c.Query(testContext(t), "SELECT v FROM ks.t", nil, nil)
		if err != nil || len(r.Rows) != 0 {
			t.Errorf("%s: %v, %v", v, r, err)
		}
	}
}
