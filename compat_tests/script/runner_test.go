package script_test

import (
	"context"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/compat_tests/tamper"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server"
)

// testModes are as different as modes can be.
var testModes = []script.Mode{
	{Version: protocol.V5, PageSize: 5000},
	{Version: protocol.V4, Prepared: true, PageSize: 1},
}

// open begins a run in a keyspace that is dropped with the test.
func open(t *testing.T, addr string, m script.Mode) *script.Runner {
	t.Helper()
	r, err := script.Open(t.Context(), addr, "run_of_a_test", m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestAnswers runs blocks that show every form of answer.
func TestAnswers(t *testing.T) {
	blocks := parse(t, `
exec
CREATE TABLE t (k int, c int, v text, b blob, PRIMARY KEY (k, c));
INSERT INTO t (k, c, v, b) VALUES (1, 1, 'it''s', 0x);
INSERT INTO t (k, c) VALUES (1, 2);
BEGIN BATCH INSERT INTO t (k, c) VALUES (1, 3); DELETE FROM t WHERE k = 1 AND c = 3; APPLY BATCH;
----
ok

exec
SELECT c FROM t WHERE k = 1;
SELEC c FROM t;
SELECT x FROM {ks}.t;
CREATE TABLE t (k int PRIMARY KEY);
CREATE KEYSPACE {ks}_2 WITH replication = {'class': 'Nope'};
DROP TABLE system.local;
SELECT c FROM {ks}_2.t;
----
ok
error syntax: line 1:0 no viable alternative at input 'SELEC' ([SELEC]...)
error invalid: Undefined column name x in table {ks}.t
error exists: Cannot add already existing table "t" to keyspace "{ks}"
error config: Unable to find replication strategy class 'org.apache.cassandra.locator.Nope'
error unauthorized: system keyspace is not user-modifiable.
error invalid: keyspace {ks}_2 does not exist

query
SELECT c, v, b FROM t WHERE k = 1;
----
c int | v text | b blob
1 | 'it''s' | 0x
2 | null | null

query
SELECT blob_as_int(0x) AS i, c FROM t WHERE k = 1 AND c = 1;
----
i int | c int
(empty) | 1

query
SELECT c FROM t WHERE k = 2;
----
c int

query
INSERT INTO t (k, c) VALUES (1, 2);
----
ok

query
SELECT x FROM t;
----
error invalid: Undefined column name x in table {ks}.t

query
SELECT count(c) AS n FROM t;
----
n bigint
2
warning Aggregation query used without partition key
`).Blocks
	addr := cqltest.RunT(t).Addr()
	for _, m := range testModes {
		for _, d := range open(t, addr, m).Compare(t.Context(), blocks) {
			t.Errorf("%s: line %d: %s", m, d.Block.Line, d)
		}
	}
}

// TestErrorWords gives an error each code and wants its word. An unknown code has its number.
func TestErrorWords(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	block := parse(t, "exec\nSELECT x FROM t;").Blocks[0]
	for code, word := range map[cqlerr.Code]string{
		cqlerr.ServerError:     "server",
		cqlerr.ProtocolError:   "protocol",
		cqlerr.Unavailable:     "unavailable",
		cqlerr.Overloaded:      "overloaded",
		cqlerr.TruncateError:   "truncate",
		cqlerr.ReadFailure:     "read failure",
		cqlerr.WriteFailure:    "write failure",
		cqlerr.SyntaxError:     "syntax",
		cqlerr.Unauthorized:    "unauthorized",
		cqlerr.Invalid:         "invalid",
		cqlerr.ConfigError:     "config",
		cqlerr.AlreadyExists:   "exists",
		cqlerr.Unprepared:      "unprepared",
		cqlerr.ReadTimeout:     "0x1200",
		cqlerr.CASWriteUnknown: "0x1700",
		0x9999:                 "0x9999",
	} {
		r := open(t, tamper.RunT(t, addr, tamper.OtherCode(cqlerr.Invalid, code)), testModes[0])
		want := []string{"error " + word + ": table t does not exist"}
		if got := r.Run(t.Context(), block); !reflect.DeepEqual(got, want) {
			t.Errorf("%#04x: %q, want %q", uint32(code), got, want)
		}
	}
}

// TestLostConnection wants an answer that says so when the server is gone.
func TestLostConnection(t *testing.T) {
	s := cqltest.RunT(t)
	r := open(t, s.Addr(), testModes[0])
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := r.Run(t.Context(), parse(t, "exec\nSELECT x FROM t;").Blocks[0])
	if len(got) != 1 || !strings.HasPrefix(got[0], "error connection: ") {
		t.Errorf("answers %q", got)
	}
}

// TestLateAnswer wants an answer that comes too late forgotten, and not given to the next statement.
func TestLateAnswer(t *testing.T) {
	var slow atomic.Bool
	s := cqltest.RunT(t, inside.Intercept(func(context.Context, *server.Inspected) error {
		if slow.Load() {
			time.Sleep(100 * time.Millisecond)
		}
		return nil
	}))
	r := open(t, s.Addr(), testModes[0])
	blocks := parse(t, "exec\nSELECT x FROM t;\n\nexec\nSELECT y FROM u;").Blocks
	slow.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	for i, c := range []context.Context{ctx, t.Context()} {
		if got := r.Run(c, blocks[i]); len(got) != 1 || !strings.HasPrefix(got[0], "error connection: ") {
			t.Errorf("answers %q", got)
		}
	}
}

// TestReopen finds the keyspace of an earlier run again.
func TestReopen(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	made := parse(t, "exec\nCREATE TABLE t (k int PRIMARY KEY);\nINSERT INTO t (k) VALUES (1);\n----\nok").Blocks
	first := open(t, addr, testModes[0])
	if d := first.Compare(t.Context(), made); len(d) > 0 {
		t.Fatal(d)
	}
	left := parse(t, "query\nSELECT k FROM t;\n----\nk int\n1").Blocks
	again, err := script.Reopen(t.Context(), addr, "run_of_a_test", testModes[1])
	if err != nil {
		t.Fatal(err)
	}
	if d := again.Compare(t.Context(), left); len(d) > 0 {
		t.Error(d)
	}
	if err := again.Drop(t.Context()); err != nil {
		t.Error(err)
	}
	if got := first.Run(t.Context(), left[0]); got[0] != "error invalid: keyspace {ks} does not exist" {
		t.Errorf("after Drop: %q", got)
	}
}

// TestOnlyCassandraIsRecorded wants cqld refused, which says that it is the release that is recorded from.
func TestOnlyCassandraIsRecorded(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	if _, err := script.CassandraRelease(t.Context(), addr); err == nil || !strings.Contains(err.Error(), "only says that it is Cassandra") {
		t.Errorf("cqld may be recorded from: %v", err)
	}
	block := parse(t, "query\nSELECT release_version FROM system.local;\n----\nrelease_version text\n'5.0.8'").Blocks
	if d := open(t, addr, testModes[0]).Compare(t.Context(), block); len(d) > 0 {
		t.Errorf("cqld claims another release: %s", d)
	}
	if _, err := script.CassandraRelease(t.Context(), "127.0.0.1:1"); err == nil {
		t.Error("a server that does not exist may be recorded from")
	}
}
