package exec_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
)

// forger gives paging states that no server made to reads of all kinds.
type forger struct {
	*session
	statements []string
	plans      []*planner.Prepared
	states     []foundState
}

// foundState is a state that a statement answered.
type foundState struct {
	state     []byte
	statement int
	version   int
}

// newForger makes tables with keys of many kinds, and reads all pages of them.
func newForger(t testing.TB) *forger {
	s := withTable(t, "k int, j text, c text, d frozen<set<int>>, s int static, v int, PRIMARY KEY ((k, j), c, d)) "+
		"WITH CLUSTERING ORDER BY (c DESC, d ASC")
	s.must("CREATE TABLE one (k text PRIMARY KEY, v int)")
	s.must("CREATE TABLE times (k int, c timeuuid, e frozen<tuple<int, text>>, f decimal, PRIMARY KEY (k, c, e, f))")
	s.must("CREATE TABLE dense (k int, c text, d int, v int, PRIMARY KEY (k, c, d)) WITH COMPACT STORAGE")
	s.must("CREATE TABLE bare (k int, c text, v int, PRIMARY KEY (k, c)) WITH COMPACT STORAGE")
	s.must("CREATE TABLE base (k int PRIMARY KEY, c text)")
	s.must("CREATE MATERIALIZED VIEW byc AS SELECT c, k FROM base WHERE c IS NOT NULL AND k IS NOT NULL PRIMARY KEY (c, k)")
	for i := range 4 {
		s.must(fmt.Sprintf("INSERT INTO t (k, j, c, d, s, v) VALUES (%d, 'j', 'c%d', {%d, 7}, 1, 1)", i/2, i, i))
		s.must(fmt.Sprintf("INSERT INTO one (k, v) VALUES ('k%d', %d)", i, i))
		s.must(fmt.Sprintf("INSERT INTO times (k, c, e, f) VALUES (%d, now(), (%d, 'e'), %d.0)", i/2, i, i))
		s.must(fmt.Sprintf("INSERT INTO dense (k, c, d, v) VALUES (%d, 'c', %d, 1)", i/2, i))
		s.must(fmt.Sprintf("INSERT INTO bare (k, c, v) VALUES (%d, 'c%d', 1)", i/2, i))
		s.must(fmt.Sprintf("INSERT INTO base (k, c) VALUES (%d, 'c%d')", i/2, i))
	}
	s.must("INSERT INTO base (k, c) VALUES (5, '')")
	f := &forger{session: s, statements: []string{
		"SELECT * FROM t", "SELECT * FROM t WHERE k = 1 AND j = 'j'", "SELECT * FROM t WHERE k IN (0, 1) AND j = 'j'",
		"SELECT * FROM t WHERE k = 1 AND j = 'j' ORDER BY c ASC, d DESC", "SELECT DISTINCT k, j FROM t", "SELECT count(*) FROM t",
		"SELECT * FROM t WHERE v = 1 ALLOW FILTERING", "SELECT * FROM t WHERE token(k, j) > 0", "SELECT * FROM t PER PARTITION LIMIT 1",
		"SELECT * FROM one", "SELECT * FROM one WHERE k IN ('k1', 'k2')", "SELECT * FROM times", "SELECT * FROM times WHERE k = 1",
		"SELECT * FROM dense", "SELECT * FROM dense WHERE k = 1", "SELECT * FROM bare", "SELECT * FROM byc",
		"SELECT * FROM byc WHERE c = 'c1'", "SELECT keyspace_name FROM system_schema.tables WHERE keyspace_name = 'ks'", "DESCRIBE TABLES",
	}}
	for i, statement := range f.statements {
		p, err := s.prepare(statement)
		if err != nil {
			t.Fatal(statement, err)
		}
		f.plans = append(f.plans, p)
		for _, version := range []int{3, 4} {
			for state := []byte(nil); ; {
				state, err = f.page(i, version, 1, state)
				if err != nil {
					t.Fatal(statement, err)
				}
				if state == nil {
					break
				}
				f.states = append(f.states, foundState{state, i, version})
			}
		}
	}
	return f
}

// page reads one page and returns the state behind it.
func (f *forger) page(statement, version, size int, state []byte) ([]byte, error) {
	f.version, f.state = version, state
	r, err := f.execute(f.plans[statement], exec.Options{PageSize: size})
	if err != nil {
		return nil, err
	}
	return r.(*exec.Rows).PagingState, nil
}

// try wants a state refused as what a client got wrong, or to lead through pages to an end.
func (f *forger) try(t testing.TB, statement, version, size int, forged []byte) {
	t.Helper()
	state := forged
	for pages := 0; ; pages++ {
		next, err := f.page(statement, version, size, state)
		e, known := cqlerr.As(err)
		switch {
		case err != nil && pages == 0 && known && (e.Code == cqlerr.ProtocolError || e.Code == cqlerr.Invalid):
			return
		case err != nil:
			t.Fatalf("%s, v%d, page %d of %x: %v", f.statements[statement], version, pages, forged, err)
		case next == nil:
			return
		case pages > 1000:
			t.Fatalf("%s, v%d: the pages behind %x have no end", f.statements[statement], version, forged)
		}
		state = next
	}
}

// TestForgedStates changes and cuts every byte of states that servers gave, and takes them to other statements.
func TestForgedStates(t *testing.T) {
	f := newForger(t)
	for _, s := range f.states {
		for i := range f.statements {
			f.try(t, i, s.version, 3, s.state)
		}
		for i, b := range s.state {
			f.try(t, s.statement, s.version, 3, s.state[:i])
			for _, other := range []byte{0, 1, 0x7f, 0x80, 0xff, b + 1, b - 1} {
				forged := slices.Clone(s.state)
				forged[i] = other
				f.try(t, s.statement, s.version, 3, forged)
			}
		}
	}
}

// FuzzPagingState makes states of any bytes.
func FuzzPagingState(f *testing.F) {
	forge := newForger(f)
	for _, s := range forge.states {
		f.Add(s.state, uint8(s.statement), uint8(s.version), uint8(1))
	}
	f.Fuzz(func(t *testing.T, state []byte, statement, version, page uint8) {
		forge.try(t, int(statement)%len(forge.plans), 3+int(version)%3, 1+int(page)%4, state)
	})
}
