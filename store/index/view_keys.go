package index

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// BaseOf appends the key of the row of the base that a row of the view is of, given the values of the view's columns.
// It also returns the partition of that row.
func (x *Index) BaseOf(dst []byte, values [][]byte) (partition, key []byte) {
	named := func(columns []*schema.Column) (named [][]byte) {
		for _, c := range columns {
			named = append(named, values[x.View.Column(c.Name).Index])
		}
		return named
	}
	t := x.Table
	partition = JoinKey(nil, named(t.PartitionKey))
	dst = append(rows.AppendPartition(dst, t, x.TableID, partition), rows.KindRow)
	return partition, rows.AppendClustering(dst, t, named(t.Clustering))
}

// JoinKey appends a serialized partition key, given the values of its columns.
func JoinKey(dst []byte, values [][]byte) []byte {
	if len(values) == 1 {
		return append(dst, values[0]...)
	}
	for _, v := range values {
		dst = types.AppendCompositeKey(dst, v)
	}
	return dst
}
