package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// traceOf reads the session and the activities of a trace, which may take a moment to be there.
func traceOf(t *testing.T, c *client.Conn, id [16]byte) (session map[string][]byte, activities []string) {
	t.Helper()
	key := []types.Value{{Bytes: id[:]}}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		r, err := c.Query(testContext(t), "SELECT * FROM system_traces.sessions WHERE session_id = ?", key, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Rows) == 1 {
			session = make(map[string][]byte)
			for i, column := range r.Columns {
				session[column.Name] = r.Rows[0][i]
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal("the trace does not appear")
		}
	}
	r, err := c.Query(testContext(t), "SELECT activity FROM system_traces.events WHERE session_id = ?", key, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		activities = append(activities, string(row[0]))
	}
	return session, activities
}

func TestTracing(t *testing.T) {
	s := withTable(t)
	eachWire(t, s, func(t *testing.T, c *client.Conn) {
		text := "SELECT v FROM ks.t WHERE k = ?"
		p := prepare(t, c, text, "")
		r, err := c.Execute(testContext(t), p, []types.Value{intValue(1)}, &client.QueryOptions{Tracing: true, PageSize: 7})
		if err != nil {
			t.Fatal(err)
		}
		session, activities := traceOf(t, c, r.TracingID)
		if string(session["request"]) != "Execute CQL3 prepared query" || len(session["duration"]) != 4 ||
			string(session["command"]) != "QUERY" || len(session["coordinator"]) != 4 || len(session["started_at"]) != 8 {
			t.Errorf("session %q", session)
		}
		for _, want := range []string{"bound_var_0_k", text, "consistency_level", "ONE", "page_size", "SERIAL"} {
			if !strings.Contains(string(session["parameters"]), want) {
				t.Errorf("parameters %q lack %q", session["parameters"], want)
			}
		}
		if len(activities) != 1 || !strings.HasPrefix(activities[0], "Executing ") {
			t.Errorf("activities %q", activities)
		}

		r, err = c.Query(testContext(t), "SELECT * FROM ks.t WHERE k = 2 OR", nil, &client.QueryOptions{Tracing: true})
		expectError(t, err, cqlerr.SyntaxError, "")
		if r == nil || r.TracingID == [16]byte{} {
			t.Fatalf("an error without a tracing id: %+v", r)
		}
		if _, activities = traceOf(t, c, r.TracingID); len(activities) != 1 || !strings.HasPrefix(activities[0], "Parsing ") {
			t.Errorf("activities %q", activities)
		}
	})
}

// Requests other than those with statements are not traced.
func TestNotTraced(t *testing.T) {
	c := connect(t, withTable(t), client.Options{Version: protocol.V4})
	if err := c.Send(testContext(t), 1, protocol.FlagTracing, nil, &protocol.Options{}); err != nil {
		t.Fatal(err)
	}
	a, err := c.Receive(testContext(t))
	if err != nil || a.Header.Flags != 0 {
		t.Errorf("%+v, %v", a, err)
	}
}
