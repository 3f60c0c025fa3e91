package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// Definition is the statement that creates a keyspace or an object of one.
type Definition struct {
	Kind           string // as in the rows of DESCRIBE
	Keyspace, Name string // Name is "" for the keyspace itself
	Signature      string // of a function or aggregate: the types of its arguments, in parentheses
	Table          string // of an index or a view
	Statement      string // with a semicolon
}

// Title is the name as statements have it, without the keyspace.
func (d *Definition) Title() string {
	if d.Name == "" {
		return quote.Name(d.Keyspace)
	}
	return quote.Name(d.Name) + d.Signature
}

// Definitions writes the answer to DESCRIBE from the tables of system_schema, for servers without that statement. It
// returns a keyspace, or all if keyspace is empty, each followed by its types, functions, aggregates and tables;
// indexes and views follow their table. A table has the options that system_schema.tables has columns for.
func Definitions(ctx context.Context, query Query, keyspace string) (all []*Definition, err error) {
	where := ""
	if keyspace != "" {
		where = " WHERE keyspace_name = " + quote.Text(keyspace)
	}
	r, err := query(ctx, "SELECT * FROM system_schema.keyspaces"+where)
	if err != nil {
		return nil, err
	}
	d := &definer{columns: map[[2]string][]Column{}, rows: map[string][]Record{}}
	var keyspaces []Record
	for row := range Records(r) {
		keyspaces = append(keyspaces, row)
	}
	for _, table := range []string{"types", "functions", "aggregates", "tables", "columns", "indexes", "views"} {
		r, err := query.optional(ctx, "SELECT * FROM system_schema."+table+where)
		if err != nil {
			return nil, err
		}
		for row := range Records(r) {
			if table != "columns" {
				d.rows[table] = append(d.rows[table], row)
				continue
			}
			key := [2]string{row.Text("keyspace_name"), row.Text("table_name")}
			d.columns[key] = append(d.columns[key], columnOf(row))
		}
	}
	slices.SortFunc(keyspaces, func(a, b Record) int {
		return strings.Compare(a.Text("keyspace_name"), b.Text("keyspace_name"))
	})
	for _, row := range keyspaces {
		d.keyspace = row.Text("keyspace_name")
		d.addKeyspace(row)
		d.addTypes()
		d.addFunctions()
		d.addTables()
	}
	return d.all, nil
}

// definer collects the definitions of keyspaces.
type definer struct {
	rows     map[string][]Record // of the tables of system_schema
	columns  map[[2]string][]Column
	keyspace string // that is written
	all      []*Definition
}

// of returns the rows of a table of system_schema that belong to the keyspace.
func (d *definer) of(table string) (rows []Record) {
	for _, row := range d.rows[table] {
		if row.Text("keyspace_name") == d.keyspace {
			rows = append(rows, row)
		}
	}
	return rows
}

func (d *definer) append(one Definition) {
	one.Keyspace = d.keyspace
	d.all = append(d.all, &one)
}

// qualified is a name with the keyspace.
func (d *definer) qualified(name string) string {
	return quote.Name(d.keyspace) + "." + quote.Name(name)
}

func (d *definer) addKeyspace(row Record) {
	replication := row.Map("replication")
	if class := replication["class"]; class != "" {
		replication["class"] = strings.TrimPrefix(class, "org.apache.cassandra.locator.")
	}
	durable := true
	if b, _ := row.Value("durable_writes"); b != nil {
		durable = row.True("durable_writes")
	}
	d.append(Definition{Kind: "keyspace", Statement: fmt.Sprintf(
		"CREATE KEYSPACE %s WITH replication = %s  AND durable_writes = %t;", quote.Name(d.keyspace), mapText(replication),
		durable)})
}

