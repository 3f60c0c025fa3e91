package exec_test

import (
	"context"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
)

const simple = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

// withTable is a session with the table ks.t.
func withTable(t testing.TB, columns string) *session {
	t.Helper()
	s := newSession(t)
	s.must(simple)
	s.must("USE ks")
	s.must("CREATE TABLE t (" + columns + ")")
	return s
}

func integer(n int) types.Value {
	return types.Value{Bytes: binary.BigEndian.AppendUint32(nil, uint32(n))}
}

func text(s string) types.Value { return types.Value{Bytes: []byte(s)} }

func list(values ...types.Value) types.Value {
	var elems [][]byte
	for _, v := range values {
		elems = append(elems, v.Bytes)
	}
	return types.Value{Bytes: types.NewList(elems)}
}

var (
	null  = types.Value{}
	unset = types.Value{Unset: true}
)

// bound is what a statement answers with values bound, in the form of the scripts.
func (s *session) bound(statement string, values ...types.Value) string {
	s.t.Helper()
	p, err := s.prepare(statement)
	if err != nil {
		return errorText(err)
	}
	r, err := s.execute(p, exec.Options{}, values...)
	if err != nil {
		return errorText(err)
	}
	rows, ok := r.(*exec.Rows)
	if !ok {
		return "ok\n"
	}
	var b strings.Builder
	for _, row := range decode(rows) {
		b.WriteString(strings.Join(row, " | ") + "\n")
	}
	return b.String()
}

// TestNoRows reads a range that ends with null, which has no rows, with nothing left over from reads before it.
func TestNoRows(t *testing.T) {
	s := withTable(t, "k int, c int, PRIMARY KEY (k, c)")
	s.must("INSERT INTO t (k, c) VALUES (1, 1)")
	for range 5 {
		runtime.GC()
		runtime.GC() // the second one empties pools
		if got := s.bound("SELECT * FROM t WHERE k = 1 AND c < ?", null); got != "" {
			t.Fatalf("it has %s", got)
		}
	}
}

// The parts of a comparison with an element of a map have names of their own in Cassandra's texts.
func TestUnsetPartsOfMaps(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, m map<int, int>")
	for _, c := range []struct {
		key, value types.Value
		want       string
	}{
		{unset, integer(1), "error 2200: Unsupported unset map key for column m\n"},
		{integer(1), unset, "error 2200: Unsupported unset map value for column m\n"},
		{null, unset, "error 2200: Unsupported null map key for column m\n"},
	} {
		if got := s.bound("SELECT k FROM t WHERE m[?] = ? ALLOW FILTERING", c.key, c.value); got != c.want {
			t.Errorf("got %s want %s", got, c.want)
		}
	}
}

