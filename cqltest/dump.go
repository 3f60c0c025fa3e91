package cqltest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/store"
)

// DumpOption adds to a dump of definitions and values, or leaves a part of it out.
type DumpOption uint8

// The options of Dump and Diff.
const (
	DumpTTLs       DumpOption = 1 << iota // the seconds that values have left
	DumpTimestamps                        // the timestamps of values
	DumpNoSchema                          // rows only
	DumpNoRows                            // definitions only
)

// Dump returns all keyspaces, except those of the server, as CQL: their definitions, and a statement or more for each
// row, in an order that does not depend on how they were made. Exec runs a dump, and then a dump of that server is the
// same.
//
// Rows that only UPDATE has written are printed as UPDATE, because they disappear with their last value. Values of no
// length are printed as blob_as_int(0x) and the like, where the type has no literal for them. Rows of materialized
// views and deleted data are not in the dump.
func (s *Server) Dump(t testing.TB, options ...DumpOption) string {
	t.Helper()
	statements, err := s.dump(options)
	if err != nil {
		t.Fatalf("dump the server: %v", err)
	}
	if len(statements) == 0 {
		return ""
	}
	return strings.Join(statements, "\n") + "\n"
}

// Diff returns how the dump of another server differs from that of this one: a line with - for each statement that the
// other dump lacks, and one with + for each statement that only the other has. It is empty if there is no difference.
func (s *Server) Diff(t testing.TB, other *Server, options ...DumpOption) string {
	t.Helper()
	a, err := s.dump(options)
	if err != nil {
		t.Fatalf("dump the server: %v", err)
	}
	b, err := other.dump(options)
	if err != nil {
		t.Fatalf("dump the other server: %v", err)
	}
	var out strings.Builder
	write := func(sign string, statements []string, except []string) {
		left := map[string]int{}
		for _, text := range except {
			left[text]++
		}
		for _, text := range statements {
			if left[text]--; left[text] < 0 {
				out.WriteString(sign + " " + text + "\n")
			}
		}
	}
	write("-", a, b)
	write("+", b, a)
	return out.String()
}

// dumper writes the rows of one server.
type dumper struct {
	store   *store.Store
	now     int64
	options DumpOption
	out     []string
}

func (s *Server) dump(options []DumpOption) ([]string, error) {
	d := &dumper{store: s.store, now: s.Clock().Now().Unix()}
	for _, o := range options {
		d.options |= o
	}
	if d.options&DumpNoSchema == 0 {
		var err error
		if d.out, err = s.definitions(); err != nil {
			return nil, err
		}
	}
	if d.options&DumpNoRows != 0 {
		return d.out, nil
	}
	for _, k := range s.store.Catalog().Keyspaces() {
		if schema.IsSystem(k.Name) || k.Virtual {
			continue
		}
		for _, t := range k.SortedTables() {
			if err := d.table(t); err != nil {
				return nil, fmt.Errorf("table %s.%s: %w", t.Keyspace, t.Name, err)
			}
		}
	}
	return d.out, nil
}

// definitions are the statements that DESCRIBE gives.
func (s *Server) definitions() (all []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), setupTime)
	defer cancel()
	err = s.setup.use(ctx, s.Addr(), s.setupOptions, func(c *client.Conn) error {
		r, err := c.Query(ctx, "DESCRIBE SCHEMA", nil, nil)
		if err != nil {
			return err
		}
		for _, row := range r.Rows { // keyspace_name, type, name, create_statement
			all = append(all, statementOf(string(row[3])))
		}
		return nil
	})
	return all, err
}

// statementOf takes the statement out of the comment that DESCRIBE makes of some tables WITH COMPACT STORAGE.
func statementOf(described string) string {
	at := strings.Index(described, "CREATE ")
	if !strings.HasPrefix(described, "/*") || at < 0 {
		return described
	}
	text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(described[at:]), "*/"))
	if !strings.Contains(text, "\n    column1 ") { // it has no such column that statements may name
		text = strings.Replace(text, "CLUSTERING ORDER BY (column1 ASC)\n    AND ", "", 1)
	}
	return text
}

// table writes the rows of a table.
func (d *dumper) table(t *schema.Table) error {
	read := &store.Read{Table: t, Now: d.now, Meta: true}
	return d.store.Read(context.Background(), read, func(r *store.Row) (bool, error) {
		d.row(t, r)
		return true, nil
	})
}

