package shell

import (
	"context"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// tableInfo is a table or view, as the tables of system_schema have it.
type tableInfo struct {
	name    string
	of      string // the base table of a view, or ""
	columns []columnInfo
}

// columnInfo is a column of a table.
type columnInfo struct {
	name, kind, typ string
	position        int64
	desc            bool
	index           string // its name, or ""
	indexKind       string // KEYS, COMPOSITES or the class
}

// columnKinds are the kinds of columns, in the order in which a table shows them.
var columnKinds = []string{"partition_key", "clustering", "static", "regular"}

// of returns the columns of a kind, in order.
func (t *tableInfo) ofKind(kind string) (all []columnInfo) {
	for _, c := range t.columns {
		if c.kind == kind {
			all = append(all, c)
		}
	}
	return all
}

// column returns a column, or nil.
func (t *tableInfo) column(name string) *columnInfo {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	return nil
}

// readTables reads the tables and views of a keyspace, or one of them if table is not empty.
func (s *Session) readTables(ctx context.Context, keyspace, table string) (all []*tableInfo, err error) {
	where := " WHERE keyspace_name = " + quote.Text(keyspace)
	only := ""
	if table != "" {
		only = " AND table_name = " + quote.Text(table)
	}
	r, err := s.all(ctx, "SELECT * FROM system_schema.columns"+where+only)
	if err != nil {
		return nil, err
	}
	byName := map[string]*tableInfo{}
	for row := range records(r) {
		name := row.text("table_name")
		t := byName[name]
		if t == nil {
			t = &tableInfo{name: name}
			byName[name], all = t, append(all, t)
		}
		t.columns = append(t.columns, columnInfo{
			name: row.text("column_name"), kind: row.text("kind"), typ: row.text("type"),
			position: row.number("position"),
			desc:     row.text("clustering_order") == "desc",
		})
	}
	for _, t := range all {
		slices.SortStableFunc(t.columns, func(a, b columnInfo) int {
			if d := slices.Index(columnKinds, a.kind) - slices.Index(columnKinds, b.kind); d != 0 {
				return d
			}
			return int(a.position - b.position)
		})
	}
	r, err = s.all(ctx, "SELECT * FROM system_schema.indexes"+where+only)
	if _, fromServer := cqlerr.As(err); err != nil && !fromServer {
		return nil, err
	}
	for row := range records(orEmpty(r)) {
		options := map[string]string{}
		if b, _ := row.value("options"); b != nil {
			for k, v := range types.Entries(b) {
				options[string(k)] = string(v)
			}
		}
		target := strings.TrimSuffix(options["target"], ")")
		target = strings.Trim(target[strings.IndexByte(target, '(')+1:], `"`)
		if t := byName[row.text("table_name")]; t != nil && t.column(target) != nil {
			c := t.column(target)
			c.index, c.indexKind = row.text("index_name"), row.text("kind")
			if class := options["class_name"]; class != "" {
				c.indexKind = class[strings.LastIndexByte(class, '.')+1:]
			}
		}
	}
	r, err = s.all(ctx, "SELECT keyspace_name, view_name, base_table_name FROM system_schema.views"+where)
	if _, fromServer := cqlerr.As(err); err != nil && !fromServer {
		return nil, err
	}
	for row := range records(orEmpty(r)) {
		if t := byName[row.text("view_name")]; t != nil {
			t.of = row.text("base_table_name")
		}
	}
	return all, nil
}

// diagramCommand draws the tables of a keyspace as boxes.
func (s *Session) diagramCommand(ctx context.Context, rest string) error {
	keyspace := s.keyspace
	if rest != "" {
		tokens, err := lex(rest)
		if err != nil || len(tokens) != 1 || !tokens[0].isName() {
			return shown(`\diagram takes the name of a keyspace.`)
		}
		keyspace = tokens[0].identifier()
	}
	if keyspace == "" {
		return shown(`\diagram needs the name of a keyspace: none is in use.`)
	}
	tables, err := s.readTables(ctx, keyspace, "")
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return shownf("There is no table in the keyspace %s.", keyspace)
	}
	for _, t := range tables {
		s.print("%s\n", box(t))
	}
	s.print("K: partition key, C: clustering, S: static\n")
	return nil
}

// box draws a table.
//
//	┌ hotels ──────────┐
//	│ K  city  text    │
//	│ C  id    int     │
//	│    name  text    │
//	└──────────────────┘
func box(t *tableInfo) string {
	title := t.name
	if t.of != "" {
		title += " (view of " + t.of + ")"
	}
	names, kinds := 0, map[string]string{"partition_key": "K", "clustering": "C", "static": "S", "regular": " "}
	for _, c := range t.columns {
		names = max(names, textWidth(c.name))
	}
	var lines []string
	width := textWidth(title) + 1
	for _, c := range t.columns {
		line := kinds[c.kind] + "  " + c.name + strings.Repeat(" ", names-textWidth(c.name)) + "  " + c.typ
		if c.desc {
			line += " desc"
		}
		if c.index != "" {
			line += "  ← " + c.index
		}
		lines, width = append(lines, line), max(width, textWidth(line))
	}
	var b strings.Builder
	b.WriteString("┌ " + title + " " + strings.Repeat("─", width-textWidth(title)) + "┐\n")
	for _, line := range lines {
		b.WriteString("│ " + line + strings.Repeat(" ", width-textWidth(line)) + " │\n")
	}
	b.WriteString("└" + strings.Repeat("─", width+2) + "┘\n")
	return b.String()
}
