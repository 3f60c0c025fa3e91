package exec

import (
	"context"
	"encoding/binary"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
)

// describe answers DESCRIBE from the catalog. Its pages are counted in rows of the answer.
func (e *Executor) describe(ctx context.Context, r *Request, d *planner.Describe) (Result, error) {
	catalog := e.store.Catalog()
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
		if first, err = describedOffset(r.PagingState, version); err != nil {
			return nil, err
		}
	}
	out := &Rows{Columns: d.Columns()}
	rest := rows[min(first, len(rows)):]
	if r.PageSize > 0 && len(rest) >= r.PageSize {
		rest = rest[:r.PageSize]
		out.PagingState = binary.BigEndian.AppendUint32(append([]byte(nil), version[:]...), uint32(first+r.PageSize))
	}
	for _, row := range rest {
		for _, v := range row {
			out.Cells = appendCell(out.Cells, v)
		}
		out.Count++
	}
	return out, nil
}

// describedOffset is the number of rows that were told before; the schema must be the same as then.
func describedOffset(state []byte, version [16]byte) (int, error) {
	if len(state) != len(version)+4 {
		return 0, errPagingState()
	}
	if [16]byte(state) != version {
		return 0, cqlerr.Invalidf("The schema has changed since the previous page of the DESCRIBE statement result. Please " +
			"retry the DESCRIBE statement.")
	}
	return int(binary.BigEndian.Uint32(state[len(version):])), nil
}