// usage is a USING clause.
type usage struct{ timestamp, ttl int64 }

// using is the usage that gives a value its timestamp and the seconds that it has left.
func (d *dumper) using(t *schema.Table, timestamp, expiresAt int64) (u usage) {
	if d.options&DumpTimestamps != 0 {
		u.timestamp = timestamp
	}
	switch {
	case d.options&DumpTTLs == 0:
	case expiresAt != 0:
		u.ttl = expiresAt - d.now
	case t.Options.DefaultTimeToLive > 0:
		u.ttl = forEver
	}
	return u
}

// forEver is the TTL of a value without one in a table whose values have one otherwise: it is written as 0.
const forEver = -1

// String is the clause, with a space before it.
func (u usage) String() string {
	var parts []string
	if u.timestamp != 0 {
		parts = append(parts, fmt.Sprintf("TIMESTAMP %d", u.timestamp))
	}
	if u.ttl != 0 {
		parts = append(parts, fmt.Sprintf("TTL %d", max(u.ttl, 0)))
	}
	if len(parts) == 0 {
		return ""
	}
	return " USING " + strings.Join(parts, " AND ")
}

// assigned is a column with its value.
type assigned struct {
	column *schema.Column
	value  string
}

// row writes the statements of a row.
func (d *dumper) row(t *schema.Table, r *store.Row) {
	kind := schema.Regular
	if r.Static {
		kind = schema.Static
	}
	values := map[usage][]assigned{}
	var parts []string // statements for elements
	for _, c := range t.Shown() {
		v := r.Values[c.Index]
		if c.Kind != kind || v == nil {
			continue
		}
		if t.Counter {
			parts = append(parts, d.update(t, r, usage{}, quote.Name(c.Name)+" = "+quote.Name(c.Name)+" + "+c.Type.Format(v)))
			continue
		}
		meta := &r.Meta[c.Index]
		u, same := d.usingOf(t, meta)
		if !same {
			parts = append(parts, d.elements(t, r, c, v, meta)...)
			continue
		}
		values[u] = append(values[u], assigned{c, literal(c.Type, v)})
	}
	inserted := r.Marked && !r.Static || t.Compact != schema.NotCompact && !t.Counter
	if inserted {
		u := d.using(t, r.Marker.Timestamp, r.Marker.ExpiresAt)
		if !r.Marked {
			u = usage{} // rows WITH COMPACT STORAGE have no markers
			if all := slices.SortedFunc(maps.Keys(values), usage.compare); len(all) > 0 {
				u = all[0]
			}
		}
		d.out = append(d.out, d.insert(t, r, u, values[u]))
		delete(values, u)
	}
	for _, u := range slices.SortedFunc(maps.Keys(values), usage.compare) {
		var sets []string
		for _, a := range values[u] {
			sets = append(sets, quote.Name(a.column.Name)+" = "+a.value)
		}
		d.out = append(d.out, d.update(t, r, u, strings.Join(sets, ", ")))
	}
	d.out = append(d.out, parts...)
}

func (u usage) compare(v usage) int {
	return cmp.Or(cmp.Compare(u.timestamp, v.timestamp), cmp.Compare(u.ttl, v.ttl))
}

// usingOf is the usage of a value, and whether all its elements have the same.
func (d *dumper) usingOf(t *schema.Table, m *store.CellMeta) (u usage, same bool) {
	u, same = d.using(t, m.Timestamp, m.ExpiresAt), true
	first := true
	for _, p := range m.Parts {
		if p.Name == nil {
			continue
		}
		v := d.using(t, p.Timestamp, p.ExpiresAt)
		if first {
			u, first = v, false
		}
		same = same && u == v
	}
	return u, same
}

