package exec_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// intEntries is a map of n ints to themselves.
func intEntries(n int) types.Value {
	b := binary.BigEndian.AppendUint32(nil, uint32(n))
	for i := range n {
		b = types.AppendElement(types.AppendElement(b, types.EncodeInt(int32(i))), types.EncodeInt(int32(i)))
	}
	return types.Value{Bytes: b}
}

// TestOversizedWrites refuses what does not fit before it is made: it takes little memory beside its values.
func TestOversizedWrites(t *testing.T) {
	s := withTable(t, `k int, c int, l list<int>, s set<int>, m map<int, int>, fl frozen<list<int>>, b blob, PRIMARY KEY (k, c)`)
	const n = 1 << 18
	ints, entries := smallInts(n, 0), intEntries(n)
	blob := types.Value{Bytes: make([]byte, 200<<10)}
	literal := "[1" + strings.Repeat(",1", n) + "]"
	for _, write := range []struct {
		statement string
		values    []types.Value
		most      uint64 // bytes that executing may take
	}{
		{"INSERT INTO t (k, c, l) VALUES (1, 1, " + literal + ")", nil, 1 << 20},
		{"INSERT INTO t (k, c, l) VALUES (1, 1, ?)", []types.Value{ints}, 1 << 20},
		{"INSERT INTO t (k, c, s) VALUES (1, 1, ?)", []types.Value{ints}, 1 << 20},
		{"INSERT INTO t (k, c, m) VALUES (1, 1, ?)", []types.Value{entries}, 1 << 20},
		{"INSERT INTO t (k, c, fl) VALUES (1, 1, ?)", []types.Value{ints}, 1 << 20},
		{"UPDATE t SET l = l + ? WHERE k = 1 AND c = 1", []types.Value{ints}, 1 << 20},
		{"UPDATE t SET l = ? + l WHERE k = 1 AND c = 1", []types.Value{ints}, 1 << 20},
		{"UPDATE t SET s = s + ? WHERE k = 1 AND c = 1", []types.Value{ints}, 1 << 20},
		{"UPDATE t SET s = s - ? WHERE k = 1 AND c = 1", []types.Value{ints}, 1 << 20},
		{"UPDATE t SET m = m - ? WHERE k = 1 AND c = 1", []types.Value{ints}, 1 << 20},
		{"UPDATE t SET b = ? WHERE k = 1 AND c IN ?", []types.Value{blob, smallInts(1000, 0)}, 6 << 20},
		{"UPDATE t SET b = ? WHERE k IN ? AND c = 1", []types.Value{blob, smallInts(1000, 0)}, 6 << 20},
		{
			"BEGIN BATCH" + strings.Repeat(" UPDATE t SET b = ? WHERE k = 1 AND c = 1;", 100) + " APPLY BATCH",
			slices.Repeat([]types.Value{blob}, 100), 6 << 20,
		},
		{`INSERT INTO t JSON '{"k": 1, "c": 1, "l": ` + literal + "}'", nil, 1 << 20},
	} {
		p, err := s.prepare(write.statement)
		if err != nil {
			t.Fatal(err)
		}
		what := write.statement[:min(60, len(write.statement))]
		bytes := allocated(func() { _, err = s.execute(p, exec.Options{}, write.values...) })
		if err == nil || !strings.Contains(err.Error(), "Encountered an oversized mutation") {
			t.Errorf("%s: %.200v", what, err)
		}
		if bytes > write.most {
			t.Errorf("%s: %d bytes are allocated", what, bytes)
		}
	}
	if got := s.bound("SELECT * FROM t"); got != "" {
		t.Errorf("something was written: %.200s", got)
	}
}

