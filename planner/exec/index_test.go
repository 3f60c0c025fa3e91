package exec_test

import (
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
)

// Values of 65,535 bytes do not go into indexes of the first kind. Of maps that is said of keys, values or both
// together, and of deletions too.
func TestIndexedSizes(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, v text, s set<text>, m map<text, text>, e map<text, text>, f frozen<list<text>>")
	for _, target := range []string{"v", "s", "keys(m)", "entries(e)", "full(f)"} {
		s.must("CREATE INDEX ON t (" + target + ")")
	}
	long := func(n int) types.Value { return text(strings.Repeat("x", n)) }
	refused := func(size, column string) string {
		return "error 2200: Cannot index value of size " + size + " for index t_" + column + "_idx on ks.t(" + column +
			") (maximum allowed size=65535)\n"
	}
	for _, test := range []struct {
		statement string
		value     types.Value
		want      string
	}{
		{"INSERT INTO t (k, v) VALUES (1, ?)", long(65534), "ok\n"},
		{"INSERT INTO t (k, v) VALUES (1, ?)", long(65535), refused("65535", "v")},
		{"UPDATE t SET s = s + ? WHERE k = 1", list(long(65535)), refused("65535", "s")},
		{"UPDATE t SET m['a'] = ? WHERE k = 1", long(65535), "ok\n"},
		{"UPDATE t SET m[?] = 'a' WHERE k = 1", long(65535), refused("65535", "m")},
		{"DELETE m[?] FROM t WHERE k = 1", long(65535), refused("65535", "m")},
		{"UPDATE t SET e['a'] = ? WHERE k = 1", long(65527), "ok\n"},
		{"UPDATE t SET e['a'] = ? WHERE k = 1", long(65530), refused("65537", "e")},
		{"DELETE e[?] FROM t WHERE k = 1", long(65535), refused("65541", "e")},
		{"INSERT INTO t (k, f) VALUES (1, ?)", list(long(65527)), refused("65535", "f")},
		{"BEGIN BATCH INSERT INTO t (k, v) VALUES (2, ?); APPLY BATCH", long(65535), refused("65535", "v")},
		{"SELECT k FROM t WHERE v = ?", long(65535), ""},
		{"SELECT k FROM t WHERE v = ?", long(65536), "error 2200: Index expression values may not be larger than 64K\n"},
	} {
		if got := s.bound(test.statement, test.value); got != test.want {
			t.Errorf("%s with %d bytes: got %s, want %s", test.statement, len(test.value.Bytes), got, test.want)
		}
	}
}

// Text of more than 8 KiB is not in storage-attached indexes, and of 1 KiB not in SSTable-attached ones.
func TestIndexedTerms(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, a text, b text")
	s.must("CREATE INDEX ON t (a) USING 'sai'")
	s.must("CREATE CUSTOM INDEX ON t (b) USING 'org.apache.cassandra.index.sasi.SASIIndex'")
	for column, limit := range map[string]int{"a": 8192, "b": 1023} {
		for n, want := range map[int]string{limit: "1\n", limit + 1: ""} {
			value := text(strings.Repeat("y", n))
			s.bound("INSERT INTO t (k, "+column+") VALUES (1, ?)", value)
			if got := s.bound("SELECT k FROM t WHERE "+column+" = ?", value); got != want {
				t.Errorf("%s of %d bytes: got %q", column, n, got)
			}
		}
	}
}

// Rows come in the order of how near their vectors are. There are no pages, and one replica answers: clients are told
// so who ask for something else.
func TestNearest(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, v vector<float, 2>, e vector<float, 2>")
	s.must("CREATE INDEX ON t (v) USING 'sai'")
	s.must("CREATE INDEX ON t (e) USING 'sai' WITH OPTIONS = {'similarity_function': 'euclidean'}")
	for _, values := range []string{
		"1, [1, 0], [1, 0]", "2, [0, 1], [0, 1]", "3, [1, 1], [9, 0]", "4, [-1, 0.1], [3, 0]", "5, [2, 0.1], [2, 0]",
	} {
		s.must("INSERT INTO t (k, v, e) VALUES (" + values + ")")
	}
	s.must("INSERT INTO t (k) VALUES (6)")
	for statement, want := range map[string]string{
		"SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 4":    "k\n1\n5\n3\n2\n",
		"SELECT k FROM t ORDER BY e ANN OF [1, 0] LIMIT 9":    "k\n1\n5\n2\n4\n3\n",
		"SELECT k FROM t ORDER BY v ANN OF [0, 0] LIMIT 1":    "error 2200: A vector of zeros cannot be indexed or compared by cosine similarity\n",
		"SELECT k FROM t ORDER BY v ANN OF [NaN, 0] LIMIT 1":  "error 2200: A vector with NaN at [0] cannot be indexed or compared: its numbers must be finite and at most 1.0E17\n",
		"INSERT INTO t (k, v) VALUES (7, [1, -Infinity])":     "error 2200: A vector with -Infinity at [1] cannot be indexed or compared: its numbers must be finite and at most 1.0E17\n",
		"INSERT INTO t (k, v) VALUES (7, [1.00001e17, 1])":    "error 2200: A vector with 1.00001003E17 at [0] cannot be indexed or compared: its numbers must be finite and at most 1.0E17\n",
		"INSERT INTO t (k, v) VALUES (7, [0, -0.0])":          "error 2200: A vector of zeros cannot be indexed or compared by cosine similarity\n",
		"SELECT k FROM t ORDER BY e ANN OF [0, 0] LIMIT 1":    "k\n1\n",
		"SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 1001": "error 2200: Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than 1000. LIMIT was 1001\n",
	} {
		if got := s.text(statement, 0); got != want {
			t.Errorf("%s: got %s, want %s", statement, got, want)
		}
	}
	r, err := s.run("SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 3", exec.Options{PageSize: 2, Consistency: cqlerr.LocalQuorum})
	if err != nil {
		t.Fatal(err)
	}
	rows := r.(*exec.Rows)
	if rows.Count != 3 || rows.PagingState != nil || len(rows.Warnings) != 2 ||
		!strings.Contains(rows.Warnings[0], "LOCAL_QUORUM was requested. Downgrading the consistency level to LOCAL_ONE.") ||
		!strings.Contains(rows.Warnings[1], "the page size is set to 2, which is less than LIMIT 3.") {
		t.Errorf("%d rows, warnings %q", rows.Count, rows.Warnings)
	}
}
