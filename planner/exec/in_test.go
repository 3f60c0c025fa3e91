package exec_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// smallInts is a list of n ints that count from the first one.
func smallInts(n, first int) types.Value {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+8*n), uint32(n))
	for i := range n {
		b = types.AppendElement(b, types.EncodeInt(int32(first+i)))
	}
	return types.Value{Bytes: b}
}

// TestLongIn compares and reads by an IN of many values, which take not much more memory than their list.
func TestLongIn(t *testing.T) {
	s := withTable(t, "k int, c int, d decimal, e int, PRIMARY KEY (k, c)")
	for i := range 20 {
		s.must(fmt.Sprintf("INSERT INTO t (k, c, d, e) VALUES (%d, 1, %d.0, %d)", i, i, i*10))
	}
	s.must("INSERT INTO t (k, c) VALUES (100, 1)")
	const n = 1 << 17
	ints := smallInts(n, 7)
	var decimals, reversed, tuples []types.Value
	for i := range 100 {
		decimals = append(decimals, types.Value{Bytes: types.EncodeDecimal(big.NewInt(int64(700+i*100)), 2)})
		reversed = append(reversed, integer(n-1-i%50), integer(15))
		tuples = append(tuples, types.Value{Bytes: types.NewTuple([][]byte{types.EncodeInt(int32(100 - i))})})
	}
	for _, test := range []struct {
		query string
		value types.Value
		want  int
	}{
		{"SELECT k FROM t WHERE e IN ? ALLOW FILTERING", ints, 19},
		{"SELECT k FROM t WHERE k IN ?", ints, 14},
		{"SELECT k FROM t WHERE k = 3 AND c IN ?", ints, 0},
		{"SELECT k FROM t WHERE k = 3 AND c IN ?", smallInts(n, -n+2), 1},
		{"SELECT k FROM t WHERE k = 3 AND (c) IN ?", list(tuples...), 1},
		{"SELECT k FROM t WHERE d IN ? ALLOW FILTERING", list(decimals...), 13},
		{"SELECT k FROM t WHERE k IN ?", list(reversed...), 1},
	} {
		p, err := s.prepare(test.query)
		if err != nil {
			t.Fatal(test.query, err)
		}
		var r exec.Result
		var held int64
		bytes := allocated(func() {
			onTurn(t, 64<<20, 0, func(turn *pace.Turn) {
				r, err = s.execute(p, exec.Options{Turn: turn}, test.value)
				held = turn.Held()
			})
		})
		if err != nil {
			t.Fatal(test.query, err)
		}
		if got := r.(*exec.Rows).Count; got != test.want {
			t.Errorf("%s: %d rows, want %d", test.query, got, test.want)
		}
		size := int64(len(test.value.Bytes))
		if most := size + 2<<20; held > most || size > 1<<20 && held < size/4 {
			t.Errorf("%s: %d bytes are held for a list of %d", test.query, held, size)
		}
		if most := uint64(size + 2<<20); strings.Contains(test.query, "FILTERING") && bytes > most {
			t.Errorf("%s: %d bytes are allocated, want %d at most", test.query, bytes, most)
		}
	}
}

// TestPlanningSteps ends the planning of long literals where others have to wait for it.
func TestPlanningSteps(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, l list<int>, s set<int>, m map<int, int>")
	var ints, entries []string
	for i := range 50_000 {
		ints = append(ints, fmt.Sprint(i*7919%50_021))
		entries = append(entries, ints[i]+":1")
	}
	elements := strings.Join(ints, ",")
	late := errors.New("it is late")
	for _, text := range []string{
		"SELECT * FROM t WHERE k IN (" + elements + ")", "INSERT INTO t (k, l) VALUES (1, [" + elements + "])",
		"INSERT INTO t (k, s) VALUES (1, {" + elements + "})", "INSERT INTO t (k, m) VALUES (1, {" + strings.Join(entries, ",") + "})",
	} {
		parsed, _, err := parser.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		env := planner.Env{Catalog: s.store.Catalog(), Keyspace: "ks"}
		all := 0
		env.Step = func() error {
			all++
			return nil
		}
		if _, err := planner.Make(parsed, env); err != nil || all < 50 {
			t.Errorf("%.40s: %d steps, %v", text, all, err)
		}
		for _, last := range []int{1, all / 2, all} {
			n := 0
			env.Step = func() error {
				if n++; n >= last {
					return late
				}
				return nil
			}
			if _, err := planner.Make(parsed, env); !errors.Is(err, late) || n > last+1 {
				t.Errorf("%.40s: %d steps, told at %d: %v", text, n, last, err)
			}
		}
	}
}
