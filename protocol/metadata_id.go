package protocol

import "crypto/md5"

// ResultMetadataID is the id of result columns, by which clients and servers since v5 find out that a
// prepared statement's columns have changed. It covers names and types, not tables; a statement that returns
// no rows has that of no columns.
func ResultMetadataID(columns []ColumnSpec) [16]byte {
	var b []byte
	for i := range columns {
		c := &columns[i]
		b = append(append(b, c.Name...), 0)
		if c.Desc {
			b = append(b, "org.apache.cassandra.db.marshal.ReversedType("...)
		}
		b = append(b, c.Type.ClassName()...)
		if c.Desc {
			b = append(b, ')')
		}
		b = append(b, 0, 0)
	}
	return md5.Sum(b)
}