// TestBoundValues binds null, unset and values of a wrong size; the texts are Cassandra's.
func TestBoundValues(t *testing.T) {
	s := withTable(t, "k int, c int, v text, w int, PRIMARY KEY (k, c)")
	insert := "INSERT INTO t (k, c, v, w) VALUES (?, ?, ?, ?)"
	read := "SELECT * FROM t WHERE k = ? AND c = ?"
	for _, step := range []struct {
		statement string
		values    []types.Value
		want      string
	}{
		{insert, []types.Value{integer(1), integer(2), text("x"), integer(3)}, "ok\n"},
		{read, []types.Value{integer(1), integer(2)}, "1 | 2 | 'x' | 3\n"},
		{insert, []types.Value{integer(1), integer(2), unset, null}, "ok\n"},
		{read, []types.Value{integer(1), integer(2)}, "1 | 2 | 'x' | null\n"},
		{insert, []types.Value{null, integer(2), null, null}, "error 2200: Invalid null value in condition for column k\n"},
		{insert, []types.Value{unset, integer(2), null, null}, "error 2200: Invalid unset value for column k\n"},
		{insert, []types.Value{integer(1), null, null, null}, "error 2200: Invalid null value in condition for column c\n"},
		{insert, []types.Value{integer(1), text("x"), null, null}, "error 2200: Expected 4 or 0 byte int (1)\n"},
		{insert, []types.Value{integer(1), integer(2), text("\xff"), null}, "error 2200: String didn't validate.\n"},
		{read, []types.Value{text(""), integer(2)}, "error 2200: Key may not be empty\n"},
		{"SELECT c FROM t WHERE k IN ?", []types.Value{list(integer(2), integer(1))}, "2\n"},
		{"SELECT c FROM t WHERE k IN ?", []types.Value{list()}, ""},
		{"SELECT c FROM t WHERE k IN ?", []types.Value{null}, "error 2200: Invalid null value for column k\n"},
		{"SELECT c FROM t WHERE k IN ?", []types.Value{unset}, "error 2200: Invalid unset value for column k\n"},
		{"SELECT c FROM t WHERE k = 1 AND c IN ?", []types.Value{list(integer(3), integer(2))}, "2\n"},
		{"SELECT c FROM t WHERE k = 1 AND c > ?", []types.Value{integer(1)}, "2\n"},
		{"SELECT c FROM t LIMIT ?", []types.Value{integer(0)}, "error 2200: LIMIT must be strictly positive\n"},
		{"SELECT c FROM t LIMIT ?", []types.Value{null}, "error 2200: Invalid null value of limit\n"},
		{"SELECT c FROM t LIMIT ?", []types.Value{unset}, "2\n"},
		{"SELECT c FROM t LIMIT ?", []types.Value{text("x")}, "error 2200: Expected 4 or 0 byte int (1)\n"},
		{"SELECT c FROM t WHERE token(k) > ?", []types.Value{null}, "error 2200: Invalid null token value\n"},
		{"SELECT c FROM t WHERE v = ? ALLOW FILTERING", []types.Value{null}, "error 2200: Unsupported null value for column v\n"},
		{"SELECT c FROM t WHERE v = ? ALLOW FILTERING", []types.Value{unset}, "error 2200: Unsupported unset value for column v\n"},
		{"SELECT c FROM t WHERE v = :x ALLOW FILTERING", []types.Value{text("x")}, "2\n"},
		{"INSERT INTO t (k, c) VALUES (5, 5) USING TTL ?", []types.Value{integer(-1)}, "error 2200: A TTL must be greater or equal to 0, but was -1\n"},
		{"INSERT INTO t (k, c) VALUES (5, 5) USING TTL ?", []types.Value{null}, "ok\n"},
		{"INSERT INTO t (k, c) VALUES (5, 5) USING TIMESTAMP ?", []types.Value{null}, "error 2200: Invalid null value of timestamp\n"},
		{"INSERT INTO t (k, c) VALUES (5, 5) USING TIMESTAMP ?", []types.Value{unset}, "ok\n"},
		{"INSERT INTO t (k, c) VALUES (5, 5) USING TIMESTAMP ?", []types.Value{text("x")}, "error 2200: Expected 8 or 0 byte long (1)\n"},
		{"UPDATE t SET v = ?, w = ? WHERE k = ? AND c = ?", []types.Value{unset, unset, integer(9), integer(9)}, "ok\n"},
		{read, []types.Value{integer(9), integer(9)}, ""},
		{"DELETE FROM t WHERE k = ? AND c = ?", []types.Value{integer(5), integer(5)}, "ok\n"},
		{"SELECT k FROM t", nil, "1\n"},
	} {
		if got := s.bound(step.statement, step.values...); got != step.want {
			t.Errorf("%s %v\ngot:  %swant: %s", step.statement, step.values, got, step.want)
		}
	}
}

