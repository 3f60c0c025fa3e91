package exec_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// onTurn runs something on a turn of its own that has so much time, in a room of so many bytes.
func onTurn(t testing.TB, room int64, limit time.Duration, fn func(*pace.Turn)) {
	t.Helper()
	s := pace.NewScheduler(pace.Options{
		Running: 1, Started: 1, PerParty: 1, Slice: time.Millisecond, Room: pace.NewRoom(room),
	})
	var turn pace.Turn
	var p pace.Party
	var deadline time.Time
	if limit > 0 {
		deadline = time.Now().Add(limit)
	}
	if err := turn.Begin(t.Context(), s, &p, deadline); err != nil {
		t.Fatal(err)
	}
	fn(&turn)
	turn.End()
	if used := s.Room.Used(); used != 0 {
		t.Errorf("%d bytes are held by nobody", used)
	}
}

// numbers are n of them in parentheses, from the greatest to the least.
func numbers(n int) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strconv.Itoa(n - 1 - i)
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// pagesOf has the rows of all pages.
func (s *session) pagesOf(t testing.TB, query string, page int, turn *pace.Turn) (rows [][]string, pages int) {
	t.Helper()
	p, err := s.prepare(query)
	if err != nil {
		t.Fatal(query, err)
	}
	o := exec.Options{PageSize: page, Turn: turn}
	for {
		r, err := s.execute(p, o)
		if err != nil {
			t.Fatal(query, err)
		}
		got := r.(*exec.Rows)
		rows = append(rows, decode(got)...)
		pages++
		turn.Drop()
		if s.state = got.PagingState; s.state == nil {
			return rows, pages
		}
	}
}

