package exec_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// TestShortPages reads in a room that is too small for any page: pages end early, and together they have all rows.
// Where there are no pages all rows come at once.
func TestShortPages(t *testing.T) {
	s := withTable(t, "k int, c int, v text, s text static, PRIMARY KEY (k, c)")
	s.must("CREATE MATERIALIZED VIEW mv AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)")
	long := strings.Repeat("x", 3000)
	for k := range 5 {
		for c := range 60 {
			s.bound("INSERT INTO t (k, c, v) VALUES (?, ?, ?)", integer(k), integer(c), text(fmt.Sprint(k, c, long)))
		}
	}
	for k := range 100 {
		s.bound("INSERT INTO t (k, s) VALUES (?, ?)", integer(3+k), text(long))
	}
	for _, query := range []string{
		"SELECT * FROM t", "SELECT * FROM t WHERE k = 4", "SELECT * FROM t WHERE k = 4 ORDER BY c DESC", "SELECT * FROM t LIMIT 250",
		"SELECT * FROM t WHERE k IN (1, 50, 3, 4)", "SELECT DISTINCT k, s FROM t", "SELECT * FROM t PER PARTITION LIMIT 40",
		"SELECT * FROM t WHERE k IN (1, 2, 3) PER PARTITION LIMIT 33", "SELECT * FROM mv", "SELECT JSON * FROM t WHERE c < 50 ALLOW FILTERING",
		"SELECT v, writetime(v) FROM t WHERE k IN (1, 2) AND c IN (1, 5, 9, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43)",
	} {
		want, _ := s.pagesOf(t, query, 0, nil)
		onTurn(t, 1, 0, func(turn *pace.Turn) {
			if err := turn.Hold(1); err != nil {
				t.Fatal(err)
			}
			p, err := s.prepare(query)
			if err != nil {
				t.Fatal(err)
			}
			o := exec.Options{PageSize: 240, Turn: turn} // less than the LIMIT, with which there are no pages
			var got [][]string
			pages := 0
			for more := true; more; more = s.state != nil {
				r, err := s.execute(p, o)
				if err != nil {
					t.Fatal(query, err)
				}
				rows := r.(*exec.Rows)
				if len(rows.Cells) > 80<<10 {
					t.Errorf("%s: a page has %d bytes", query, len(rows.Cells))
				}
				got = append(got, decode(rows)...)
				s.state = rows.PagingState
				pages++
			}
			if pages < 2 || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %d rows on %d pages, want %d", query, len(got), pages, len(want))
			}
			o = exec.Options{Turn: turn}
			r, err := s.execute(p, o)
			if err != nil {
				t.Fatal(query, err)
			}
			if rows := r.(*exec.Rows); rows.PagingState != nil || rows.Count != len(want) {
				t.Errorf("%s: %d rows without pages, want %d", query, rows.Count, len(want))
			}
		})
	}
}

// TestHeldMemory looks at what reads hold while they go on: what small ones hold is nothing.
func TestHeldMemory(t *testing.T) {
	s := withTable(t, "k int, c int, v text, n varint, e vector<float, 2>, PRIMARY KEY (k, c)")
	s.must("CREATE CUSTOM INDEX ON t (e) USING 'StorageAttachedIndex'")
	long := text(strings.Repeat("x", 10_000))
	for k := range 4 {
		for c := range 100 {
			s.bound(fmt.Sprintf("INSERT INTO t (k, c, v, e) VALUES (?, ?, ?, [1, %d])", c+1), integer(k), integer(c), long)
		}
	}
	s.bound("INSERT INTO t (k, c, v) VALUES (9, 1, ?)", text(strings.Repeat("x", 200_000)))
	for _, test := range []struct {
		query       string
		least, most int64
	}{
		{"SELECT * FROM t WHERE k = 1 AND c = 1", 0, 0},
		{"SELECT c FROM t", 0, 0},
		{"SELECT count(*), max(c) FROM t", 0, 0},
		{"SELECT * FROM t WHERE k IN (1, 2) ORDER BY c LIMIT 2", 500_000, 4_000_000}, // 68 rows at a time
		{"SELECT * FROM t WHERE k IN (0, 1, 2, 3) ORDER BY c", 4_000_000, 20_000_000},
		{"SELECT * FROM t ORDER BY e ANN OF [1, 1] LIMIT 3", 500_000, 2_000_000},
		{"SELECT * FROM t", 4_000_000, 12_000_000},
		{"SELECT * FROM t WHERE k = 1", 1_000_000, 3_000_000},
		{"SELECT JSON * FROM t WHERE k = 9", 1_600_000, 4_000_000}, // the cells and what makes them
		{"SELECT " + strings.Repeat("max(v), ", 20) + "min(v) FROM t", 4_000_000, 20_000_000},
	} {
		onTurn(t, 1<<30, 0, func(turn *pace.Turn) {
			if _, err := s.run(test.query, exec.Options{Turn: turn}); err != nil {
				t.Fatal(test.query, err)
			}
			if held := turn.Held(); held < test.least || held > test.most {
				t.Errorf("%s holds %d bytes, want from %d to %d", test.query, held, test.least, test.most)
			}
		})
	}
}

// TestTooMuchHeld refuses what would take more memory than a read may have.
func TestTooMuchHeld(t *testing.T) {
	exec.SetMaxHeld(t, 10_000_000)
	s := withTable(t, "k int, c int, v blob, PRIMARY KEY (k, c)")
	big := text(strings.Repeat("x", 50_000))
	for c := range 60 {
		s.bound("INSERT INTO t (k, c, v) VALUES (1, ?, ?)", integer(c), big)
	}
	want := "error 2200: The rows of one result or of what is sorted, and what functions return to one statement, may have up to " +
		"10000000 bytes in cqld, and these have more: " +
		"ask for pages or fewer rows\n"
	if got := s.bound("SELECT v, v, v, v, v FROM t"); got != want {
		t.Errorf("without pages: %.200s", got)
	}
	if got := s.bound("SELECT v, v, v, v, v FROM t WHERE k IN (1, 2) ORDER BY c"); got != want {
		t.Errorf("sorted: %.200s", got)
	}
}

// TestAggregatesGoOn counts longer than a read has time, as each page of what is counted has that much.
func TestAggregatesGoOn(t *testing.T) {
	s := withTable(t, "k int, c int, PRIMARY KEY (k, c)")
	for c := range 300 {
		s.bound("INSERT INTO t (k, c) VALUES (1, ?)", integer(c))
	}
	limit := time.Second
	onTurn(t, 1, limit, func(turn *pace.Turn) {
		begun := time.Now()
		for time.Since(begun) < limit+limit/5 { // pages of 10 rows: each of these begins long before its time is over
			r, err := s.run("SELECT count(*) FROM t", exec.Options{PageSize: 10, Turn: turn})
			if err != nil {
				t.Fatal(err)
			}
			if got := decode(r.(*exec.Rows))[0][0]; got != "300" {
				t.Fatal(got)
			}
		}
	})
}
