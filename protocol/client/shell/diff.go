package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/protocol/client/model"
)

// definition is a statement that defines something.
type definition struct {
	kind      string // KEYSPACE, TYPE, TABLE, INDEX, MATERIALIZED VIEW, FUNCTION or AGGREGATE
	keyspace  string
	name      string // with the keyspace, as statements have it
	statement string // without semicolon
	parsed    cql.Statement
}

// key identifies the object that is defined.
func (d *definition) key() string { return d.kind + " " + d.name }

// definitions are all definitions of a schema, in order.
type definitions []*definition

// find returns the definition with a key, or nil.
func (all definitions) find(key string) *definition {
	for _, d := range all {
		if d.key() == key {
			return d
		}
	}
	return nil
}

// keyspaces are the keyspaces in which something is defined.
func (all definitions) keyspaces() map[string]bool {
	names := map[string]bool{}
	for _, d := range all {
		names[d.keyspace] = true
	}
	return names
}

// readDefinitions finds the definitions in a text. Other statements than definitions and USE are errors, since they
// might change them.
func readDefinitions(script string) (all definitions, err error) {
	keyspace := ""
	for _, piece := range parser.Split(script) {
		parsed, _, err := parser.Parse(piece.Text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", piece.Line, err)
		}
		if use, ok := parsed.(*cql.Use); ok {
			keyspace = use.Keyspace
			continue
		}
		d := &definition{parsed: parsed}
		if k, ok := parsed.(*cql.CreateKeyspace); ok {
			k.IfNotExists = false
			d.kind, d.keyspace, d.name, d.statement = "KEYSPACE", k.Name, quote.Name(k.Name), k.String()
			all = append(all, d)
			continue
		}
		name := d.qualified()
		if name == nil {
			return nil, fmt.Errorf("line %d defines nothing: %s", piece.Line, firstWords(piece.Text))
		}
		if name.Keyspace == "" {
			name.Keyspace = keyspace
		}
		if name.Keyspace == "" {
			return nil, fmt.Errorf("line %d names no keyspace, and there is no USE before it", piece.Line)
		}
		d.keyspace, d.name, d.statement = name.Keyspace, name.String(), parsed.(fmt.Stringer).String()
		if i, ok := parsed.(*cql.CreateIndex); ok {
			index := cql.QualifiedName{Keyspace: name.Keyspace, Name: i.Name}
			if index.Name == "" && len(i.Targets) > 0 {
				index.Name = i.Table.Name + "_" + i.Targets[0].Column + "_idx"
			}
			d.name = index.String()
		}
		all = append(all, d)
	}
	return all, nil
}

// qualified sets the kind, and returns the name in the syntax tree; that of the table for an index. It returns nil if
// the statement defines nothing.
func (d *definition) qualified() *cql.QualifiedName {
	switch p := d.parsed.(type) {
	case *cql.CreateType:
		d.kind, p.IfNotExists = "TYPE", false
		return &p.Type
	case *cql.CreateTable:
		d.kind, p.IfNotExists = "TABLE", false
		return &p.Table
	case *cql.CreateView:
		d.kind, p.IfNotExists = "MATERIALIZED VIEW", false
		return &p.View
	case *cql.CreateFunction:
		d.kind, p.IfNotExists, p.OrReplace = "FUNCTION", false, false
		return &p.Function
	case *cql.CreateAggregate:
		d.kind, p.IfNotExists, p.OrReplace = "AGGREGATE", false, false
		return &p.Function
	case *cql.CreateIndex:
		d.kind, p.IfNotExists = "INDEX", false
		return &p.Table
	}
	return nil
}

// firstWords is the beginning of a statement.
func firstWords(statement string) string {
	words := strings.Fields(statement)
	return strings.Join(words[:min(3, len(words))], " ")
}

