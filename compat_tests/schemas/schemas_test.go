package schemas

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
)

var (
	addr   = flag.String("addr", "", "ask the Cassandra at this address instead of cqld")
	record = flag.Bool("record", false, "write what the Cassandra at -addr answers into the files")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}

// TestSchemas makes every schema on cqld, compares its description, and feeds that to another cqld.
func TestSchemas(t *testing.T) {
	if *addr != "" {
		t.Skip("-addr asks a Cassandra")
	}
	first, second := cqltest.RunT(t, functions.Enable()).Addr(), cqltest.RunT(t, functions.Enable()).Addr()
	for _, f := range readFiles(t) {
		for _, s := range f.schemas {
			t.Run(f.path+"/"+s.name, func(t *testing.T) {
				n := connect(t, first)
				err := n.make(s)
				if s.pending != "" {
					checkPending(t, s, err)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := differences(n.described(s), s.described); diff != "" {
					t.Fatal(diff)
				}
				if s.canBeFed() {
					feedBack(t, n, connect(t, second), s)
				}
			})
		}
	}
}

// checkPending wants a schema that cqld cannot make to be refused for the reason that its file gives.
func checkPending(t *testing.T, s *schema, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("cqld makes it: the line pending has to go")
	}
	e, _ := cqlerr.As(err)
	if e == nil || !strings.Contains(e.Message, s.pending+" is not supported by cqld yet") {
		t.Errorf("pending is %s, and it is refused with %v", s.pending, err)
	}
}

// feedBack gives the description of the schema by from to another node, which must describe it the same way.
func feedBack(t *testing.T, from, to *node, s *schema) {
	t.Helper()
	text, rows := from.described(s), from.definitions(s)
	if err := to.feed(text); err != nil {
		t.Fatal(err)
	}
	if diff := differences(to.described(s), text); diff != "" {
		t.Error("fed back: ", diff)
	}
	if !s.internals {
		rows = withoutDropped(rows)
	}
	if diff := differences(to.definitions(s), rows); diff != "" {
		t.Error("rows of the replayed output: ", diff)
	}
}

// withoutDropped leaves out columns that were dropped, of which DESCRIBE tells only WITH INTERNALS.
func withoutDropped(rows string) (kept string) {
	for line := range strings.Lines(rows) {
		if !strings.HasPrefix(line, "dropped_columns ") {
			kept += line
		}
	}
	return kept
}

// TestCassandra makes every schema on a Cassandra, compares or records the description, compares the definition tables
// with cqld's, and feeds the description back.
func TestCassandra(t *testing.T) {
	if *addr == "" {
		t.Skip("needs -addr of a Cassandra")
	}
	release := ""
	if *record {
		var err error
		if release, err = script.CassandraRelease(t.Context(), *addr); err != nil {
			t.Fatalf("-record wants -addr of a real Cassandra: %v", err)
		}
	}
	own := cqltest.RunT(t, functions.Enable()).Addr()
	for _, f := range readFiles(t) {
		t.Run(f.path, func(t *testing.T) {
			for _, s := range f.schemas {
				t.Run(s.name, func(t *testing.T) { askCassandra(t, connect(t, own), s) })
			}
			if *record && !t.Failed() {
				if err := f.write(release); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func askCassandra(t *testing.T, own *node, s *schema) {
	cassandra, other := connect(t, *addr), connect(t, *addr)
	if r, err := other.run("DESCRIBE ONLY KEYSPACE " + s.name); err == nil {
		t.Fatalf("the server has it already: %s", r.Rows[0][3])
	}
	defer other.drop(s)
	if err := cassandra.make(s); err != nil {
		t.Fatal(err)
	}
	described := cassandra.described(s)
	if *record {
		s.described = described
	} else if diff := differences(described, s.described); diff != "" {
		t.Fatal(diff)
	}
	if s.pending == "" {
		if err := own.make(s); err != nil {
			t.Error(err)
		} else if diff := differences(own.definitions(s), cassandra.definitions(s)); diff != "" {
			t.Error("rows: ", diff)
		}
	}
	if !s.canBeFed() {
		return
	}
	other.drop(s)
	if err := other.feed(described); err != nil {
		t.Error(err)
	} else if diff := differences(other.described(s), described); diff != "" {
		t.Error("fed back: ", diff)
	}
}
