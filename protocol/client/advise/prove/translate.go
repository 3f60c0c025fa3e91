package prove

import (
	"regexp"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client/model"
)

// ofCells matches functions whose results a copy of a row changes.
var ofCells = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(writetime|maxwritetime|ttl)\(`)
})

// translateSelect returns the query of the proposed table, or the reason why there is none. The server refuses queries
// that its columns and keys do not allow.
func (p *prover) translateSelect(q *cql.Select) (as *cql.Select, reason string) {
	translated := *q
	translated.Table, translated.AllowFiltering = named(p.new), false
	if len(q.Selectors) == 0 && !q.JSON {
		for _, c := range p.old.Columns {
			translated.Selectors = append(translated.Selectors, cql.Selector{Expr: &cql.ColumnRef{Name: c.Name}})
		}
	}
	switch {
	case q.JSON:
		return nil, "the tables have other JSON, because the order of their columns differs"
	case slices.ContainsFunc(q.Where, func(r cql.Relation) bool { return r.Token }):
		return nil, "it reads a range of tokens, and rows have other tokens in the proposed table"
	case p.bucket != nil && !gives(q.Where, p.bucket.column.Name):
		return nil, "it gives no " + p.bucket.column.Name + ": the application has to read one " + p.bucket.column.Name +
			" after the other"
	}
	for _, s := range q.Selectors {
		if ofCells().MatchString(s.Expr.String()) {
			return nil, "it returns times of writes, which copied rows do not have"
		}
	}
	return &translated, ""
}

// gives reports whether relations compare a column for equality.
func gives(where []cql.Relation, name string) bool {
	return slices.ContainsFunc(where, func(r cql.Relation) bool { return equals(r) && r.Columns[0].Name == name })
}

// equals reports whether a relation is column = value.
func equals(r cql.Relation) bool {
	return r.Op == cql.Eq && !r.Token && !r.Tuple && r.Key == nil && len(r.Columns) == 1
}

// translateWrite returns the statement for the proposed table, nil if it changes nothing there, or the reason why it
// has no translation.
func (p *prover) translateWrite(statement cql.Statement) (as cql.Statement, reason string) {
	if name := changes(statement.String()); name != "" {
		return nil, name + " has another value in each table"
	}
	const condition = "a condition holds for one table: it cannot decide about a row of another one"
	switch s := statement.(type) {
	case *cql.Insert:
		if s.If.Any() {
			return nil, condition
		}
		return p.translateInsert(s)
	case *cql.Update:
		if s.If.Any() {
			return nil, condition
		}
		return p.translateUpdate(s)
	case *cql.Delete:
		if s.If.Any() {
			return nil, condition
		}
		return p.translateDelete(s)
	}
	return nil, "it is no INSERT, UPDATE or DELETE"
}

func (p *prover) translateInsert(s *cql.Insert) (as cql.Statement, reason string) {
	if s.JSON != nil {
		return nil, "its values are JSON"
	}
	translated := *s
	translated.Table, translated.Columns, translated.Values = named(p.new), nil, nil
	given := map[string]cql.Term{}
	for i, c := range s.Columns {
		if i < len(s.Values) {
			given[c.Name] = s.Values[i]
		}
	}
	for _, c := range p.new.Columns {
		v := given[c.Name]
		if p.bucket != nil && c.Name == p.bucket.column.Name {
			period, ok := p.bucket.periodOf(given[p.bucket.of.Name])
			if !ok {
				return nil, "its " + p.bucket.of.Name + " is no literal"
			}
			p.queue.addPeriod(period)
			p.queue.written = max(p.queue.written, period)
			v = p.bucket.literal(period)
		}
		if isKey := c.Kind == "partition_key" || c.Kind == "clustering"; isKey && (v == nil || isNull(v)) {
			return nil, "it does not set " + c.Name + ", which is in the key of the proposed table"
		}
		if v != nil {
			translated.Columns = append(translated.Columns, cql.ColumnRef{Name: c.Name})
			translated.Values = append(translated.Values, v)
		}
	}
	return &translated, ""
}

func isNull(t cql.Term) bool {
	literal, ok := t.(*cql.Literal)
	return ok && literal.Kind == cql.NullLiteral
}

func (p *prover) translateUpdate(s *cql.Update) (as cql.Statement, reason string) {
	translated := *s
	translated.Table, translated.Set = named(p.new), nil
	for _, a := range s.Set {
		c := p.new.Column(a.Column.Name)
		if c == nil {
			continue
		}
		if slices.Contains([]string{"partition_key", "clustering"}, c.Kind) {
			return nil, "it changes " + c.Name + ", which is in the key of the proposed table: the row of the old key has to " +
				"be deleted there, and the statement does not have all of it"
		}
		translated.Set = append(translated.Set, a)
	}
	if translated.Where, reason = p.translateKey(s.Where); reason != "" {
		return nil, reason
	}
	if len(translated.Set) == 0 {
		return nil, ""
	}
	return &translated, ""
}

func (p *prover) translateDelete(s *cql.Delete) (as cql.Statement, reason string) {
	translated := *s
	translated.Table, translated.Targets = named(p.new), nil
	for _, t := range s.Targets {
		c := p.new.Column(t.Column.Name)
		if c == nil {
			continue
		}
		if slices.Contains([]string{"partition_key", "clustering"}, c.Kind) {
			return nil, "it deletes " + c.Name + ", which is in the key of the proposed table"
		}
		translated.Targets = append(translated.Targets, t)
	}
	if translated.Where, reason = p.translateKey(s.Where); reason != "" {
		return nil, reason
	}
	if len(s.Targets) > 0 && len(translated.Targets) == 0 {
		return nil, ""
	}
	return &translated, ""
}

// translateKey returns the relations of a write, with the bucket. They have to give the new partition key, and only
// columns of the new primary key.
func (p *prover) translateKey(where []cql.Relation) (all []cql.Relation, reason string) {
	all = slices.Clone(where)
	if b := p.bucket; b != nil {
		for _, r := range where {
			if period, ok := b.periodOf(r.Value); ok && equals(r) && r.Columns[0].Name == b.of.Name {
				all = append(all, b.relation(period))
			}
		}
	}
	for _, c := range p.new.OfKind("partition_key") {
		isGiven := slices.ContainsFunc(all, func(r cql.Relation) bool {
			return (r.Op == cql.Eq || r.Op == cql.In) && len(r.Columns) == 1 && r.Columns[0].Name == c.Name
		})
		if !isGiven {
			return nil, "it does not give " + c.Name + ", which is in the key of the proposed table"
		}
	}
	for _, r := range all {
		for _, ref := range r.Columns {
			if !slices.ContainsFunc(keyOf(p.new), func(c model.Column) bool { return c.Name == ref.Name }) {
				return nil, "it gives " + ref.Name + ", which is not in the key of the proposed table"
			}
		}
	}
	return all, ""
}

// relation is bucket = period.
func (b *bucket) relation(period int64) cql.Relation {
	return cql.Relation{Columns: []cql.ColumnRef{{Name: b.column.Name}}, Op: cql.Eq, Value: b.literal(period)}
}

// withoutUnset returns a write without the columns whose values were not set, or false if one is elsewhere.
func withoutUnset(statement cql.Statement) (cql.Statement, bool) {
	isUnset := func(t cql.Term) bool {
		_, ok := t.(*cql.Marker)
		return ok
	}
	switch s := statement.(type) {
	case *cql.Insert:
		shorter := *s
		shorter.Columns, shorter.Values = nil, nil
		for i, v := range s.Values {
			if !isUnset(v) && i < len(s.Columns) {
				shorter.Columns, shorter.Values = append(shorter.Columns, s.Columns[i]), append(shorter.Values, v)
			}
		}
		statement = &shorter
	case *cql.Update:
		shorter := *s
		shorter.Set = slices.DeleteFunc(slices.Clone(s.Set), func(a cql.Assignment) bool { return isUnset(a.Value) })
		statement = &shorter
	}
	_, markers, err := parser.Parse(statement.String())
	return statement, err == nil && markers == 0
}
