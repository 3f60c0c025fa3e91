package script_test

import (
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/cqld/cqld/compat_tests/tamper"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
)

const unrecorded = `exec
CREATE TABLE t (k int, c int, PRIMARY KEY (k, c));
INSERT INTO t (k, c) VALUES (1, 1);
INSERT INTO t (k, c) VALUES (1, 2);

query
SELECT c FROM t WHERE k = 1;

query
SELECT k FROM t WHERE k = 1;
`

func TestRecord(t *testing.T) {
	s := parse(t, unrecorded)
	differences, err := s.Record(t.Context(), cqltest.RunT(t).Addr(), "recorded", testModes[0], testModes[1])
	if err != nil || len(differences) > 0 {
		t.Fatal(differences, err)
	}
	for i, want := range [][]string{{"ok"}, {"c int", "1", "2"}, {"k int", "1", "1"}} {
		if got := s.Blocks[i].Expected; !reflect.DeepEqual(got, want) {
			t.Errorf("line %d: %q, want %q", s.Blocks[i].Line, got, want)
		}
	}
}

// TestRecordTellsChance records from a server that answers in another order the second time.
func TestRecordTellsChance(t *testing.T) {
	var answers atomic.Int32
	addr := tamper.RunT(t, cqltest.RunT(t).Addr(), func(m protocol.Response) protocol.Response {
		if _, ok := m.(*protocol.Rows); ok && answers.Add(1) > 2 {
			return tamper.SwapRows(m)
		}
		return m
	})
	second := testModes[1]
	second.PageSize = 5000
	differences, err := parse(t, unrecorded).Record(t.Context(), addr, "recorded", testModes[0], second)
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(differences); !reflect.DeepEqual(got, []int{6}) {
		t.Errorf("chance in lines %v, want that in line 6: %v", got, differences)
	}
}
