package exec_test

import (
	"testing"

	"github.com/cqld/cqld/cql/types"
)

// TestNullElements binds lists with null elements, which columns can have and partition keys cannot; the texts are
// Cassandra's.
func TestNullElements(t *testing.T) {
	s := withTable(t, "k frozen<list<int>>, p frozen<tuple<frozen<list<int>>>>, c frozen<list<int>>, v frozen<list<int>>, "+
		"l frozen<list<frozen<list<int>>>>, w vector<frozen<list<int>>, 1>, PRIMARY KEY ((k, p), c)")
	nullElement := types.NewList([][]byte{nil})
	lists := func(values ...[]byte) (bound []types.Value) {
		for _, b := range values {
			bound = append(bound, types.Value{Bytes: b})
		}
		return bound
	}
	const refused = "error 2200: Null value read when not allowed\n"
	for _, step := range []struct {
		statement string
		values    []types.Value
		want      string
	}{
		{"INSERT INTO t (k, p, c, v) VALUES ([], ([]), ?, ?)", lists(nullElement, nullElement), "ok\n"},
		{"SELECT c, v FROM t", nil, "[null] | [null]\n"},
		{"INSERT INTO t (k, p, c) VALUES (?, ([]), [])", lists(nullElement), refused},
		{"INSERT INTO t (k, p, c) VALUES ([], ?, [])", lists(types.NewTuple([][]byte{nullElement})), refused},
		{"INSERT INTO t (k, p, c) VALUES ([], (?), [])", lists(nullElement), refused},
		{"INSERT INTO t (k, p, c) VALUES ([], 0x01, [])", nil, "error 2200: Not enough bytes to read size of 0th component\n"},
		{"DELETE FROM t WHERE k = ? AND p = ([])", lists(nullElement), refused},
		{"SELECT c FROM t WHERE k = ? AND p = ([])", lists(nullElement), ""},
		{"UPDATE t SET l = ? WHERE k = [] AND p = ([]) AND c = []", lists(types.NewList([][]byte{nullElement})), refused},
		{"UPDATE t SET l = ? WHERE k = [] AND p = ([]) AND c = []", lists(nullElement), "ok\n"},
		{"UPDATE t SET w = ? WHERE k = [] AND p = ([]) AND c = []", lists(append([]byte{8}, nullElement...)), refused},
		{"UPDATE t SET w = [?] WHERE k = [] AND p = ([]) AND c = []", lists(nullElement), "ok\n"},
		{"SELECT l, w FROM t WHERE k = [] AND p = ([]) AND c = []", nil, "[null] | [[null]]\n"},
	} {
		if got := s.bound(step.statement, step.values...); got != step.want {
			t.Errorf("%s\n got %s want %s", step.statement, got, step.want)
		}
	}
}
