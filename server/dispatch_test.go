package server

import (
	"testing"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/statements"
	"github.com/cqld/cqld/server/trace"
)

// Every request of the protocol has a handler.
func TestEveryRequestIsServed(t *testing.T) {
	for op := range protocol.Opcode(255) {
		if !op.IsRequest() {
			continue
		}
		if int(op) >= len(handlers) || handlers[op].serve == nil {
			t.Errorf("%s is missing in handlers", op)
		}
	}
}

// Every kind of error has a counter of its own.
func TestEveryErrorIsCounted(t *testing.T) {
	var m counters
	for _, e := range errorNames {
		m.countError(e.code)
	}
	for i, e := range errorNames {
		if n := m.errors[i].Load(); n != 1 {
			t.Errorf("%s was counted %d times", e.name, n)
		}
	}
	m.countError(0x9999)
	if m.errors[0].Load() != 2 {
		t.Error("an unknown code is no server error")
	}
}

func TestCQLVersions(t *testing.T) {
	for version, ok := range map[string]bool{
		"3.0.0": true, "4.0.0": true, "3.4.7": true, "2.99.0": true, "99.0.0": true, "3.0": true, "3.0.0.0": true,
		"3.0.0-beta1": true, "3.4.7-SNAPSHOT": true, "2.98.9": false, "2.0.0": false, "3": false, "abc": false, "": false,
	} {
		if err := checkCQLVersion(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// The reader executes quick statements: reads unless they are traced, long, or come after a read that took long in the
// same burst, and writes unless they are large.
func TestRunsInReader(t *testing.T) {
	alone := planningServer(t) // writes wait for no clock
	read, write := &statements.Statement{Quick: true, Reads: true}, &statements.Statement{Quick: true, Writes: "SIMPLE"}
	for _, test := range []struct {
		name      string
		statement *statements.Statement
		request   *request
		want      bool
	}{
		{"read", read, &request{conn: new(conn), size: readerBody}, true},
		{"long read", read, &request{conn: new(conn), size: readerBody + 1}, false},
		{"traced read", read, &request{conn: new(conn), trace: new(trace.Trace)}, false},
		{"read after a slow one", read, &request{conn: &conn{heldUp: true}}, false},
		{"read that may wait", &statements.Statement{Reads: true}, &request{conn: new(conn)}, false},
		{"write", write, &request{conn: &conn{server: alone, heldUp: true}, size: largeWrite, trace: new(trace.Trace)}, true},
		{"large write", write, &request{conn: new(conn), size: largeWrite + 1}, false},
	} {
		if got := test.request.runsInReader(test.statement); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