// diffCommand prints the CQL that turns the schema of this server into that of a file, or of another server.
func (s *Session) diffCommand(ctx context.Context, rest string) error {
	if rest == "" {
		return shown(`\diff needs a FILE, or the address of a server.`)
	}
	mine, err := s.ownDefinitions(ctx)
	if err != nil {
		return err
	}
	path := expandPath(strings.Trim(rest, "'"))
	var wanted definitions
	if info, failed := os.Stat(path); failed == nil && info.Mode().IsRegular() {
		script, err := cqlfiles.ReadFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
		if err != nil {
			return err
		}
		if wanted, err = readDefinitions(script.Text); err != nil {
			return shownf("%s: %s", path, err)
		}
		own := wanted.keyspaces() // a file says nothing about other keyspaces
		mine = slices.DeleteFunc(mine, func(d *definition) bool { return !own[d.keyspace] })
	} else {
		o := s.o
		o.Addr, o.Keyspace = rest, ""
		if !strings.Contains(rest, ":") {
			o.Addr += ":9042"
		}
		other, err := Start(ctx, o)
		if err != nil {
			return shownf("%s is no file, and no server: %v", rest, err)
		}
		defer other.close()
		if wanted, err = other.ownDefinitions(ctx); err != nil {
			return err
		}
	}
	changes := difference(mine, wanted)
	for _, c := range changes {
		fmt.Fprintln(s.out, c)
	}
	if len(changes) == 0 {
		s.print("The schemas are equal.\n")
	}
	return nil
}

// ownDefinitions reads the schema of the server.
func (s *Session) ownDefinitions(ctx context.Context) (definitions, error) {
	r, err := s.describe(ctx, arguments{tokens: []token{{kind: word, text: "SCHEMA"}}, whole: "DESCRIBE SCHEMA"})
	if e, ok := cqlerr.As(err); ok {
		return nil, shownf("the server describes no schema: %s", e.Message)
	}
	if err != nil {
		return nil, err
	}
	var script strings.Builder
	for row := range model.Records(r) {
		script.WriteString(strings.TrimRight(row.Text("create_statement"), "; \n") + ";\n")
	}
	all, err := readDefinitions(script.String())
	if err != nil {
		return nil, errors.New("DESCRIBE SCHEMA: " + err.Error())
	}
	return all, nil
}

// difference returns the statements that turn one schema into another. What no statement can change is a comment.
func difference(from, to definitions) (changes []string) {
	dropped := map[string]bool{} // keyspaces and tables, with everything in them
	for _, d := range from {
		if to.find(d.key()) == nil && (d.kind == "KEYSPACE" || d.kind == "TABLE") {
			dropped[d.kind+" "+d.name] = true
		}
	}
	for _, d := range slices.Backward(from) {
		inside := d.kind != "KEYSPACE" && dropped["KEYSPACE "+quote.Name(d.keyspace)]
		if i, ok := d.parsed.(*cql.CreateIndex); ok && dropped["TABLE "+i.Table.String()] {
			inside = true
		}
		if to.find(d.key()) == nil && !inside {
			changes = append(changes, "DROP "+d.kind+" "+d.name+";")
		}
	}
	for _, want := range to {
		have := from.find(want.key())
		if have == nil {
			changes = append(changes, want.statement+";")
			continue
		}
		changes = append(changes, alter(have, want)...)
	}
	return changes
}

// alter returns the statements that turn a definition into another one of the same name.
func alter(have, want *definition) (changes []string) {
	again := []string{"DROP " + want.kind + " " + want.name + ";", want.statement + ";"}
	switch w := want.parsed.(type) {
	case *cql.CreateKeyspace:
		h := have.parsed.(*cql.CreateKeyspace) // since the kinds are equal, here and below
		return alterOptions(want, h.Properties, w.Properties)
	case *cql.CreateTable:
		return alterTable(want, have.parsed.(*cql.CreateTable), w)
	case *cql.CreateType:
		return alterType(want, have.parsed.(*cql.CreateType), w)
	case *cql.CreateView:
		h := have.parsed.(*cql.CreateView)
		before, after := *h, *w
		before.Properties, after.Properties = nil, nil
		if normal(before.String()) != normal(after.String()) {
			return again
		}
		return alterOptions(want, h.Properties, w.Properties)
	case *cql.CreateIndex:
		h := have.parsed.(*cql.CreateIndex)
		same := len(h.Targets) == len(w.Targets) && (h.Using == nil) == (w.Using == nil) &&
			len(alterOptions(want, h.Properties, w.Properties)) == 0
		for i := range min(len(h.Targets), len(w.Targets)) {
			same = same && h.Targets[i].Column == w.Targets[i].Column && h.Targets[i].Kind == w.Targets[i].Kind
		}
		if h.Using != nil && w.Using != nil {
			same = same && normal(*h.Using) == normal(*w.Using)
		}
		if !same {
			return again
		}
		return nil
	}
	if normal(have.statement) != normal(want.statement) {
		return again
	}
	return nil
}