// TestLargeProducts reads what many combinations of values name: the same rows in the same order as by comparing all
// rows.
func TestLargeProducts(t *testing.T) {
	s := withTable(t, "k int, a int, b int, c int, s int static, PRIMARY KEY (k, a, b, c)) WITH CLUSTERING ORDER BY (a ASC, b DESC, c ASC")
	s.must("CREATE TABLE p (a int, b int, c int, v int, PRIMARY KEY ((a, b), c))")
	for i := range 150 {
		s.must(fmt.Sprintf("INSERT INTO t (k, a, b, c) VALUES (%d, %d, %d, %d)", i%3, i*7%23, i*5%31, i%11))
		s.must(fmt.Sprintf("INSERT INTO p (a, b, c, v) VALUES (%d, %d, %d, 1)", i*7%90, i*5%90, i%4))
	}
	s.must("INSERT INTO t (k, s) VALUES (1, 1)")
	n20, n80 := numbers(20), numbers(80)
	for _, test := range []struct{ query, same string }{
		{
			"SELECT * FROM t WHERE k = 1 AND a IN " + n20 + " AND b IN " + n20 + " AND c IN " + n20,
			"SELECT * FROM t WHERE k = 1 AND a < 20 AND b < 20 AND c < 20 ALLOW FILTERING",
		},
		{
			"SELECT * FROM t WHERE k IN (1, 2) AND a IN " + n20 + " AND b IN " + n20 + " AND c IN " + n20 + " LIMIT 9",
			"SELECT * FROM t WHERE k IN (1, 2) AND a < 20 AND b < 20 AND c < 20 LIMIT 9 ALLOW FILTERING",
		},
		{
			"SELECT * FROM t WHERE k = 1 AND a IN " + n80 + " AND b IN " + n80 + " AND c > 2 ORDER BY a DESC, b ASC, c DESC",
			"SELECT * FROM t WHERE k = 1 AND c > 2 ORDER BY a DESC, b ASC, c DESC ALLOW FILTERING",
		},
		{
			"SELECT * FROM t WHERE a IN " + n80 + " AND b IN " + n80 + " PER PARTITION LIMIT 4 ALLOW FILTERING",
			"SELECT * FROM t PER PARTITION LIMIT 4",
		},
		{"SELECT count(*) FROM t WHERE k = 1 AND a IN " + n80 + " AND b IN " + n80, "SELECT count(*) FROM t WHERE k = 1 AND a >= 0"},
	} {
		want, _ := s.pagesOf(t, test.same, 0, nil)
		for _, page := range []int{0, 1, 7, 1000} {
			if got, _ := s.pagesOf(t, test.query, page, nil); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, pages of %d:\ngot:  %v\nwant: %v", test.query, page, got, want)
			}
		}
	}

	// Partitions come in the order of their values, which no scan has.
	all, _ := s.pagesOf(t, "SELECT a, b, c FROM p", 0, nil)
	var want []string
	for _, row := range all {
		a, b := number(t, row[0]), number(t, row[1])
		if a < 80 && b < 80 {
			want = append(want, fmt.Sprintf("%02d %02d %s", a, b, row[2]))
		}
	}
	slices.Sort(want)
	for _, page := range []int{0, 1, 7, 1000} {
		rows, _ := s.pagesOf(t, "SELECT a, b, c FROM p WHERE a IN "+n80+" AND b IN "+n80, page, nil)
		var got []string
		for _, row := range rows {
			got = append(got, fmt.Sprintf("%02d %02d %s", number(t, row[0]), number(t, row[1]), row[2]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("partitions, pages of %d:\ngot:  %v\nwant: %v", page, got, want)
		}
	}
	some, _ := s.pagesOf(t, "SELECT a, b, c FROM p WHERE token(a, b) > 0 AND a IN "+n80+" AND b IN "+n80, 3, nil)
	rest, _ := s.pagesOf(t, "SELECT a, b, c FROM p WHERE token(a, b) <= 0 AND a IN "+n80+" AND b IN "+n80, 3, nil)
	if len(some) == 0 || len(rest) == 0 || len(some)+len(rest) != len(want) {
		t.Errorf("%d rows above a token and %d below, want %d in all", len(some), len(rest), len(want))
	}
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// allocated is how many bytes are allocated while something runs.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestProductsTakeNoMemory reads and writes what 27 million combinations name: a read ends with its time, a write is
// refused.
func TestProductsTakeNoMemory(t *testing.T) {
	s := withTable(t, "k int, a int, b int, c int, v int, PRIMARY KEY (k, a, b, c)")
	s.must("CREATE TABLE p (a int, b int, c int, v int, PRIMARY KEY ((a, b, c)))")
	var values []types.Value
	for range 3 {
		var elements []types.Value
		for i := range 300 {
			elements = append(elements, integer(i))
		}
		values = append(values, list(elements...))
	}
	const where = " WHERE a IN ? AND b IN ? AND c IN ?"
	for _, statement := range []string{"SELECT * FROM t" + where + " AND k = 1", "SELECT * FROM p" + where} {
		p, err := s.prepare(statement)
		if err != nil {
			t.Fatal(err)
		}
		onTurn(t, 1<<20, 20*time.Millisecond, func(turn *pace.Turn) {
			bytes := allocated(func() { _, err = s.execute(p, exec.Options{Turn: turn}, values...) })
			if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.ReadTimeout {
				t.Errorf("%s: %v, want a timeout", statement, err)
			}
			if bytes > 100<<20 {
				t.Errorf("%s: %d bytes were allocated", statement, bytes)
			}
		})
	}
	tooMany := "error 2200: One write of cqld changes up to "
	for _, statement := range []string{
		"DELETE FROM t" + where + " AND k = 1", "UPDATE t SET v = 1" + where + " AND k = 1",
		"DELETE FROM p" + where, "UPDATE p SET v = 1" + where,
	} {
		bytes := allocated(func() {
			if got := s.bound(statement, values...); !strings.HasPrefix(got, tooMany) {
				t.Errorf("%s: %s", statement, got)
			}
		})
		if bytes > 20<<20 {
			t.Errorf("%s: %d bytes were allocated", statement, bytes)
		}
	}

	// The statements of a batch are one write.
	s.must("CREATE TABLE q (k int, a int, b int, PRIMARY KEY (k, a, b))")
	batch := "BEGIN UNLOGGED BATCH " + strings.Repeat("DELETE FROM q WHERE k = 1 AND a IN "+numbers(80)+" AND b IN "+numbers(80)+"; ", 40) + "APPLY BATCH"
	if got := s.text(batch, 0); !strings.HasPrefix(got, tooMany) {
		t.Errorf("batch: %s", got)
	}
	if got := s.bound("DELETE FROM q WHERE k = 1 AND a IN " + numbers(80) + " AND b IN " + numbers(80)); got != "ok\n" {
		t.Errorf("6400 rows: %s", got)
	}
}

// TestTurnsEnd gives reads turns whose time is over.
func TestTurnsEnd(t *testing.T) {
	s := withTable(t, "k int, c int, PRIMARY KEY (k, c)")
	for c := range 3000 {
		s.bound("INSERT INTO t (k, c) VALUES (1, ?)", integer(c))
	}
	read := func(query string, late bool) (err error) {
		onTurn(t, 1<<20, time.Minute, func(turn *pace.Turn) {
			if late {
				turn.Extend(time.Now())
				for turn.Step() == nil {
					time.Sleep(time.Millisecond)
				}
			}
			_, err = s.run(query, exec.Options{Turn: turn})
		})
		return err
	}
	for _, query := range []string{"SELECT * FROM t", "SELECT count(*) FROM t", "SELECT * FROM t WHERE k IN (1, 2) ORDER BY c DESC"} {
		err := read(query, true)
		if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.ReadTimeout || e.Message != "Operation timed out - received only 0 responses." ||
			e.Detail != (cqlerr.TimeoutDetail{Consistency: cqlerr.One, BlockFor: 1}) {
			t.Errorf("%s: %v, want a timeout", query, err)
		}
		if err := read(query, false); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	if err := read("SELECT nope FROM t", false); errors.Is(err, pace.ErrTimeout) || err == nil {
		t.Error(err)
	}
}
