package exec_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/planner/exec"
)

// TestPagingStates compares paging states with those that Cassandra gave for the same rows.
func TestPagingStates(t *testing.T) {
	s := withTable(t, "k int, c int, d text, v int, w int, s int static, PRIMARY KEY (k, c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC")
	for k := 1; k <= 3; k++ {
		s.must(fmt.Sprintf("INSERT INTO t (k, c, d, v) VALUES (%d, 1, 'x', 1)", k))
		s.must(fmt.Sprintf("INSERT INTO t (k, c, d, v) VALUES (%d, 2, 'x', 1)", k))
	}
	s.must("INSERT INTO t (k, s) VALUES (4, 4)")
	s.must("INSERT INTO t (k, c, d) VALUES (5, 1, '')")
	for _, test := range []struct {
		statement string
		version   int
		page      int
		want      []string // rows and state of each page
	}{
		{"SELECT * FROM t", 3, 2, []string{
			"2 000400000001000f0004000000020000017800000176007ffffffd7ffffffe",
			"2 000400000002000f0004000000020000017800000176007ffffffb7ffffffe",
			"2 00040000000400007ffffff900000000", // Cassandra leaves the mark of an earlier row, which nobody looks at
			"2 000400000003000f0004000000010000017800000176007ffffff77ffffffd",
			"0 ",
		}},
		{"SELECT * FROM t", 4, 1, []string{
			"1 040000000506040400000001f07ffffffef07ffffffe",
			"1 0400000001080004000000020178f07ffffffdf07ffffffe",
			"1 0400000001080004000000010178f07ffffffcf07ffffffd",
			"1 0400000002080004000000020178f07ffffffbf07ffffffe",
			"1 0400000002080004000000010178f07ffffffaf07ffffffd",
			"1 040000000400f07ffffff900",
			"1 0400000003080004000000020178f07ffffff8f07ffffffe",
			"1 0400000003080004000000010178f07ffffff7f07ffffffd",
			"0 ",
		}},
		{"SELECT * FROM t WHERE k = 1", 3, 2, []string{"2 0000000f0004000000010000017800000176007ffffffd7ffffffd", "0 "}},
		{"SELECT * FROM t WHERE k = 1", 5, 2, []string{"2 00080004000000010178f07ffffffdf07ffffffd", "0 "}},
		{"SELECT * FROM t WHERE k IN (3, 1)", 5, 2, []string{
			"2 0400000001080004000000010178f07ffffffdf07ffffffd",
			"2 0400000003080004000000010178f07ffffffbf07ffffffd", "0 ",
		}},
		{"SELECT * FROM t LIMIT 3", 4, 2, []string{"2 040000000108000400000002017801f07ffffffe", "1 "}},
		{"SELECT * FROM t WHERE k IN (1, 2) PER PARTITION LIMIT 1", 4, 1, []string{"1 040000000200f07ffffffe01", "1 "}},
		{"SELECT DISTINCT k FROM t", 4, 4, []string{"4 040000000400f07ffffffb00", "1 "}},
		{"SELECT * FROM t WHERE k = 1 PER PARTITION LIMIT 1", 4, 1, []string{"1 "}},
		{"SELECT * FROM t WHERE k = 1 AND c = 1 AND d = 'x'", 4, 1, []string{"1 00080004000000010178f07ffffffef07ffffffe", "0 "}},
	} {
		s.version = test.version
		var got []string
		o := exec.Options{PageSize: test.page}
		for {
			r, err := s.run(test.statement, o)
			if err != nil {
				t.Fatal(test.statement, err)
			}
			rows := r.(*exec.Rows)
			got = append(got, fmt.Sprintf("%d %x", rows.Count, rows.PagingState))
			if o.PagingState = rows.PagingState; o.PagingState == nil {
				break
			}
		}
		if g, w := strings.Join(got, "\n"), strings.Join(test.want, "\n"); g != w {
			t.Errorf("%s, version %d, page %d\ngot:\n%s\nwant:\n%s", test.statement, test.version, test.page, g, w)
		}
	}
}

// TestForeignPagingStates gives states that are damaged, of the other form, or of another statement.
func TestForeignPagingStates(t *testing.T) {
	s := withTable(t, "k int, c int, PRIMARY KEY (k, c)")
	for i := range 5 {
		s.must(fmt.Sprintf("INSERT INTO t (k, c) VALUES (1, %d)", i))
	}
	const invalid = "error 000a: Invalid value for the paging state\n"
	for _, test := range []struct{ state, want string }{
		{"", invalid},
		{"00", invalid},
		{"abcd", invalid},
		{strings.Repeat("ff", 64), invalid},
		{"00060004" + "00000001" + "f07ffffffd" + "f07ffffffd", "2,3,4"},
		{"00060004" + "00000001" + "f07ffffffd" + "f07ffffffd" + "00", invalid},
		{"0000" + "0007" + "0004" + "00000002" + "00" + "7ffffffd" + "7ffffffd", "3,4"}, // v3 to a v4 connection
		{"04000000ff" + "00" + "f07ffffffd" + "00", "0,1,2,3,4"},                        // of a scan
		{"00" + "0400" + "026162" + "f07ffffffd" + "f07ffffffd", "0,1,2,3,4"},           // a mark of other columns
		{"00" + "060004" + "00000001" + "00" + "f07ffffffd", ""},                        // nothing is left of the LIMIT
	} {
		state, err := hex.DecodeString(test.state)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.run("SELECT c FROM t WHERE k = 1", exec.Options{PagingState: state})
		got := ""
		if err != nil {
			got = errorText(err)
		} else {
			var cells []string
			for _, row := range decode(r.(*exec.Rows)) {
				cells = append(cells, row[0])
			}
			got = strings.Join(cells, ",")
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.state, got, test.want)
		}
	}
}

// TestSmallPages reads every page size and expects the same rows each time.
func TestSmallPages(t *testing.T) {
	s := withTable(t, "k int, c int, s int static, PRIMARY KEY (k, c)")
	for i := range 60 {
		s.must(fmt.Sprintf("INSERT INTO t (k, c) VALUES (%d, %d)", i%7, i))
	}
	s.must("INSERT INTO t (k, s) VALUES (100, 1)")
	s.must("INSERT INTO t (k, s) VALUES (3, 1)")
	for _, q := range []string{
		"SELECT * FROM t", "SELECT * FROM t LIMIT 25", "SELECT * FROM t PER PARTITION LIMIT 3",
		"SELECT DISTINCT k, s FROM t", "SELECT * FROM t WHERE k IN (100, 3, 5) PER PARTITION LIMIT 4 LIMIT 7",
		"SELECT * FROM t WHERE k = 3 ORDER BY c DESC", "SELECT * FROM t WHERE c > 20 ALLOW FILTERING",
		"SELECT * FROM t WHERE token(k) > 0", "SELECT * FROM t WHERE k IN (3, 4) AND c IN (3, 10, 11, 17)",
	} {
		want := strings.ReplaceAll(s.text(q, 0), "-- page\n", "")
		for _, page := range []int{1, 2, 3, 7, 61, 1000} {
			if got := strings.ReplaceAll(s.text(q, page), "-- page\n", ""); got != want {
				t.Errorf("%s, pages of %d:\ngot:\n%swant:\n%s", q, page, got, want)
			}
		}
	}
}