// alterOptions returns the ALTER for options that are wanted with another value.
func alterOptions(want *definition, from, to []cql.Property) []string {
	values := map[string]string{}
	for _, p := range from {
		values[p.Name] = normal(p.String())
	}
	var parts []string
	for _, p := range to {
		if p.Name != "id" && values[p.Name] != normal(p.String()) {
			parts = append(parts, p.String())
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"ALTER " + want.kind + " " + want.name + " WITH " + strings.Join(parts, " AND ") + ";"}
}

var (
	spaces   = regexp.MustCompile(`[\s'"]+`)
	packages = regexp.MustCompile(`org\.apache\.cassandra\.[a-z.]*`)
)

// normal is a text in which spaces, quotes, the order of a map and the packages of classes make no difference.
func normal(s string) string {
	s = packages.ReplaceAllString(spaces.ReplaceAllString(s, ""), "")
	name, items, ok := strings.Cut(s, "={")
	if !ok || !strings.HasSuffix(items, "}") {
		return strings.ToLower(s)
	}
	parts := strings.Split(items[:len(items)-1], ",")
	slices.Sort(parts)
	return name + "={" + strings.Join(parts, ",") + "}"
}

// typeText is a type of a keyspace in a form that can be compared.
func typeText(t cql.TypeName, keyspace string) string {
	text := strings.ReplaceAll(t.String(), "varchar", "text")
	return strings.ReplaceAll(text, quote.Name(keyspace)+".", "")
}

func alterTable(want *definition, h, w *cql.CreateTable) (changes []string) {
	if !slices.Equal(keyOf(h), keyOf(w)) {
		return []string{"-- " + want.name + ": the primary keys differ, so the table has to be dropped and created " +
			"again"}
	}
	find := func(t *cql.CreateTable, name string) *cql.ColumnDefinition {
		for i := range t.Columns {
			if t.Columns[i].Name == name {
				return &t.Columns[i]
			}
		}
		return nil
	}
	for _, c := range h.Columns {
		if find(w, c.Name) == nil {
			changes = append(changes, "ALTER TABLE "+want.name+" DROP "+quote.Name(c.Name)+";")
		}
	}
	for _, c := range w.Columns {
		was := find(h, c.Name)
		switch {
		case was == nil:
			changes = append(changes, "ALTER TABLE "+want.name+" ADD "+c.String()+";")
		case typeText(was.Type, want.keyspace) != typeText(c.Type, want.keyspace) || was.Static != c.Static:
			changes = append(changes, fmt.Sprintf("-- %s: the column %s is wanted as %s, but is %s", want.name,
				quote.Name(c.Name),
				c.Type, was.Type))
		}
	}
	return append(changes, alterOptions(want, h.Properties, w.Properties)...)
}

// keyOf lists the primary key and the order of a table.
func keyOf(t *cql.CreateTable) (all []string) {
	for _, c := range t.Columns {
		if c.PrimaryKey {
			all = append(all, "("+c.Name+")")
		}
	}
	for _, k := range t.PrimaryKeys {
		all = append(all, "("+strings.Join(k.Partition, ",")+")")
		all = append(all, k.Clustering...)
	}
	for _, o := range t.Order {
		if o.Desc {
			all = append(all, o.Column+" desc")
		}
	}
	return all
}

func alterType(want *definition, h, w *cql.CreateType) (changes []string) {
	for i, f := range w.Fields {
		switch {
		case i >= len(h.Fields):
			changes = append(changes, "ALTER TYPE "+want.name+" ADD "+f.String()+";")
		case h.Fields[i].Name != f.Name, typeText(h.Fields[i].Type, want.keyspace) != typeText(f.Type, want.keyspace):
			return []string{"-- " + want.name + ": the field " + quote.Name(f.Name) +
				" differs, which no statement can change"}
		}
	}
	if len(h.Fields) > len(w.Fields) {
		return []string{"-- " + want.name + ": it has fields that are not wanted, which no statement can remove"}
	}
	return changes
}
