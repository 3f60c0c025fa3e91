package exec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// TestLongAnswers reads results of several megabytes, which come in parts: they are what pages of them are together.
func TestLongAnswers(t *testing.T) {
	s := withTable(t, "k int, c int, v text, e vector<float, 2>, PRIMARY KEY (k, c)")
	s.must("CREATE CUSTOM INDEX ON t (e) USING 'StorageAttachedIndex'")
	lengths := []int{10, 300_000, 700_000, 950_000, 0, 1_000_000, 5_000, 524_288}
	for k := range 2 {
		for c, n := range lengths {
			s.bound(fmt.Sprintf("INSERT INTO t (k, c, v, e) VALUES (?, ?, ?, [1, %d])", c+1), integer(k), integer(c),
				text(strings.Repeat("y", n)))
		}
	}
	for _, query := range []string{
		"SELECT * FROM t", "SELECT v, v, c FROM t WHERE k = 0", "SELECT JSON * FROM t", "SELECT v FROM t WHERE k = 1 ORDER BY c DESC",
		"SELECT * FROM t WHERE k IN (0, 1) ORDER BY c", "SELECT c, v, v FROM t WHERE k IN (0, 1) ORDER BY c DESC LIMIT 9",
		"SELECT k, max(v), v FROM t GROUP BY k, c", "SELECT v, v, c FROM t ORDER BY e ANN OF [1, 1] LIMIT 16",
	} {
		want, _ := s.pagesOf(t, query, 0, nil)
		p, err := s.prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		onTurn(t, 1<<30, 0, func(turn *pace.Turn) {
			r, err := s.execute(p, exec.Options{Turn: turn})
			if err != nil {
				t.Fatal(query, err)
			}
			rows := r.(*exec.Rows)
			size := len(rows.Cells)
			for _, part := range rows.Before {
				size += len(part)
			}
			if len(rows.Before) < 2 || size < 3<<20 {
				t.Errorf("%s: %d bytes in %d parts", query, size, len(rows.Before))
			}
			if got := decode(rows); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s: %d rows, want %d, or others", query, len(got), len(want))
			}
		})
	}
	for _, query := range []string{"SELECT * FROM t", "SELECT JSON * FROM t WHERE k = 1"} {
		want, _ := s.pagesOf(t, query, 0, nil)
		if got, _ := s.pagesOf(t, query, 3, nil); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: pages have %d rows, want %d, or others", query, len(got), len(want))
		}
	}
}
