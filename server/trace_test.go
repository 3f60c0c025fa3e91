package server_test

import (
	"slices"
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
		if len(activities) != 2 || !strings.HasPrefix(activities[0], "Executing ") ||
			activities[1] != "Read 1 live rows and 0 tombstone cells" && activities[1] != "Read 0 live rows and 0 tombstone cells" {
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

// TestTracingOfIndexes reads through indexes of both kinds and through a view: the trace names them, and how many
// entries and rows were read.
func TestTracingOfIndexes(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{})
	run := func(text string) *client.Result {
		t.Helper()
		r, err := c.Query(testContext(t), text, nil, &client.QueryOptions{Tracing: true, PageSize: 100})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return r
	}
	for _, text := range []string{
		"CREATE TABLE ks.traced (p int, c int, a int, b int, l int, PRIMARY KEY (p, c))",
		"CREATE CUSTOM INDEX ai ON ks.traced (a) USING 'StorageAttachedIndex'",
		"CREATE CUSTOM INDEX bi ON ks.traced (b) USING 'StorageAttachedIndex'",
		"CREATE INDEX li ON ks.traced (l)",
		"CREATE MATERIALIZED VIEW ks.byl AS SELECT p, c, l FROM ks.traced WHERE p IS NOT NULL AND c IS NOT NULL AND l IS NOT NULL " +
			"PRIMARY KEY (l, p, c)",
		"INSERT INTO ks.traced (p, c, a, b, l) VALUES (1, 1, 5, 7, 3)",
		"INSERT INTO ks.traced (p, c, a, l) VALUES (1, 2, 5, 3)",
		"INSERT INTO ks.traced (p, c, a, l) VALUES (2, 1, 5, 4)",
		"INSERT INTO ks.traced (p, c, a, b, l) VALUES (3, 1, 6, 7, 4)",
	} {
		run(text)
	}
	for text, want := range map[string][]string{
		"SELECT c FROM ks.traced WHERE a = 5": {
			"Executing read on ks.traced using index ai", "Index query read 3 entries, post-filtered 3 rows",
			"Read 3 live rows and 0 tombstone cells",
		},
		"SELECT c FROM ks.traced WHERE a >= 6": {
			"Executing read on ks.traced using index ai", "Index query read 1 entries, post-filtered 1 rows",
		},
		"SELECT c FROM ks.traced WHERE a = 5 AND b = 7": {
			"Executing read on ks.traced using indexes bi,ai", "Read 1 live rows and 0 tombstone cells",
		},
		"SELECT c FROM ks.traced WHERE l = 3": {
			"Executing read on ks.traced using index li", "Index query read 2 entries, post-filtered 2 rows",
		},
		"SELECT c FROM ks.byl WHERE l = 4": {
			"Executing select c from ks.byl, partition l = 4", "Read 2 live rows and 0 tombstone cells",
		},
		"SELECT c FROM ks.traced WHERE p = 1": {"Read 2 live rows and 0 tombstone cells"},
	} {
		var activities []string
		for end := time.Now().Add(10 * time.Second); ; { // until the indexes are built
			_, activities = traceOf(t, c, run(text).TracingID)
			if slices.Contains(activities, want[0]) || time.Now().After(end) {
				break
			}
		}
		for _, line := range want {
			if !slices.Contains(activities, line) {
				t.Errorf("%s: %q lacks %q", text, activities, line)
			}
		}
	}
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
