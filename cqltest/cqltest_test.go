package cqltest_test

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// A server's clock is the test's: what has a TTL is gone when the test says so.
func TestClock(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	s := cqltest.RunT(t, cqltest.WithClock(func() time.Time { return time.Unix(now.Load(), 0) }))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := client.Dial(ctx, s.Addr(), client.Options{Version: protocol.V4})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rows := func(statements ...string) (n int) {
		t.Helper()
		for _, text := range statements {
			r, err := c.Query(ctx, text, nil, nil)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			n = len(r.Rows)
		}
		return n
	}
	n := rows("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.t (k int PRIMARY KEY)", "INSERT INTO ks.t (k) VALUES (1) USING TTL 60", "SELECT * FROM ks.t")
	if n != 1 {
		t.Errorf("%d rows before the time", n)
	}
	now.Add(61)
	if n := rows("SELECT * FROM ks.t"); n != 0 {
		t.Errorf("%d rows after it", n)
	}
}

// The word now of a timestamp is the time of the server's clock: when a text is executed, when a statement is
// prepared, and when from_json or a bound INSERT JSON is executed. Which of these it is was asked of Cassandra 5.0.8.
func TestNow(t *testing.T) {
	var now atomic.Int64
	now.Store(1_600_000_000_000)
	s := cqltest.RunT(t, cqltest.WithClock(func() time.Time { return time.UnixMilli(now.Load()) }))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := client.Dial(ctx, s.Addr(), client.Options{Version: protocol.V4})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	query := func(text string, values ...types.Value) [][][]byte {
		t.Helper()
		r, err := c.Query(ctx, text, values, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return r.Rows
	}
	query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	query("CREATE TABLE ks.t (k int, c timestamp, v frozen<map<timestamp, tuple<timestamp>>>, PRIMARY KEY (k, c))")
	for _, test := range []struct {
		insert        string
		value         string // that is bound
		keepsPrepared bool
	}{
		{"INSERT INTO ks.t (k, c) VALUES (1, 'now')", "", true},
		{"BEGIN BATCH INSERT INTO ks.t (k, c) VALUES (1, 'NOW'); APPLY BATCH", "", true},
		{"INSERT INTO ks.t (k, c) VALUES (1, (timestamp)'now' - 0d)", "", true},
		{`INSERT INTO ks.t JSON '{"k": 1, "c": "n\u006fw"}'`, "", true},
		{"INSERT INTO ks.t JSON ?", `{"k": 1, "c": "Now", "v": {"now": ["now"]}}`, false},
		{`INSERT INTO ks.t (k, c) VALUES (1, from_json('"now"'))`, "", false},
		{"INSERT INTO ks.t (k, c) VALUES (1, from_json(?))", `"now"`, false},
	} {
		var values []types.Value
		if test.value != "" {
			values = []types.Value{{Bytes: []byte(test.value)}}
		}
		p, err := c.Prepare(ctx, test.insert, "")
		if err != nil {
			t.Fatal(test.insert, err)
		}
		prepared := now.Load()
		for range 2 {
			now.Add(1)
			query("TRUNCATE ks.t")
			query(test.insert, values...)
			if got := types.DecodeBigInt(query("SELECT c FROM ks.t")[0][0]); got != now.Load() {
				t.Errorf("%s at %d gives %d", test.insert, now.Load(), got)
			}
			want := now.Load()
			if test.keepsPrepared {
				want = prepared
			}
			query("TRUNCATE ks.t")
			if _, err := c.Execute(ctx, p, values, nil); err != nil {
				t.Fatal(test.insert, err)
			}
			if got := types.DecodeBigInt(query("SELECT c FROM ks.t")[0][0]); got != want {
				t.Errorf("%s prepared at %d and executed at %d gives %d", test.insert, prepared, now.Load(), got)
			}
		}
	}
	query("ALTER TABLE ks.t ADD m timestamp MASKED WITH mask_replace('now')")
	query("INSERT INTO ks.t (k, c, v, m) VALUES (2, 'now', {'now': ('now')}, 'now')")
	row := query("SELECT v FROM ks.t WHERE k = 2")[0]
	stamp := types.EncodeBigInt(now.Load())
	if n := bytes.Count(row[0], stamp); n != 2 {
		t.Errorf("%d times inside of %x", n, row[0])
	}
	masks := query("SELECT function_argument_values FROM system_schema.column_masks WHERE keyspace_name = 'ks'")
	if !bytes.Contains(masks[0][0], []byte(time.UnixMilli(now.Load()).UTC().Format("2006-01-02T15:04:05.000Z"))) {
		t.Errorf("the mask has %q", masks[0][0])
	}
}

// Servers do not share anything, and a stopped one stays stopped.
func TestServersAreSeparate(t *testing.T) {
	a, b := cqltest.RunT(t), cqltest.RunT(t)
	if a.Addr() == b.Addr() {
		t.Fatal("one address for two servers")
	}
	ctx := context.Background()
	if err := a.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := a.Stop(ctx); err != nil {
		t.Errorf("the second Stop: %v", err)
	}
	if _, err := client.Dial(ctx, a.Addr(), client.Options{}); err == nil {
		t.Error("a stopped server can be dialled")
	}
	c, err := client.Dial(ctx, b.Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestStart starts servers that belong to no test. They run until they are stopped.
func TestStart(t *testing.T) {
	var shared *cqltest.Server
	t.Run("TestMain", func(t *testing.T) {
		var err error
		if shared, err = cqltest.Start(cqltest.WithStatements()); err != nil {
			t.Fatal(err)
		}
	})
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			table := shared.Keyspace(t) + ".t"
			shared.Exec(t, "CREATE TABLE "+table+" (k int PRIMARY KEY)")
			if _, err := dial(t, shared, client.Options{}).Query(t.Context(), "INSERT INTO "+table+" (k) VALUES (1)", nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	if n := shared.StatementCounts(); n["t_start_first_1.t"] == 0 || n["t_start_second_2.t"] == 0 {
		t.Errorf("the statements by table: %v", n)
	}
	if err := shared.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", shared.Addr()); err == nil {
		c.Close()
		t.Error("the server can be reached when it is stopped")
	}
	if s, err := cqltest.Start(cqltest.RingOf("nonsense")); err == nil || s != nil {
		t.Errorf("a wrong option: %v, %v", s, err)
	}
}
