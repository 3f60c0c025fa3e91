package model

import (
	"context"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// Table is a table or view, as the tables of system_schema have it.
type Table struct {
	Keyspace, Name string
	Of             string // the base table of a view, or ""
	Comment        string // the option comment
	Columns        []Column
}

// Column is a column of a table.
type Column struct {
	Name, Kind, Type string
	Position         int64
	Desc             bool
	Index            string // its name, or ""
	IndexKind        string // KEYS, COMPOSITES or the class
}

// columnKinds are the kinds of columns, in the order in which a table shows them.
var columnKinds = []string{"partition_key", "clustering", "static", "regular"}

// OfKind returns the columns of a kind, in order.
func (t *Table) OfKind(kind string) (all []Column) {
	for _, c := range t.Columns {
		if c.Kind == kind {
			all = append(all, c)
		}
	}
	return all
}

// Column returns a column, or nil.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// Query runs a query and returns all its rows.
type Query func(ctx context.Context, statement string) (*client.Result, error)

// QueryOn returns a Query that runs statements on a connection and reads all pages.
func QueryOn(conn *client.Conn) Query {
	return func(ctx context.Context, statement string) (r *client.Result, err error) {
		o := client.QueryOptions{Consistency: cqlerr.LocalOne, PageSize: 1000}
		for {
			page, err := conn.Query(ctx, statement, nil, &o)
			if err != nil {
				return nil, err
			}
			if r != nil {
				page.Rows = append(r.Rows, page.Rows...)
			}
			if r = page; r.PagingState == nil {
				return r, nil
			}
			o.PagingState = r.PagingState
		}
	}
}

// optional runs a query of a table that other servers may lack.
func (query Query) optional(ctx context.Context, statement string) (*client.Result, error) {
	r, err := query(ctx, statement)
	if _, fromServer := cqlerr.As(err); fromServer {
		return nil, nil
	}
	return r, err
}

// Tables reads the tables and views of a keyspace, which may be virtual, or one of them if table is not empty.
func Tables(ctx context.Context, query Query, keyspace, table string) (all []*Table, err error) {
	where := " WHERE keyspace_name = " + quote.Text(keyspace)
	only := ""
	if table != "" {
		only = " AND table_name = " + quote.Text(table)
	}
	r, err := query(ctx, "SELECT * FROM system_schema.columns"+where+only)
	if err == nil && len(r.Rows) == 0 { // perhaps they are virtual
		if r, err = query.optional(ctx, "SELECT * FROM system_virtual_schema.columns"+where+only); r == nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	byName := map[string]*Table{}
	for row := range Records(r) {
		name := row.Text("table_name")
		t := byName[name]
		if t == nil {
			t = &Table{Keyspace: keyspace, Name: name}
			byName[name], all = t, append(all, t)
		}
		t.Columns = append(t.Columns, columnOf(row))
	}
	for _, t := range all {
		t.sortColumns()
	}
	r, err = query.optional(ctx, "SELECT * FROM system_schema.indexes"+where+only)
	if err != nil {
		return nil, err
	}
	for row := range Records(r) {
		options := map[string]string{}
		if b, _ := row.Value("options"); b != nil {
			for k, v := range types.Entries(b) {
				options[string(k)] = string(v)
			}
		}
		target := strings.TrimSuffix(options["target"], ")")
		target = strings.Trim(target[strings.IndexByte(target, '(')+1:], `"`)
		if t := byName[row.Text("table_name")]; t != nil && t.Column(target) != nil {
			c := t.Column(target)
			c.Index, c.IndexKind = row.Text("index_name"), row.Text("kind")
			if class := options["class_name"]; class != "" {
				c.IndexKind = class[strings.LastIndexByte(class, '.')+1:]
			}
		}
	}
	r, err = query.optional(ctx, "SELECT view_name, base_table_name, comment FROM system_schema.views"+where)
	if err != nil {
		return nil, err
	}
	for row := range Records(r) {
		if t := byName[row.Text("view_name")]; t != nil {
			t.Of, t.Comment = row.Text("base_table_name"), row.Text("comment")
		}
	}
	r, err = query.optional(ctx, "SELECT table_name, comment FROM system_schema.tables"+where+only)
	if err != nil {
		return nil, err
	}
	for row := range Records(r) {
		if t := byName[row.Text("table_name")]; t != nil {
			t.Comment = row.Text("comment")
		}
	}
	return all, nil
}

// columnOf is a row of system_schema.columns.
func columnOf(row Record) Column {
	return Column{
		Name: row.Text("column_name"), Kind: row.Text("kind"), Type: row.Text("type"),
		Position: row.Number("position"), Desc: row.Text("clustering_order") == "desc",
	}
}

// sortColumns brings the columns into the order in which a table shows them.
func (t *Table) sortColumns() {
	slices.SortStableFunc(t.Columns, func(a, b Column) int {
		if d := slices.Index(columnKinds, a.Kind) - slices.Index(columnKinds, b.Kind); d != 0 {
			return d
		}
		return int(a.Position - b.Position)
	})
}

// Type is a user-defined type.
type Type struct {
	Keyspace, Name string
	Fields         []Column // with a name and a type
}

// Types reads the user-defined types of a keyspace.
func Types(ctx context.Context, query Query, keyspace string) (all []*Type, err error) {
	r, err := query.optional(ctx, "SELECT * FROM system_schema.types WHERE keyspace_name = "+quote.Text(keyspace))
	if err != nil {
		return nil, err
	}
	for row := range Records(r) {
		t := &Type{Keyspace: keyspace, Name: row.Text("type_name")}
		types := row.Texts("field_types")
		for i, name := range row.Texts("field_names") {
			t.Fields = append(t.Fields, Column{Name: name, Type: types[i]})
		}
		all = append(all, t)
	}
	return all, nil
}
