package script_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/cqltest"
)

// bothAnswers is a script of a difference: only its second block has another answer of cqld's.
const bothAnswers = `# What differs.
# recorded from: Cassandra 5.0.8

exec
CREATE TABLE t (k int PRIMARY KEY, v int);
INSERT INTO t (k, v) VALUES (1, 1);
----
ok

query
SELECT v FROM t;
----
v int
2
---- cqld
v int
1

query
SELECT k FROM t;
----
k int
1
`

// TestParseOurs reads and prints both answers.
func TestParseOurs(t *testing.T) {
	s := parse(t, bothAnswers)
	if got := s.String(); got != bothAnswers {
		t.Errorf("printed as\n%s", got)
	}
	b := s.Blocks[1]
	cassandras, ours := []string{"v int", "2"}, []string{"v int", "1"}
	if !s.Differs() || !reflect.DeepEqual(b.Expected, cassandras) || !reflect.DeepEqual(b.Ours, ours) {
		t.Errorf("%q, ours %q", b.Expected, b.Ours)
	}
	if s := parse(t, unrecorded); s.Differs() {
		t.Error("a script without ours differs")
	}
	if _, err := script.Parse("query\nSELECT k FROM t;\n----\nk int\n---- cqld\n"); err == nil {
		t.Error("an empty answer of ours is taken")
	}
}

// TestExpectOurs runs a script of a difference against cqld as either server.
func TestExpectOurs(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	compare := func(s *script.Script) []script.Difference {
		t.Helper()
		differences, err := s.Compare(t.Context(), addr, "both_answers", testModes[0])
		if err != nil {
			t.Fatal(err)
		}
		return differences
	}
	s := parse(t, bothAnswers)
	if got := lines(compare(s)); !reflect.DeepEqual(got, []int{10}) {
		t.Errorf("as Cassandra, lines %v differ, want 10", got)
	}
	s.ExpectOurs()
	if got := compare(s); len(got) > 0 {
		t.Errorf("as cqld: %v", got)
	}
	gone := parse(t, strings.Replace(bothAnswers, "2\n---- cqld\nv int\n1", "1\n---- cqld\nv int\n2", 1))
	gone.ExpectOurs()
	if got := compare(gone); len(got) != 1 || !strings.Contains(got[0].String(), "the difference is gone") {
		t.Errorf("Cassandra's answer from cqld is reported as %v", got)
	}
	other := parse(t, strings.Replace(bothAnswers, "---- cqld\nv int\n1", "---- cqld\nv int\n3", 1))
	other.ExpectOurs()
	if got := compare(other); len(got) != 1 || strings.Contains(got[0].String(), "gone") {
		t.Errorf("a third answer is reported as %v", got)
	}
}

// TestRecordOurs records cqld's half, which stays empty where it is Cassandra's.
func TestRecordOurs(t *testing.T) {
	text := strings.Replace(bothAnswers, "---- cqld\nv int\n1", "---- cqld\nv int\n3", 1)
	s := parse(t, strings.Replace(text, "k int\n1\n", "k int\n1\n---- cqld\nk int\n4\n", 1))
	s.ExpectOurs()
	differences, err := s.Record(t.Context(), cqltest.RunT(t).Addr(), "recorded_ours", testModes[0], testModes[1])
	if err != nil || len(differences) > 0 {
		t.Fatal(differences, err)
	}
	if got := s.String(); got != bothAnswers {
		t.Errorf("recorded\n%s", got)
	}
}
