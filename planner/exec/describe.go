package exec

import (
	"context"

	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec/paging"
)

// describe answers DESCRIBE from the catalog, in pages of rows.
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
		if first, err = r.PagingState.Described(version); err != nil {
			return nil, err
		}
	}
	out := &Rows{Columns: describedColumns(d)}
	rest := rows[min(first, len(rows)):]
	if r.PageSize > 0 && len(rest) >= r.PageSize {
		rest = rest[:r.PageSize]
		out.PagingState = paging.EncodeDescribed(first+r.PageSize, r.Version, version)
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