// TestLargeWrites writes collections that just fit, some of them in an order that is not that of their elements.
func TestLargeWrites(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, l list<int>, s set<int>, m map<int, int>")
	const n = 10_000
	ints := smallInts(n, 0)
	reversed := binary.BigEndian.AppendUint32(nil, n)
	for i := range n {
		reversed = types.AppendElement(reversed, types.EncodeInt(int32(n-1-i)))
	}
	s.bound("INSERT INTO t (k, l) VALUES (0, ?)", ints)
	for _, statement := range []string{
		"INSERT INTO t (k, s) VALUES (0, ?)", "INSERT INTO t (k, s) VALUES (1, ?)", "UPDATE t SET l = ? + l WHERE k = 1",
		"INSERT INTO t (k, l) VALUES (2, ?)", "UPDATE t SET l = l - ? WHERE k = 2",
	} {
		if got := s.bound(statement, types.Value{Bytes: reversed}); got != "ok\n" {
			t.Error(statement, got)
		}
	}
	for query, want := range map[string]types.Value{
		"SELECT l FROM t WHERE k = 0": ints, "SELECT s FROM t WHERE k = 0": ints, "SELECT s FROM t WHERE k = 1": ints,
		"SELECT l FROM t WHERE k = 1": {Bytes: reversed}, "SELECT l FROM t WHERE k = 2": {},
	} {
		p, err := s.prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.execute(p, exec.Options{})
		if err != nil {
			t.Fatal(query, err)
		}
		if got := r.(*exec.Rows).Cells[4:]; !bytes.Equal(got, want.Bytes) {
			t.Errorf("%s: %d bytes, want %d", query, len(got), len(want.Bytes))
		}
	}
}

// TestSamePlaces writes one element many times in a statement: only the last value counts, and it fits.
func TestSamePlaces(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, m map<int, blob>")
	values := slices.Repeat([]types.Value{{Bytes: make([]byte, 300<<10)}}, 20)
	if got := s.bound("UPDATE t SET m[1] = ?"+strings.Repeat(", m[1] = ?", 19)+" WHERE k = 1", values...); got != "ok\n" {
		t.Error(got)
	}
}

// TestManyPlaces sets and deletes many elements of a list in a statement, which does not copy the list for each.
func TestManyPlaces(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, l list<int>")
	const n, changed = 10_000, 300
	if got := s.bound("INSERT INTO t (k, l) VALUES (0, ?)", smallInts(n, 0)); got != "ok\n" {
		t.Fatal(got)
	}
	var sets, deletes []string
	for i := range changed {
		sets = append(sets, fmt.Sprintf("l[%d] = %d", i, -i))
		deletes = append(deletes, "l[0]")
	}
	for _, statement := range []string{
		"UPDATE t SET " + strings.Join(sets, ", ") + " WHERE k = 0", "DELETE " + strings.Join(deletes, ", ") + " FROM t WHERE k = 0",
	} {
		var got string
		bytes := allocated(func() { got = s.bound(statement) })
		if got != "ok\n" || bytes > 20<<20 {
			t.Errorf("%.60s: %s, %d bytes are allocated", statement, got, bytes)
		}
	}
	got := s.bound("SELECT l FROM t WHERE k = 0")
	if want := fmt.Sprintf("[%d, %d, ", changed, changed+1); !strings.HasPrefix(got, want) || strings.Count(got, ",") != n-changed-1 {
		t.Errorf("the list is %.60s and has %d commas", got, strings.Count(got, ","))
	}
}

// TestWritesHold looks at what large writes hold on their turn.
func TestWritesHold(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, l list<int>")
	const n = 10_000
	json := text(`{"k": 2, "l": [1` + strings.Repeat(",1", n) + "]}")
	for _, write := range []struct {
		statement string
		value     types.Value
	}{
		{"INSERT INTO t (k, l) VALUES (1, ?)", smallInts(n, 0)},
		{"UPDATE t SET l = l - ? WHERE k = 1", smallInts(1, 0)}, // the list is read
		{"INSERT INTO t JSON ?", json},
	} {
		p, err := s.prepare(write.statement)
		if err != nil {
			t.Fatal(err)
		}
		onTurn(t, 64<<20, 0, func(turn *pace.Turn) {
			if _, err := s.execute(p, exec.Options{Turn: turn}, write.value); err != nil {
				t.Error(err)
			}
			if turn.Held() < 20*n || turn.Held() > 300*n {
				t.Errorf("%s: %d bytes are held", write.statement, turn.Held())
			}
		})
	}
}
