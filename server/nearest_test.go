package server_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol/client"
)

// TestNearestInLargeTable asks for the nearest of so many vectors that an approximate index serves it, alone and
// beside restrictions that leave many rows, few and none, while rows are written and deleted. It compares with all
// rows.
func TestNearestInLargeTable(t *testing.T) {
	const (
		size      = 6000
		dimension = 16
		groups    = 6
		queries   = 12
	)
	s := cqltest.RunT(t)
	s.Exec(t, "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"+
		fmt.Sprintf("CREATE TABLE ks.t (k int PRIMARY KEY, v vector<float, %d>, w int);", dimension)+
		"CREATE CUSTOM INDEX ON ks.t (v) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'euclidean'};"+
		"CREATE CUSTOM INDEX ON ks.t (w) USING 'StorageAttachedIndex'")
	conn, err := client.Dial(t.Context(), s.Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	execute := func(cql string, values ...[]byte) [][][]byte {
		t.Helper()
		p, err := conn.Prepare(t.Context(), cql, "")
		if err != nil {
			t.Fatal(err)
		}
		bound := make([]types.Value, len(values))
		for i, v := range values {
			bound[i].Bytes = v
		}
		r, err := conn.Execute(t.Context(), p, bound, nil)
		if err != nil {
			t.Fatalf("%s: %v", cql, err)
		}
		return r.Rows
	}
	random := rand.New(rand.NewPCG(18, 4))
	vectors := map[int32][dimension]float32{}
	encoded := func(v [dimension]float32) (b []byte) {
		for _, f := range v {
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(f))
		}
		return b
	}
	draw := func() (v [dimension]float32) {
		for i := range v {
			v[i] = float32(random.NormFloat64())
		}
		return v
	}
	insert := func(k int32) {
		vectors[k] = draw()
		execute("INSERT INTO ks.t (k, v, w) VALUES (?, ?, ?)", types.EncodeInt(k), encoded(vectors[k]), types.EncodeInt(k%groups))
	}
	for k := range int32(size) {
		insert(k)
	}
	for end := time.Now().Add(2 * time.Minute); inside.Of(s).Store.GraphMetrics().Nodes < size/2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no graph has the vectors")
		}
	}
	found, wanted := 0, 0
	// compare asks for rows of the groups below one, and counts how many of the nearest are among them.
	compare := func(below int32, limit int) {
		t.Helper()
		to := draw()
		distance := func(k int32) (sum float64) {
			v := vectors[k]
			for i := range v {
				sum += float64(v[i]-to[i]) * float64(v[i]-to[i])
			}
			return sum
		}
		var want []int32
		for k := range vectors {
			if k%groups < below {
				want = append(want, k)
			}
		}
		nearer := func(a, b int32) int { return cmp.Compare(distance(a), distance(b)) }
		slices.SortFunc(want, nearer)
		want = want[:min(limit, len(want))]
		var rows [][][]byte
		if below == groups {
			rows = execute(fmt.Sprintf("SELECT k FROM ks.t ORDER BY v ANN OF ? LIMIT %d", limit), encoded(to))
		} else {
			cql := fmt.Sprintf("SELECT k FROM ks.t WHERE w < ? ORDER BY v ANN OF ? LIMIT %d", limit)
			rows = execute(cql, types.EncodeInt(below), encoded(to))
		}
		var got []int32
		for _, row := range rows {
			k := types.DecodeInt(row[0])
			if _, is := vectors[k]; !is || k%groups >= below || slices.Contains(got, k) {
				t.Fatalf("row %d of the groups below %d is not to be found", k, below)
			}
			got = append(got, k)
			if slices.Contains(want, k) {
				found++
			}
		}
		wanted += len(want)
		if len(got) != len(want) || !slices.IsSortedFunc(got, nearer) {
			t.Errorf("%d rows of the groups below %d, in order: %t, want %d", len(got), below, slices.IsSortedFunc(got, nearer), len(want))
		}
	}
	for i := range queries {
		compare(groups, 10)
		compare(groups-1, 10)
		compare(1, 10)
		compare(0, 10)
		compare(groups, 200)
		gone := int32(i * 7)
		delete(vectors, gone)
		execute("DELETE FROM ks.t WHERE k = ?", types.EncodeInt(gone))
		again := int32(i*7 + 1)
		insert(again)
		rows := execute("SELECT k FROM ks.t ORDER BY v ANN OF ? LIMIT 1", encoded(vectors[again]))
		if len(rows) != 1 || types.DecodeInt(rows[0][0]) != again {
			t.Errorf("what was just written is not found: %v", rows)
		}
	}
	if found*100 < wanted*95 {
		t.Errorf("%d of %d nearest rows were found", found, wanted)
	}
}