// mapText is a map literal.
func mapText(m map[string]string) string {
	var items []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		items = append(items, quote.Text(k)+": "+quote.Text(m[k]))
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// addTypes adds the user-defined types, each after the types of its fields.
func (d *definer) addTypes() {
	rest := d.of("types")
	waits := func(row Record) bool {
		for _, field := range row.Texts("field_types") {
			words := strings.FieldsFunc(field, func(c rune) bool { return strings.ContainsRune("<>, ", c) })
			if slices.ContainsFunc(rest, func(other Record) bool {
				return slices.Contains(words, quote.Name(other.Text("type_name")))
			}) {
				return true
			}
		}
		return false
	}
	for len(rest) > 0 {
		next := max(0, slices.IndexFunc(rest, func(row Record) bool { return !waits(row) }))
		name, types := rest[next].Text("type_name"), rest[next].Texts("field_types")
		var fields []string
		for i, field := range rest[next].Texts("field_names") {
			fields = append(fields, "    "+quote.Name(field)+" "+types[i])
		}
		d.append(Definition{Kind: "type", Name: name, Statement: "CREATE TYPE " + d.qualified(name) + " (\n" +
			strings.Join(fields, ",\n") + "\n);"})
		rest = slices.Delete(rest, next, next+1)
	}
}

// addFunctions adds the user-defined functions and aggregates.
func (d *definer) addFunctions() {
	for _, row := range d.of("functions") {
		name, types := row.Text("function_name"), row.Texts("argument_types")
		var arguments []string
		for i, argument := range row.Texts("argument_names") {
			arguments = append(arguments, quote.Name(argument)+" "+types[i])
		}
		onNull := "RETURNS NULL"
		if row.True("called_on_null_input") {
			onNull = "CALLED"
		}
		d.append(Definition{
			Kind: "function", Name: name, Signature: "(" + strings.Join(types, ", ") + ")",
			Statement: "CREATE FUNCTION " + d.qualified(name) + "(" + strings.Join(arguments, ", ") + ")\n    " + onNull +
				" ON NULL INPUT\n    RETURNS " + row.Text("return_type") + "\n    LANGUAGE " + row.Text("language") +
				"\n    AS $$" + row.Text("body") + "$$;",
		})
	}
	for _, row := range d.of("aggregates") {
		name, signature := row.Text("aggregate_name"), "("+strings.Join(row.Texts("argument_types"), ", ")+")"
		lines := []string{
			"CREATE AGGREGATE " + d.qualified(name) + signature, "SFUNC " + quote.Name(row.Text("state_func")),
			"STYPE " + row.Text("state_type"),
		}
		if final := row.Text("final_func"); final != "" {
			lines = append(lines, "FINALFUNC "+quote.Name(final))
		}
		if initial := row.Text("initcond"); initial != "" {
			lines = append(lines, "INITCOND "+initial)
		}
		d.append(Definition{
			Kind: "aggregate", Name: name, Signature: signature,
			Statement: strings.Join(lines, "\n    ") + ";",
		})
	}
}

// addTables adds the tables, each with its indexes and views.
func (d *definer) addTables() {
	tables, views := d.of("tables"), d.of("views")
	slices.SortStableFunc(tables, func(a, b Record) int {
		return strings.Compare(strings.ToLower(a.Text("table_name")), strings.ToLower(b.Text("table_name")))
	})
	for _, row := range tables {
		name := row.Text("table_name")
		t := &Table{Keyspace: d.keyspace, Name: name, Columns: d.columns[[2]string{d.keyspace, name}]}
		t.sortColumns()
		flags, options := row.Texts("flags"), t.options(row)
		legacy := t.hideLegacyColumns() || len(flags) > 0 && (!slices.Contains(flags, "compound") ||
			slices.Contains(flags, "dense") || slices.Contains(flags, "super"))
		if legacy {
			options = append([]string{"COMPACT STORAGE"}, options...)
		}
		statement := "CREATE TABLE " + d.qualified(name) + " (\n    " + strings.Join(t.lines(legacy), ",\n    ") + "\n)" +
			withClause(options) + ";"
		if legacy {
			statement = "/*\nWarning: Table " + d.qualified(name) + " omitted because it has constructs not compatible with " +
				"CQL (was created via legacy API).\nApproximate structure, for reference:\n(this should not be used to " +
				"reproduce this schema)\n\n" + statement + "\n*/"
		}
		d.append(Definition{Kind: "table", Name: name, Statement: statement})
		for _, index := range d.of("indexes") {
			if index.Text("table_name") == name {
				d.addIndex(index, name)
			}
		}
		for _, view := range views {
			if view.Text("base_table_name") == name {
				d.addView(view, name)
			}
		}
	}
}

func (d *definer) addIndex(row Record, table string) {
	name, options := row.Text("index_name"), row.Map("options")
	custom, using := "", ""
	target, class := options["target"], options["class_name"]
	if class != "" {
		delete(options, "target")
		delete(options, "class_name")
		custom, using = "CUSTOM ", " USING "+quote.Text(class)
		if len(options) > 0 {
			using += " WITH OPTIONS = " + mapText(options)
		}
	}
	d.append(Definition{Kind: "index", Name: name, Table: table, Statement: "CREATE " + custom + "INDEX " +
		quote.Name(name) + " ON " + d.qualified(table) + " (" + target + ")" + using + ";"})
}

func (d *definer) addView(row Record, base string) {
	name := row.Text("view_name")
	t := &Table{Keyspace: d.keyspace, Name: name, Of: base, Columns: d.columns[[2]string{d.keyspace, name}]}
	t.sortColumns()
	selected := "*"
	if !row.True("include_all_columns") {
		selected = t.names(columnKinds...)
	}
	d.append(Definition{Kind: "materialized_view", Name: name, Table: base, Statement: "CREATE MATERIALIZED VIEW " +
		d.qualified(name) + " AS\n    SELECT " + selected + "\n    FROM " + d.qualified(base) + "\n    WHERE " +
		row.Text("where_clause") + "\n    " + t.key() + "\n" + withClause(t.options(row)) + ";"})
}

// names lists the columns of some kinds.
func (t *Table) names(kinds ...string) string {
	var all []string
	for _, kind := range kinds {
		for _, c := range t.OfKind(kind) {
			all = append(all, quote.Name(c.Name))
		}
	}
	return strings.Join(all, ", ")
}

// key is the PRIMARY KEY clause.
func (t *Table) key() string {
	key := t.names("partition_key")
	if len(t.OfKind("partition_key")) > 1 {
		key = "(" + key + ")"
	}
	if clustering := t.names("clustering"); clustering != "" {
		key += ", " + clustering
	}
	return "PRIMARY KEY (" + key + ")"
}

// hideLegacyColumns reports whether the table was created WITH COMPACT STORAGE and without clustering columns. The
// server stores the columns of such a table as static ones, beside two that were not declared.
func (t *Table) hideLegacyColumns() bool {
	if t.names("clustering", "regular") != "column1, value" || t.Column("value").Type != "blob" {
		return false
	}
	t.Columns = append(t.OfKind("partition_key"), t.OfKind("static")...)
	for i := range t.Columns {
		if t.Columns[i].Kind == "static" {
			t.Columns[i].Kind = "regular"
		}
	}
	return true
}

// lines are the definitions in the parentheses of CREATE TABLE. For a legacy table the key comes last, as Cassandra
// prints it.
func (t *Table) lines(legacy bool) (all []string) {
	simple := !legacy && len(t.OfKind("partition_key")) == 1 && len(t.OfKind("clustering")) == 0
	for _, c := range t.Columns {
		line := quote.Name(c.Name) + " " + c.Type
		switch {
		case c.Kind == "static":
			line += " static"
		case c.Kind == "partition_key" && simple:
			line += " PRIMARY KEY"
		}
		all = append(all, line)
	}
	if !simple {
		all = append(all, t.key())
	}
	return all
}

func withClause(options []string) string {
	if len(options) == 0 {
		return ""
	}
	return " WITH " + strings.Join(options, "\n    AND ")
}

// noOption are the columns of system_schema.tables and views that are no options of a statement.
var noOption = map[string]bool{
	"keyspace_name": true, "table_name": true, "view_name": true, "id": true, "flags": true, "extensions": true,
	"base_table_id": true, "base_table_name": true, "include_all_columns": true, "where_clause": true,
}

// options are the items of the WITH clause; row is the table's in system_schema.
func (t *Table) options(row Record) (items []string) {
	var order []string
	for _, c := range t.OfKind("clustering") {
		direction := " ASC"
		if c.Desc {
			direction = " DESC"
		}
		order = append(order, quote.Name(c.Name)+direction)
	}
	if len(order) > 0 {
		items = append(items, "CLUSTERING ORDER BY ("+strings.Join(order, ", ")+")")
	}
	for i, c := range row.r.Columns {
		skip := row.cells[i] == nil || noOption[c.Name]
		switch c.Name {
		case "default_time_to_live":
			skip = skip || t.Of != "" // the cells of a view expire when the base table's do
		case "read_repair_chance", "dclocal_read_repair_chance":
			skip = skip || row.Text("read_repair") != "" // which replaced them, while the columns remained
		}
		if !skip {
			items = append(items, c.Name+" = "+c.Type.Format(row.cells[i]))
		}
	}
	return items
}
