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
			if s.state = rows.PagingState; s.state == nil {
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
	s.must("INSERT INTO t (k, c) VALUES (2, 0)")
	const invalid = "error 000a: Invalid value for the paging state\n"
	const foreign = "error 2200: Invalid value for the paging state\n" // where Cassandra fails, times out or answers by chance
	const query, rest = "SELECT c FROM t WHERE k = 1", "00060004" + "00000001" + "f07ffffffd" + "f07ffffffd"
	for _, test := range []struct {
		query string
		page  int
		state string
		want  string
	}{
		{query, 10, "", invalid},
		{query, 10, "00", invalid},
		{query, 10, "abcd", invalid},
		{query, 10, strings.Repeat("ff", 64), invalid},
		{query, 10, rest, "2,3,4"},
		{query, 10, rest + "00", invalid},
		{query, 10, "0000" + "0007" + "0004" + "00000002" + "00" + "7ffffffd" + "7ffffffd", "3,4"}, // v3 to a v4 connection
		{query, 10, "04000000ff" + "00" + "f07ffffffd" + "00", ""},                                 // of a scan
		{query, 10, "0400000001" + "00" + "f07ffffffd" + "00", ""},
		{query, 10, "0400000001" + "00" + "f07ffffffd" + "03", "0,1,2,3,4"},
		{query, 10, "0400000001" + "00" + "03" + "f07ffffffd", "0,1,2"},
		{query, 10, "0400000002" + rest[2:], "2,3,4"},
		{query, 10, "00" + "0400" + "026162" + "f07ffffffd" + "f07ffffffd", foreign}, // a mark of other columns
		{query, 10, "00" + "0400" + "026162" + "f07ffffffd" + "00", ""},              // that is not looked at
		{query, 10, "00" + "060004" + "00000001" + "00" + "f07ffffffd", ""},          // nothing is left of the LIMIT
		// Where everything fits on one page the state is not looked at.
		{query, 0, rest, "0,1,2,3,4"},
		{query, -1, rest, "0,1,2,3,4"},
		{query + " LIMIT 2", 2, rest, "0,1"},
		{query + " LIMIT 2", 10, rest, "0,1"},
		{query + " LIMIT 4", 2, rest, "2,3"},
		{query, 0x7fffffff, rest, "0,1,2,3,4"},
		{query, 0x7ffffffe, rest, "2,3,4"},
		{query + " PER PARTITION LIMIT 3", 10, rest[:len(rest)-10] + "02", "2,3"},
		// Aggregates look at it always.
		{"SELECT count(*) FROM t WHERE k = 1", 2, rest, "3"},
		{"SELECT count(*) FROM t WHERE k = 1", 0, rest, "3"},
		{"SELECT count(*) FROM t WHERE k = 1", 2, "00", invalid},
		// Several partitions go on in the one that the state names.
		{"SELECT c FROM t WHERE k IN (1, 2)", 10, rest, ""},
		{"SELECT c FROM t WHERE k IN (1, 2)", 10, "0400000001" + rest[2:], "2,3,4,0"},
		{"SELECT c FROM t WHERE k IN (1, 2)", 10, "0400000001" + rest[2:len(rest)-10] + "01", "2,0"},
		{"SELECT c FROM t WHERE k IN (1, 2)", 10, "0400000001" + rest[2:len(rest)-10] + "00", "0"},
		{"SELECT c FROM t WHERE k IN (1)", 10, rest, "2,3,4"}, // which are not several
		// Scans go on behind a partition, which must be one that the table can have.
		{"SELECT c FROM t", 10, "0400000001" + rest[2:], "2,3,4,0"},
		{"SELECT c FROM t", 10, rest, foreign},
		{"SELECT c FROM t", 10, "00" + "00" + "f07ffffffd" + "00", foreign},
		{"SELECT c FROM t", 10, "03000001" + "00" + "f07ffffffd" + "00", foreign},
		{"SELECT c FROM t", 10, "050000000001" + rest[2:], foreign},
		{"SELECT c FROM t", 10, "0400000001" + "06" + "ff" + "7fffffffff" + "f07ffffffd" + "03", foreign},
		{"SELECT c FROM t", 10, "0400000001" + "050003616263" + "f07ffffffd" + "03", foreign},
		{"SELECT c FROM t", 10, "0400000001" + "0100" + "f07ffffffd" + "03", foreign},
		{"SELECT c FROM t", 10, "0400000001" + rest[2:len(rest)-10] + "f0ffffffff", invalid},
		{"SELECT c FROM t", 10, "00040000000100000000000" + "0fffffffe", invalid},
		{"SELECT count(*) FROM t", 10, "03000001" + "00" + "f07ffffffd" + "00", foreign},
		{"SELECT DISTINCT k FROM t", 10, "03000001" + "00" + "f07ffffffd" + "00", foreign},
		{"SELECT c FROM t WHERE token(k) > 0", 10, "03000001" + "00" + "f07ffffffd" + "00", foreign},
	} {
		state, err := hex.DecodeString(test.state)
		if err != nil {
			t.Fatal(err)
		}
		s.state = state
		r, err := s.run(test.query, exec.Options{PageSize: test.page})
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
			t.Errorf("%s with %s, page %d: got %q, want %q", test.query, test.state, test.page, got, test.want)
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

// TestPagingStatesWithoutClustering has the states for tables whose partitions are one row: v3 names its last
// column that has a value.
func TestPagingStatesWithoutClustering(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, b int, a int")
	s.must("INSERT INTO t (k) VALUES (1)")
	s.must("INSERT INTO t (k, a) VALUES (2, 1)")
	s.must("INSERT INTO t (k, b, a) VALUES (4, 1, 1)")
	s.must("INSERT INTO t (k, b, a) VALUES (5, null, 1)")
	want := map[int][]string{
		3: {
			"0004000000050004000161007ffffffe00000000", "00040000000100030000007ffffffd00000000",
			"0004000000020004000161007ffffffc00000000", "0004000000040004000162007ffffffb00000000", "",
		},
		4: {
			"040000000500f07ffffffe00", "040000000100f07ffffffd00", "040000000200f07ffffffc00", "040000000400f07ffffffb00", "",
		},
	}
	for version, states := range want {
		s.version = version
		o := exec.Options{PageSize: 1}
		for i, state := range states {
			r, err := s.run("SELECT k FROM t", o)
			if err != nil {
				t.Fatal(err)
			}
			if s.state = r.(*exec.Rows).PagingState; fmt.Sprintf("%x", s.state) != state {
				t.Errorf("v%d page %d: got %x, want %s", version, i, s.state, state)
			}
		}
	}
}

// TestLargePages reads rows of a million bytes each: a page ends before it has as many as were asked for, and the next
// one goes on behind it. Without pages all rows come together.
func TestLargePages(t *testing.T) {
	s := withTable(t, "k int, c int, v blob, PRIMARY KEY (k, c)")
	for c := range 60 {
		s.bound("INSERT INTO t (k, c, v) VALUES (1, ?, ?)", integer(c), text(strings.Repeat("v", 1_000_000)))
	}
	for size, want := range map[int]string{1000: "17 17 17 9", 10: "10 10 10 10 10 10 0", 0: "60"} {
		var got []string
		o := exec.Options{PageSize: size}
		for more := true; more; more = s.state != nil {
			r, err := s.run("SELECT * FROM t WHERE k = 1", o)
			if err != nil {
				t.Fatal(err)
			}
			rows := r.(*exec.Rows)
			got = append(got, fmt.Sprint(rows.Count))
			s.state = rows.PagingState
		}
		if pages := strings.Join(got, " "); pages != want {
			t.Errorf("pages of %d have %s rows instead of %s", size, pages, want)
		}
	}
}