// TestLongKeys has answers of Cassandra, except for the DELETE of a range, which Cassandra accepts.
func TestLongKeys(t *testing.T) {
	s := withTable(t, "k text, c text, d text, PRIMARY KEY (k, c, d)")
	s.must("CREATE TABLE mixed (k text, c text, d text, PRIMARY KEY (k, c, d)) WITH CLUSTERING ORDER BY (c ASC, d DESC)")
	s.must("CREATE TABLE indexed (k text, c text, PRIMARY KEY (k, c))")
	s.must("CREATE INDEX ON indexed (c)")
	s.must("CREATE TABLE pairs (k text, l text, PRIMARY KEY ((k, l)))")
	s.must("INSERT INTO t (k, c, d) VALUES ('k', 'c', 'd')")
	s.must("INSERT INTO mixed (k, c, d) VALUES ('k', 'c', 'd')")
	s.must("INSERT INTO indexed (k, c) VALUES ('k', 'c')")
	long := func(n int) types.Value { return text(strings.Repeat("x", n)) }
	refused := func(n string) string { return "error 2200: Key length of " + n + " is longer than maximum of 65535\n" }
	const row, noRow, index = "'d'\n", "", "error 2200: Index expression values may not be larger than 64K\n"
	for _, test := range []struct {
		statement string
		lengths   []int
		want      string
	}{
		{"INSERT INTO t (k, c, d) VALUES (?, 'c', 'd')", []int{65536}, refused("65536")},
		{"INSERT INTO t (k, c, d) VALUES ('k', ?, ?)", []int{40000, 40000}, refused("80000")},
		{"DELETE FROM t WHERE k = 'k' AND c = 'c' AND d IN (?)", []int{65536}, refused("65537")},
		{"DELETE FROM t WHERE k = 'k' AND c = 'c' AND d < ?", []int{65536}, refused("65537")},

		{"SELECT d FROM t WHERE k = ? AND c = ?", []int{65536, 65536}, refused("65536")},
		{"SELECT d FROM t WHERE k = '' AND c = ?", []int{65536}, "error 2200: Key may not be empty\n"},
		{"SELECT d FROM t WHERE k = 'k' AND c = ?", []int{65536}, noRow},
		{"SELECT d FROM t WHERE k = 'k' AND c < ?", []int{1 << 20}, row},
		{"SELECT d FROM t WHERE k = 'k' AND c >= ?", []int{65536}, noRow},
		{"SELECT d FROM t WHERE k = 'k' AND c IN (?, 'c') AND d = 'd'", []int{65536}, row},
		{"SELECT d FROM t WHERE k = 'k' AND (c, d) = (?, ?)", []int{40000, 40000}, noRow},
		{"SELECT d FROM t WHERE k = 'k' AND (c, d) <= (?, ?)", []int{40000, 40000}, row},
		{"SELECT d FROM t WHERE k = 'k' AND (c, d) IN (('c', 'd'), (?, ?))", []int{40000, 40000}, row},
		{"SELECT d FROM t WHERE c < ? ALLOW FILTERING", []int{65536}, row},
		{"SELECT d FROM mixed WHERE k = 'k' AND (c, d) < (?, ?)", []int{40000, 40000}, row},
		{"SELECT d FROM mixed WHERE k = 'k' AND c = 'c' AND d > ?", []int{65536}, noRow},

		{"SELECT c FROM indexed WHERE c = ?", []int{65536}, index},
		{"SELECT c FROM indexed WHERE (c) IN ((?))", []int{65536}, index},
		{"SELECT c FROM indexed WHERE k = 'k' AND c = ?", []int{65536}, noRow},

		{"SELECT k FROM pairs WHERE k = ? AND l = 'l'", []int{65536}, refused("65537")},
		{"SELECT k FROM pairs WHERE k IN ('k', ?) AND l = ?", []int{40000, 40000}, refused("80000")},
		{"INSERT INTO pairs (k, l) VALUES (?, ?)", []int{40000, 25530}, refused("65536")},
		{"SELECT k FROM pairs WHERE k = ? AND l = ?", []int{40000, 25529}, noRow},
	} {
		var values []types.Value
		for _, n := range test.lengths {
			values = append(values, long(n))
		}
		if got := s.bound(test.statement, values...); got != test.want {
			t.Errorf("%s with %d bytes: got %.200s, want %s", test.statement, test.lengths, got, test.want)
		}
	}
}

// TestTimeToLive moves the clock.
func TestTimeToLive(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, v int")
	s.must("CREATE TABLE d (k int PRIMARY KEY, v int) WITH default_time_to_live = 100")
	s.must("INSERT INTO t (k, v) VALUES (1, 1) USING TTL 50")
	s.must("INSERT INTO d (k, v) VALUES (1, 1)")
	s.must("INSERT INTO d (k, v) VALUES (2, 1) USING TTL 0")
	s.must("UPDATE d USING TTL 10 SET v = 5 WHERE k = 3")
	left := func(q string) string { return s.bound(q) }
	if got := left("SELECT ttl(v) FROM t WHERE k = 1"); got != "50\n" && got != "49\n" {
		t.Error("ttl:", got)
	}
	if got := left("SELECT ttl(v) FROM d WHERE k = 2"); got != "null\n" {
		t.Error("no ttl:", got)
	}
	s.skew = 60 * time.Second
	if got := left("SELECT k FROM t"); got != "" {
		t.Error("expired:", got)
	}
	if got := left("SELECT k FROM d WHERE k IN (1, 2, 3)"); got != "1\n2\n" {
		t.Error("default:", got)
	}
	s.skew = 160 * time.Second
	if got := left("SELECT k FROM d"); got != "2\n" {
		t.Error("default expired:", got)
	}
}

