package gocqltest_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
)

// TestStatements records what a driver runs, with the keys, rows and tombstones that each statement has met.
func TestStatements(t *testing.T) {
	s := cqltest.RunT(t)
	session := gocqltest.Session(t, s)
	s.Exec(t, "USE t_statements_1", "CREATE TABLE t (a int, b text, c int, v text, PRIMARY KEY ((a, b), c))",
		"CREATE TABLE u (k int PRIMARY KEY, v int)", "CREATE INDEX ON u (v)")
	for c := range 5 {
		s.Exec(t, fmt.Sprintf("INSERT INTO t (a, b, c, v) VALUES (1, 'x', %d, 'v')", c))
	}
	s.Exec(t, "DELETE FROM t WHERE a = 1 AND b = 'x' AND c = 4")
	if n := len(s.Statements()); n != 0 {
		t.Errorf("%d statements are recorded before Record", n)
	}
	s.Record()
	batch := session.NewBatch(gocql.LoggedBatch)
	batch.Query("INSERT INTO t (a, b, c) VALUES (?, ?, ?)", 2, "y", 1)
	batch.Query("INSERT INTO u (k) VALUES (?)", 7)
	for _, run := range []func() error{
		session.Query("SELECT v FROM t WHERE a = ? AND b = ?", 1, "x").Consistency(gocql.All).Exec,
		session.Query("SELECT c FROM t WHERE a = ? AND b IN ('x', 'z') AND c = ?", 1, 2).Exec,
		session.Query("SELECT * FROM t").Exec,
		session.Query("SELECT * FROM u WHERE v = 1").Exec,
		session.Query("SELECT * FROM u WHERE token(k) > 1").Exec,
		session.Query("UPDATE u SET v = ? WHERE k = ? IF v = ?", 1, 3, 2).Exec,
		func() error { return session.ExecuteBatch(batch) },
		session.Query("TRUNCATE u").Exec,
		session.Query("SELECT nope FROM u").Exec,
	} {
		if err := run(); err != nil && !strings.Contains(err.Error(), "nope") {
			t.Error(err)
		}
	}
	session.Query("SELECT * FROM system.local").Exec()
	var got []string
	for _, st := range s.Statements() {
		if st.Opcode == "PREPARE" {
			continue
		}
		got = append(got, fmt.Sprintf("%s %s %s keys=%s read=%d returned=%d tombstones=%d scanned=%v prepared=%v level=%v err=%v",
			st.Opcode, st.Kind, st.Table, strings.Join(st.Keys, "|"), st.RowsRead, st.Returned, st.Tombstones, st.Scanned,
			st.Prepared, st.Consistency, st.Err))
		if st.Took <= 0 || st.Client == "" || st.Text == "" {
			t.Errorf("took %v, client %q, text %q", st.Took, st.Client, st.Text)
		}
	}
	want := []string{
		"EXECUTE select t keys=1, 'x' read=4 returned=4 tombstones=1 scanned=false prepared=true level=ALL err=<nil>",
		"EXECUTE select t keys=1, 'x'|1, 'z' read=1 returned=1 tombstones=0 scanned=false prepared=true level=QUORUM err=<nil>",
		"EXECUTE select t keys= read=4 returned=4 tombstones=1 scanned=true prepared=true level=QUORUM err=<nil>",
		"EXECUTE select u keys= read=0 returned=0 tombstones=0 scanned=false prepared=true level=QUORUM err=<nil>",
		"EXECUTE select u keys= read=0 returned=0 tombstones=0 scanned=false prepared=true level=QUORUM err=<nil>",
		"EXECUTE update u keys=3 read=0 returned=1 tombstones=0 scanned=false prepared=true level=QUORUM err=<nil>",
		"BATCH batch  keys=2, 'y'|7 read=0 returned=0 tombstones=0 scanned=false prepared=true level=QUORUM err=<nil>",
		"QUERY truncate u keys= read=0 returned=0 tombstones=0 scanned=false prepared=false level=QUORUM err=<nil>",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("the statements are\n%s\nwant\n%s", a, b)
	}
	all := s.Statements()
	if last := all[len(all)-1]; last.Err == nil || !strings.Contains(last.String(), "Undefined column name nope") {
		t.Errorf("the last statement is %v", last)
	}
	counts := s.StatementCounts()
	if want := map[string]int{"t_statements_1.t": 3, "t_statements_1.u": 4}; !maps.Equal(counts, want) {
		t.Errorf("the counts are %v, want %v", counts, want)
	}
	s.Reset()
	if n := len(s.Statements()); n != 0 {
		t.Errorf("%d statements after Reset", n)
	}
	s.Faults().Add(t, cqltest.Fault{Kind: "select", Act: cqltest.Unavailable(cqltest.Two, 2, 1).AfterApplying()})
	if err := session.Query("SELECT * FROM u").Exec(); err == nil {
		t.Error("the fault does not act")
	}
	if st := s.Statements(); len(st) == 0 || st[len(st)-1].Err == nil {
		t.Errorf("the error of a fault is not recorded: %v", st)
	}
}
