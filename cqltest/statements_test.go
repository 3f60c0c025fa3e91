package cqltest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
)

// failures is a test that fails without ending the one that it is in.
type failures struct {
	testing.TB
	all []string
}

func (f *failures) Helper() {}

func (f *failures) Errorf(text string, a ...any) { f.all = append(f.all, fmt.Sprintf(text, a...)) }

// Fatalf ends the function by a panic, which the test recovers from.
func (f *failures) Fatalf(text string, a ...any) {
	f.Errorf(text, a...)
	panic(f)
}

// TestAssertions wants the assertions to name each statement that is wrong, once.
func TestAssertions(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithStatements())
	keyspace := s.Keyspace(t)
	s.Exec(t, "CREATE TABLE "+keyspace+".t (k int PRIMARY KEY, v int)")
	c := dial(t, s, client.Options{})
	twice := func(text string) {
		t.Helper()
		p, err := c.Prepare(t.Context(), text, "")
		for range 2 {
			if err == nil {
				_, err = c.Execute(t.Context(), p, nil, nil)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	twice("SELECT v FROM " + keyspace + ".t WHERE k = 1")
	s.AssertNoFullScan(t)
	s.AssertPrepared(t)
	twice("SELECT v FROM " + keyspace + ".t")
	s.Exec(t, "SELECT * FROM t_assertions_1.t") // is not recorded
	if _, err := c.Query(t.Context(), "INSERT INTO t_assertions_1.t (k) VALUES (1)", nil, nil); err != nil {
		t.Fatal(err)
	}
	var scans, texts failures
	scans.TB, texts.TB = t, t
	s.AssertNoFullScan(&scans)
	s.AssertPrepared(&texts)
	if want := "reads all partitions (2 times): SELECT v FROM t_assertions_1.t"; strings.Join(scans.all, "\n") != want {
		t.Errorf("AssertNoFullScan says %q, want %q", scans.all, want)
	}
	if want := "is not prepared (1 times): INSERT INTO t_assertions_1.t (k) VALUES (1)"; strings.Join(texts.all, "\n") != want {
		t.Errorf("AssertPrepared says %q, want %q", texts.all, want)
	}
}

// A statement that reads one row is not shown with "1 rows".
func TestOneRowRead(t *testing.T) {
	s := cqltest.Statement{Opcode: "QUERY", Text: "SELECT 1", RowsRead: 1, Returned: 1}
	if got, want := s.String(), "QUERY SELECT 1: 1 row read, 1 returned"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
