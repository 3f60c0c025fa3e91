package advise

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/protocol/client/model"
)

// proposal is a table that serves a query better.
type proposal struct {
	keyspace, name        string
	partition, clustering []model.Column
	others                []model.Column
	options               []string
}

// String is the statement that creates the table.
func (p *proposal) String() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + quote.Name(p.keyspace) + "." + quote.Name(p.name) + " (\n")
	for _, c := range slices.Concat(p.partition, p.clustering, p.others) {
		b.WriteString("  " + quote.Name(c.Name) + " " + c.Type + ",\n")
	}
	key := columnNames(p.partition)
	if len(p.partition) > 1 {
		key = "(" + key + ")"
	}
	for _, c := range p.clustering {
		key += ", " + quote.Name(c.Name)
	}
	b.WriteString("  PRIMARY KEY (" + key + ")\n)")
	options := p.options
	if slices.ContainsFunc(p.clustering, func(c model.Column) bool { return c.Desc }) {
		var order []string
		for _, c := range p.clustering {
			order = append(order, quote.Name(c.Name)+map[bool]string{false: " ASC", true: " DESC"}[c.Desc])
		}
		options = append([]string{"CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")"}, options...)
	}
	if len(options) > 0 {
		b.WriteString(" WITH " + strings.Join(options, "\n  AND "))
	}
	return b.String() + ";"
}

// columnNames are names as CQL with commas between them.
func columnNames(columns []model.Column) string {
	var all []string
	for _, c := range columns {
		all = append(all, quote.Name(c.Name))
	}
	return strings.Join(all, ", ")
}

// cql is the statement, or "" if a table of this name exists or the columns cannot make a table.
func (l *look) cql(p *proposal) string {
	if p == nil || l.table(p.keyspace+"."+p.name) != nil || len(p.name) > 48 {
		return ""
	}
	seen := map[string]bool{}
	for _, c := range slices.Concat(p.partition, p.clustering, p.others) {
		if seen[c.Name] || c.Type == "counter" {
			return ""
		}
		seen[c.Name] = true
	}
	for _, c := range slices.Concat(p.partition, p.clustering) {
		if isCollection(c.Type) || strings.Contains(c.Type, "duration") || strings.Contains(c.Type, "empty") {
			return ""
		}
	}
	return p.String()
}

// without returns the columns whose names are not among others.
func without(columns []model.Column, others ...[]model.Column) (all []model.Column) {
	for _, c := range columns {
		if !contains(slices.Concat(others...), c.Name) {
			all = append(all, c)
		}
	}
	return all
}

func contains(columns []model.Column, name string) bool {
	return slices.ContainsFunc(columns, func(c model.Column) bool { return c.Name == name })
}

// tableForQuery proposes a table for a query. Columns that are compared for equality are its partition key; columns of
// ranges, of the order, and of the table's primary key are its clustering columns. It returns nil if only columns of
// the partition key are compared for equality.
func tableForQuery(q *cql.Select, t *Table) *proposal {
	p := &proposal{keyspace: t.Keyspace}
	var ranges []model.Column
	var names []string
	for i := range q.Where {
		r := &q.Where[i]
		if r.Token || r.Tuple || r.Key != nil || len(r.Columns) != 1 {
			return nil
		}
		c := t.Column(r.Columns[0].Name)
		if c == nil || contains(p.partition, c.Name) || contains(ranges, c.Name) {
			continue
		}
		switch r.Op {
		case cql.Eq, cql.In:
			p.partition = append(p.partition, *c)
			if c.Kind != "partition_key" {
				names = append(names, c.Name)
			}
		case cql.Contains, cql.ContainsKey:
			e, ok := element(t, *c, r.Op)
			if !ok {
				return nil
			}
			p.partition = append(p.partition, e)
			names = append(names, e.Name)
		case cql.Less, cql.LessEq, cql.Greater, cql.GreaterEq:
			ranges = append(ranges, *c)
		default:
			return nil
		}
	}
	if len(names) == 0 {
		return nil
	}
	p.name = t.Name + "_by_" + strings.Join(names, "_and_")
	if len(p.name) > 48 {
		p.name = t.Name + "_by_" + names[0]
	}
	if !slices.ContainsFunc(p.partition, func(c model.Column) bool { return c.Type != "boolean" }) {
		p.partition = append(p.partition, free(t, "bucket", "int")) // two partitions would have all rows
	}
	p.clustering = ranges
	for _, o := range q.OrderBy {
		c := t.Column(o.Column.Name)
		if c == nil || o.AnnOf != nil || contains(p.clustering, c.Name) || contains(p.partition, c.Name) {
			continue
		}
		ordered := *c
		ordered.Desc = o.Desc
		p.clustering = append(p.clustering, ordered)
	}
	keys := slices.Concat(t.OfKind("clustering"), t.OfKind("partition_key"))
	p.clustering = append(p.clustering, without(keys, p.partition, p.clustering)...)
	p.others = without(selected(q, t), p.partition, p.clustering)
	return p
}

// element is the column of a table with one row for each element of a collection.
func element(t *Table, c model.Column, op cql.Operator) (model.Column, bool) {
	typ := c.Type
	if baseType(typ) == "frozen" {
		typ = elementTypes(typ)[0]
	}
	params := elementTypes(typ)
	if !isCollection(typ) || len(params) == 0 {
		return c, false
	}
	at := len(params) - 1
	if op == cql.ContainsKey {
		at = 0
	}
	name := strings.TrimSuffix(c.Name, "s")
	if t.Column(name) != nil {
		name = c.Name + "_element"
	}
	return model.Column{Name: name, Type: params[at]}, true
}

// free is a column with a name that the table does not have.
func free(t *Table, name, typ string) model.Column {
	for t.Column(name) != nil {
		name += "_of_row"
	}
	return model.Column{Name: name, Type: typ}
}

// selected are the columns that a query returns: all of them unless it names columns only.
func selected(q *cql.Select, t *Table) (all []model.Column) {
	for _, s := range q.Selectors {
		ref, ok := s.Expr.(*cql.ColumnRef)
		if !ok {
			return t.Columns
		}
		if c := t.Column(ref.Name); c != nil && !contains(all, c.Name) {
			all = append(all, *c)
		}
	}
	if len(q.Selectors) == 0 {
		return t.Columns
	}
	return all
}

// withBucket proposes the table with one more column in its partition key.
func withBucket(t *Table, suffix, name, typ string) *proposal {
	p := &proposal{
		keyspace: t.Keyspace, name: t.Name + suffix, clustering: t.OfKind("clustering"),
		partition: append(t.OfKind("partition_key"), free(t, name, typ)),
	}
	p.others = without(t.Columns, p.partition, p.clustering)
	return p
}
