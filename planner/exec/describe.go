package exec

import (
	"context"
	"encoding/binary"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
)

// describe answers DESCRIBE from the catalog. Its pages are counted in rows of the answer.
func (e *Executor) describe(ctx context.Context, r *Request, d *define.Describe) (Result, error) {
	catalog := e.store.Catalog()
	d = d.In(r.Keyspace)
	list := func() ([][][]byte, error) { return d.Rows(catalog) }
	if d.IsCluster() {
		list = func() ([][][]byte, error) { return e.describeCluster(ctx, r, d) }
	}
	rows, err := list()
	if err != nil {
		return nil, err
	}
	version := catalog.Version()
	first := 0
	if r.PagingState != nil {
		if first, err = describedOffset(r.PagingState, r.Version, version); err != nil {
			return nil, err
		}
	}
	out := &Rows{Columns: describedColumns(d)}
	rest := rows[min(first, len(rows)):]
	if r.PageSize > 0 && len(rest) >= r.PageSize {
		rest = rest[:r.PageSize]
		out.PagingState = describedState(first+r.PageSize, r.Version, version)
	}
	for _, row := range rest {
		for _, v := range row {
			out.Cells = appendCell(out.Cells, v)
		}
		out.Count++
	}
	return out, nil
}

// describedColumns are the columns of the answer, which Cassandra shows as those of a table system.describe.
func describedColumns(d *define.Describe) []planner.ResultColumn {
	columns := d.Columns()
	out := make([]planner.ResultColumn, len(columns))
	for i, c := range columns {
		out[i] = planner.ResultColumn{Keyspace: "system", Table: "describe", Name: c.Name, Type: c.Type}
	}
	return out
}

// A paging state of DESCRIBE has what it depends on where others have the partition key:
//
//	<format [short] 1><release [string]><schema version [uuid]><rows told before [long]>
const (
	describedFormat = 1

	// release is the version of Cassandra that answers are those of.
	release = "5.0.8"
)

// describedState is the paging state behind a number of rows.
func describedState(rows, protocol int, version [16]byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, describedFormat)
	b = appendShortBytes(b, []byte(release))
	b = append(b, version[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(rows))
	s := pagingState{partition: b, remaining: noLimit, inPartition: noLimit}
	return s.encode(protocol)
}

// describedOffset is the number of rows that were told before; the schema must be the same as then.
func describedOffset(state []byte, protocol int, version [16]byte) (int, error) {
	s, err := decodePagingState(state, protocol)
	if err != nil {
		return 0, err
	}
	d := decoder{b: s.partition, ok: true}
	format := d.take(2)
	if format == nil || binary.BigEndian.Uint16(format) != describedFormat {
		return 0, cqlerr.Invalidf("Incompatible paging state")
	}
	if got := string(d.shortBytes()); d.ok && got != release {
		return 0, cqlerr.Invalidf("The server version of the paging state %s is different from the one of the server %s",
			got, release)
	}
	if got := d.take(len(version)); d.ok && [16]byte(got) != version {
		return 0, cqlerr.Invalidf("The schema has changed since the previous page of the DESCRIBE statement result. Please " +
			"retry the DESCRIBE statement.")
	}
	offset := d.take(8)
	if !d.ok || len(d.b) > 0 || binary.BigEndian.Uint64(offset) > noLimit {
		return 0, errPagingState()
	}
	return int(binary.BigEndian.Uint64(offset)), nil
}
