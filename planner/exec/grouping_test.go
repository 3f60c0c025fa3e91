package exec_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// TestGroupPages reads groups on pages of all sizes. Cassandra fails on these: in tables without clustering columns
// it refuses its own paging states, and it does not read on where a page ends inside a range of deleted rows.
func TestGroupPages(t *testing.T) {
	s := withTable(t, "k int, c int, d int, v text, s int static, PRIMARY KEY (k, c, d)")
	s.must("CREATE TABLE single (k int PRIMARY KEY, v int)")
	for i := range 90 {
		s.must(fmt.Sprintf("INSERT INTO t (k, c, d, v) VALUES (%d, %d, %d, '') USING TIMESTAMP %d", i%4, i%7, i, 10+i%3*10))
		s.must(fmt.Sprintf("INSERT INTO single (k, v) VALUES (%d, %[1]d)", i%11))
	}
	s.must("INSERT INTO t (k, s) VALUES (9, 1)")
	for k := range 4 {
		s.must(fmt.Sprintf("DELETE FROM t USING TIMESTAMP 15 WHERE k = %d AND c >= %d AND c < 6", k, k))
	}
	for _, q := range []string{
		"SELECT k, count(*) FROM t GROUP BY k", "SELECT k, c, v, count(*), max(d) FROM t GROUP BY k, c",
		"SELECT k, c, d, s, v FROM t GROUP BY k, c, d", "SELECT k, c, count(v) FROM t GROUP BY k, c LIMIT 7",
		"SELECT k, c, count(*) FROM t GROUP BY k, c PER PARTITION LIMIT 2",
		"SELECT k, c, count(*) FROM t WHERE k IN (3, 9, 1, 7) GROUP BY k, c PER PARTITION LIMIT 3 LIMIT 5",
		"SELECT k, c, count(*) FROM t WHERE k = 2 GROUP BY k, c ORDER BY c DESC",
		"SELECT k, c, count(*) FROM t WHERE d > 30 GROUP BY k, c ALLOW FILTERING",
		"SELECT JSON k, count(*) FROM t WHERE token(k) > 0 GROUP BY k", "SELECT DISTINCT k, s, count(*) FROM t GROUP BY k",
		"SELECT k, v, count(*) FROM single GROUP BY k", "SELECT k, v FROM single GROUP BY k LIMIT 5",
		"SELECT k, v FROM single WHERE k IN (1, 2, 3, 99) GROUP BY k",
	} {
		want := strings.ReplaceAll(s.text(q, 0), "-- page\n", "")
		if strings.Count(want, "\n") < 3 {
			t.Errorf("%s has too few rows:\n%s", q, want)
		}
		for _, page := range []int{1, 2, 3, 7, 1000} {
			if got := strings.ReplaceAll(s.text(q, page), "-- page\n", ""); got != want {
				t.Errorf("%s, pages of %d:\ngot:\n%swant:\n%s", q, page, got, want)
			}
		}
	}
}

// TestGroupPagingStates goes on inside a group: the rows behind the state are a group of their own, as in Cassandra.
func TestGroupPagingStates(t *testing.T) {
	s := withTable(t, "k int, c int, d int, PRIMARY KEY (k, c, d)")
	for i := range 6 {
		s.must(fmt.Sprintf("INSERT INTO t (k, c, d) VALUES (1, %d, %d)", i/3, i))
	}
	const behind = "000b" + "00" + "04" + "00000000" + "04" + "00000001" + "f07ffffffe" + "f07ffffffe" // c = 0, d = 1
	for _, test := range []struct{ query, want string }{
		{"SELECT c, count(*) FROM t WHERE k = 1 GROUP BY k, c", "0 1, 1 3"},
		{"SELECT c, count(*) FROM t WHERE k = 1 GROUP BY k", "0 4"},
		{"SELECT c, count(*) FROM t WHERE k = 1 GROUP BY k, c LIMIT 1", "0 1"},
		{"SELECT c, count(*) FROM t WHERE k = 1 GROUP BY k, c PER PARTITION LIMIT 1", "0 1"},
	} {
		state, err := hex.DecodeString(behind)
		if err != nil {
			t.Fatal(err)
		}
		s.state = state
		r, err := s.run(test.query, exec.Options{PageSize: 10})
		if err != nil {
			t.Fatal(test.query, err)
		}
		var groups []string
		for _, row := range decode(r.(*exec.Rows)) {
			groups = append(groups, strings.Join(row, " "))
		}
		if got := strings.Join(groups, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.query, got, test.want)
		}
	}
}

// TestGroupMemory reads many large groups, and holds memory of one only.
func TestGroupMemory(t *testing.T) {
	s := withTable(t, "k int, c int, v text, PRIMARY KEY (k, c)")
	long := text(strings.Repeat("x", 100_000))
	for c := range 200 {
		s.bound("INSERT INTO t (k, c, v) VALUES (1, ?, ?)", integer(c), long)
	}
	for _, query := range []string{"SELECT c, max(v) FROM t WHERE k = 1 GROUP BY k, c", "SELECT c, v FROM t WHERE k = 1 GROUP BY k"} {
		p, err := s.prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		s.state = nil
		onTurn(t, 8<<20, time.Minute, func(turn *pace.Turn) {
			for more := true; more; more = s.state != nil {
				r, err := s.execute(p, exec.Options{PageSize: 10, Turn: turn})
				if err != nil {
					t.Fatal(query, err)
				}
				s.state = r.(*exec.Rows).PagingState
			}
		})
	}
}
