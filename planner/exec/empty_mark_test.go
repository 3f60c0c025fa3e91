package exec

import (
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
			state := pagingState{mark: [][]byte{{}}, remaining: noLimit, inPartition: noLimit}
			s, err := decodePagingState(state.encode(version), version)
			if err != nil {
				t.Fatal(err)
			}
			if row := s.clustering(table); len(row) != 1 || row[0] == nil || len(row[0]) != 0 {
				t.Errorf("v%d, %s: the page goes on behind %v", version, of, row)
			}
		}
	}
}