// TestNow uses the request's own second instead of the clock's.
func TestNow(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, v int")
	insert, err := s.prepare("INSERT INTO t (k, v) VALUES (1, 1) USING TTL 100")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.execute(insert, exec.Options{HasNow: true, Now: 1000000000}); err != nil {
		t.Fatal(err)
	}
	for now, want := range map[int64]string{1000000050: "50", 1000000099: "1", 1000000100: "", -1: "1000000101", 0: "1000000100"} {
		r, err := s.run("SELECT ttl(v) FROM t WHERE k = 1", exec.Options{HasNow: true, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if rows := decode(r.(*exec.Rows)); len(rows) > 0 {
			got = rows[0][0]
		}
		if got != want {
			t.Errorf("at %d: %q, want %q", now, got, want)
		}
	}
}

func TestTimestamps(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, v int")
	o := exec.Options{HasTimestamp: true, Timestamp: 7}
	for _, q := range []string{"INSERT INTO t (k, v) VALUES (1, 1)", "INSERT INTO t (k, v) VALUES (2, 1) USING TIMESTAMP 9"} {
		if _, err := s.run(q, o); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.bound("SELECT writetime(v) FROM t WHERE k IN (1, 2)"); got != "7\n9\n" {
		t.Error(got)
	}
}

// TestProtocolBatch applies prepared statements together.
func TestProtocolBatch(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, v int")
	insert, err := s.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	read, err := s.prepare("SELECT * FROM t")
	if err != nil {
		t.Fatal(err)
	}
	run := func(kind exec.BatchKind, children ...exec.Request) string {
		done := make(chan string, 1)
		r := &exec.BatchRequest{Kind: kind, Children: children, Options: exec.Options{Consistency: cqlerr.One, HasTimestamp: true, Timestamp: 5}}
		s.executor.ExecuteBatch(context.Background(), r, func(r exec.Result, err error) {
			if err != nil {
				done <- errorText(err)
				return
			}
			done <- "ok\n" + warnings(r)
		})
		return <-done
	}
	one := exec.Request{Prepared: insert, Values: []types.Value{integer(1), integer(10)}}
	two := exec.Request{Prepared: insert, Values: []types.Value{integer(2), integer(20)}}
	bad := exec.Request{Prepared: insert, Values: []types.Value{integer(3), text("x")}}
	if got := run(exec.Logged, one, two); got != "ok\n" {
		t.Error(got)
	}
	if got := run(exec.Logged); got != "ok\n" {
		t.Error("empty:", got)
	}
	if got := run(exec.Unlogged, one, bad); got != "error 2200: Expected 4 or 0 byte int (1)\n" {
		t.Error(got)
	}
	if got := run(exec.Logged, one, exec.Request{Prepared: read}); got != "error 2200: Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.\n" {
		t.Error(got)
	}
	if got := run(exec.Counter, one); got != "error 2200: Cannot include non-counter statement in a counter batch\n" {
		t.Error(got)
	}
	if got := s.bound("SELECT k, v, writetime(v) FROM t WHERE k IN (1, 2, 3)"); got != "1 | 10 | 5\n2 | 20 | 5\n" {
		t.Error(got)
	}
}

// TestFunctions computes functions once per row.
func TestFunctions(t *testing.T) {
	s := withTable(t, "k timeuuid PRIMARY KEY, v uuid")
	for range 3 {
		s.must("INSERT INTO t (k, v) VALUES (now(), uuid())")
	}
	seen := map[string]bool{}
	r := s.must("SELECT k, v, now(), uuid() FROM t").(*exec.Rows)
	for _, row := range decode(r) {
		for _, v := range row {
			if seen[v] {
				t.Errorf("%s came twice", v)
			}
			seen[v] = true
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d different values", len(seen))
	}
}

// TestQuick lists plans that the goroutine which reads requests may execute, and others.
func TestQuick(t *testing.T) {
	s := withTable(t, "k int, c int, PRIMARY KEY (k, c)")
	s.must("CREATE TABLE w (k int PRIMARY KEY, n varint, d decimal, t text, i int, b double, m map<int, text>, l list<varint>)")
	s.must("CREATE TABLE viewed (k int, c int, v int, PRIMARY KEY (k, c))")
	s.must("CREATE MATERIALIZED VIEW by_v AS SELECT * FROM viewed WHERE v IS NOT NULL AND k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (v, k, c)")
	for statement, want := range map[string]bool{
		"SELECT n, d, t, m FROM w WHERE k = ?":                                  true,
		"SELECT i + 1, b * i, exp(b), now(), writetime(t) FROM w WHERE k = ?":   true,
		"SELECT JSON k, i FROM w WHERE k = ?":                                   true,
		"SELECT t, blobastext(textasblob(t)) FROM w WHERE k = 1":                true,
		"SELECT n * n FROM w WHERE k = ?":                                       false,
		"SELECT i + d FROM w WHERE k = ?":                                       false,
		"SELECT t + t FROM w WHERE k = ?":                                       false,
		"SELECT log10(n) FROM w WHERE k = ?":                                    false,
		"SELECT cast(n as text) FROM w WHERE k = ?":                             false,
		"SELECT JSON * FROM w WHERE k = ?":                                      false,
		"SELECT to_json(m) FROM w WHERE k = ?":                                  false,
		"SELECT map_keys(m) FROM w WHERE k = ?":                                 false,
		"SELECT m[1..2] FROM w WHERE k = ?":                                     false,
		"SELECT mask_inner(t, 1, 1) FROM w WHERE k = ?":                         false,
		"SELECT i FROM w WHERE k = 1 AND n = (varint)? * 3 ALLOW FILTERING":     false,
		"INSERT INTO w (k, n) VALUES (?, ?)":                                    true,
		"INSERT INTO w (k, i) VALUES (?, 1 + (int)?)":                           true,
		"INSERT INTO w (k, n) VALUES (?, 2 * 3)":                                true, // computed when it is planned
		"INSERT INTO w (k, n) VALUES (?, (varint)? * 3)":                        false,
		"INSERT INTO w (k, n) VALUES (1, " + strings.Repeat("9", 300) + " * 3)": false,
		"INSERT INTO w (k, n) VALUES (1, exp((varint)99999))":                   false,
		"INSERT INTO w (k, l) VALUES (?, from_json(?))":                         false,
		"INSERT INTO w JSON ?":                                                  false,
		"UPDATE w SET n = (varint)? / 2 WHERE k = 1":                            false,
		"UPDATE w SET i = 1 WHERE k IN (1, 2)":                                  true,
		"UPDATE w SET i = 1 WHERE k IN ?":                                       false,
		"DELETE FROM t WHERE k IN " + numbers(20) + " AND c IN " + numbers(20):  false,
		"BEGIN BATCH UPDATE w SET n = (varint)? / 2 WHERE k = 1 APPLY BATCH":    false,
		"SELECT * FROM t WHERE k = ? AND c = ?":                                 true,
		"SELECT * FROM t WHERE k = ?":                                           true,
		"SELECT * FROM t":                                                       true,
		"SELECT count(*) FROM t":                                                true,
		"SELECT max(c) FROM t WHERE k = 1":                                      false,
		"SELECT * FROM t WHERE k IN ?":                                          true,
		"SELECT * FROM system.local WHERE key = 'local'":                        false,
		"INSERT INTO t (k, c) VALUES (?, ?)":                                    true,
		"DELETE FROM t WHERE k = 1":                                             true,
		"INSERT INTO viewed (k, c, v) VALUES (?, ?, ?)":                         true,
		"UPDATE viewed SET v = 1 WHERE k = 1 AND c = 1 IF v = 2":                true,
		"DELETE FROM viewed WHERE k = 1 AND c = 1":                              true,
		"DELETE FROM viewed WHERE k = 1":                                        false,
		"DELETE FROM viewed WHERE k = 1 AND c > 1":                              false,
		"UPDATE viewed SET v = 1 WHERE k IN (1, 2) AND c = 1":                   false,
		"BEGIN BATCH DELETE FROM viewed WHERE k = 1 AND c = 1 APPLY BATCH":      false,
		"USE ks":             true,
		"TRUNCATE t":         false,
		"DROP TABLE t":       false,
		"DESCRIBE KEYSPACES": false,
		"BEGIN BATCH DELETE FROM t WHERE k = 1 APPLY BATCH": true,
	} {
		p, err := s.prepare(statement)
		if err != nil {
			t.Fatal(statement, err)
		}
		if got := s.executor.Quick(p.Plan); got != want {
			t.Errorf("%s: %v", statement, got)
		}
	}
}