// elements writes the elements of a collection, or the fields of a user type, each with the usage that it has.
func (d *dumper) elements(t *schema.Table, r *store.Row, c *schema.Column, v []byte, m *store.CellMeta) (all []string) {
	name := quote.Name(c.Name)
	using := func(i int) usage { return d.using(t, m.Parts[i].Timestamp, m.Parts[i].ExpiresAt) }
	i := 0
	switch typ := c.Type.(type) {
	case *types.List:
		for e := range types.Elements(v) {
			all = append(all, d.update(t, r, using(i), fmt.Sprintf("%s = %s + [%s]", name, name, literal(typ.Elem, e))))
			i++
		}
	case *types.Set:
		for e := range types.Elements(v) {
			all = append(all, d.update(t, r, using(i), fmt.Sprintf("%s = %s + {%s}", name, name, literal(typ.Elem, e))))
			i++
		}
	case *types.Map:
		for k, e := range types.Entries(v) {
			set := fmt.Sprintf("%s[%s] = %s", name, literal(typ.Key, k), literal(typ.Value, e))
			all = append(all, d.update(t, r, using(i), set))
			i++
		}
	case *types.UserType:
		for i, e := range types.TupleFields(v, len(typ.Fields)) {
			if e != nil {
				set := fmt.Sprintf("%s.%s = %s", name, quote.Name(typ.Fields[i].Name), literal(typ.Fields[i].Type, e))
				all = append(all, d.update(t, r, using(i), set))
			}
		}
	}
	return all
}

// keys are the key columns of a row that a statement names, with their values.
func keys(t *schema.Table, r *store.Row) (all []assigned) {
	for _, c := range t.Shown() {
		if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering && !r.Static {
			if v := r.Values[c.Index]; v != nil {
				all = append(all, assigned{c, literal(c.Type, v)})
			}
		}
	}
	return all
}

func (d *dumper) insert(t *schema.Table, r *store.Row, u usage, values []assigned) string {
	var names, literals []string
	for _, a := range append(keys(t, r), values...) {
		names, literals = append(names, quote.Name(a.column.Name)), append(literals, a.value)
	}
	return fmt.Sprintf("INSERT INTO %s.%s (%s) VALUES (%s)%s;", quote.Name(t.Keyspace), quote.Name(t.Name),
		strings.Join(names, ", "), strings.Join(literals, ", "), u)
}

func (d *dumper) update(t *schema.Table, r *store.Row, u usage, sets string) string {
	var where []string
	for _, a := range keys(t, r) {
		where = append(where, quote.Name(a.column.Name)+" = "+a.value)
	}
	return fmt.Sprintf("UPDATE %s.%s%s SET %s WHERE %s;", quote.Name(t.Keyspace), quote.Name(t.Name), u, sets,
		strings.Join(where, " AND "))
}

// literal prints a value so that a statement with it writes the same bytes.
func literal(t types.Type, b []byte) string {
	if b == nil {
		return "null"
	}
	var parts []string
	switch t := t.(type) {
	case *types.List:
		for e := range types.Elements(b) {
			parts = append(parts, literal(t.Elem, e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *types.Set:
		for e := range types.Elements(b) {
			parts = append(parts, literal(t.Elem, e))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *types.Map:
		for k, v := range types.Entries(b) {
			parts = append(parts, literal(t.Key, k)+": "+literal(t.Value, v))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *types.Tuple:
		for i, e := range types.TupleFields(b, len(t.Elems)) {
			parts = append(parts, literal(t.Elems[i], e))
		}
		return "(" + strings.Join(parts, ", ") + ")"
	case *types.UserType:
		for i, e := range types.TupleFields(b, len(t.Fields)) {
			parts = append(parts, quote.Name(t.Fields[i].Name)+": "+literal(t.Fields[i].Type, e))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *types.Vector:
		for e := range types.VectorElements(t, b) {
			parts = append(parts, literal(t.Elem, e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalar(t, b)
}

// scalar is literal for a value without others in it. A value that the type's literal would not give back, such as
// one of no length or a time before our era, is made of its bytes.
func scalar(t types.Type, b []byte) string {
	text := t.Format(b)
	kind := types.StringLiteral
	switch {
	case strings.HasPrefix(text, "0x"):
		kind = types.HexLiteral
	case strings.HasPrefix(text, "'"):
		text = strings.ReplaceAll(text[1:len(text)-1], "''", "'")
	case t == types.Boolean:
		kind = types.BooleanLiteral
	case t == types.UUID || t == types.TimeUUID:
		kind = types.UUIDLiteral
	case t == types.Duration:
		kind = types.DurationLiteral
	case t == types.Float || t == types.Double || t == types.Decimal:
		kind = types.FloatLiteral
	default:
		kind = types.IntegerLiteral
	}
	again, err := t.ParseLiteral(kind, text)
	large := t == types.Decimal && strings.Contains(text, "E") // statements take it for a double first
	if err == nil && string(again) == string(b) && !large {
		return t.Format(b)
	}
	return fmt.Sprintf("blob_as_%s(0x%x)", t, b)
}
