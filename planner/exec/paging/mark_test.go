package paging

import (
	"reflect"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// TestPagingStateEmptyClustering goes on behind rows whose clustering values are empty, also those of types
// that write no empty value themselves.
func TestPagingStateEmptyClustering(t *testing.T) {
	for _, of := range []types.Type{types.Date, types.Time, types.TinyInt, types.Text, types.Int} {
		table := &schema.Table{Clustering: []*schema.Column{{Name: "c", Type: of, Kind: schema.Clustering}}}
		for _, version := range []int{3, 4} {
			state := State{Mark: [][]byte{{}}, Remaining: NoLimit, InPartition: NoLimit}
			s, err := Decode(state.Encode(version), version)
			if err != nil {
				t.Fatal(err)
			}
			if row, err := s.Clustering(table); err != nil || len(row) != 1 || row[0] == nil || len(row[0]) != 0 {
				t.Errorf("v%d, %s: the page goes on behind %v", version, of, row)
			}
		}
	}
}

// TestPagingStateNullClustering goes on behind rows whose last clustering columns are null, and in tables WITH COMPACT
// STORAGE.
func TestPagingStateNullClustering(t *testing.T) {
	text := func(name string) *schema.Column {
		return &schema.Column{Name: name, Type: types.Text, Kind: schema.Clustering}
	}
	for _, c := range []struct {
		table *schema.Table
		mark  [][]byte
	}{
		{&schema.Table{Clustering: []*schema.Column{text("c")}, Compact: schema.CompactDense}, [][]byte{[]byte("abc")}},
		{&schema.Table{Clustering: []*schema.Column{text("c"), text("d")}, Compact: schema.CompactDense}, [][]byte{{}, nil}},
		{&schema.Table{Clustering: []*schema.Column{text("c"), text("d"), text("e")}}, [][]byte{[]byte("a"), {}, nil}},
	} {
		for _, version := range []int{3, 4} {
			state := State{Mark: c.mark, Remaining: NoLimit, InPartition: NoLimit, Bare: HasBareMarks(c.table)}
			s, err := Decode(state.Encode(version), version)
			if err != nil {
				t.Fatal(err)
			}
			if row, err := s.Clustering(c.table); err != nil || !reflect.DeepEqual(row, c.mark) {
				t.Errorf("v%d: the page goes on behind %v, not %v", version, row, c.mark)
			}
		}
	}
}
