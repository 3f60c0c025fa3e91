package model

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql"
)

// Plan describes the rows that a query reads, by its relations and the schema.
type Plan struct {
	Partitions int // 0: not known before it runs, or all
	Rows       string
	Index      string
	Filters    []string
	Slow       []string // reasons why the query is slow on a cluster
}

// PlanOf makes the plan of a query of a table.
func PlanOf(q *cql.Select, t *Table) *Plan {
	p := &Plan{Rows: "all rows of each"}
	byColumn := map[string]*cql.Relation{}
	token := false
	for i := range q.Where {
		r := &q.Where[i]
		token = token || r.Token
		for _, c := range r.Columns {
			if !r.Token {
				byColumn[c.Name] = r
			}
		}
	}
	used := map[*cql.Relation]bool{}
	p.Partitions = 1
	for _, c := range t.OfKind("partition_key") {
		r := byColumn[c.Name]
		switch {
		case r == nil || r.Op != cql.Eq && r.Op != cql.In:
			p.Partitions = 0
		case r.Op == cql.In && r.Value == nil:
			p.Partitions *= r.Values.Len()
			used[r] = true
		default:
			used[r] = true
		}
	}
	if p.Partitions == 0 {
		clear(used)
		p.filter(q, t, used, token)
		return p
	}
	p.slice(t, byColumn, used)
	p.filter(q, t, used, token)
	return p
}

// slice finds the clustering columns that limit the rows of a partition.
func (p *Plan) slice(t *Table, byColumn map[string]*cql.Relation, used map[*cql.Relation]bool) {
	clustering := t.OfKind("clustering")
	var parts []string
	ended := false
	for _, c := range clustering {
		r := byColumn[c.Name]
		if r == nil || ended {
			break
		}
		if !used[r] {
			parts = append(parts, r.String())
		}
		used[r] = true
		ended = r.Op != cql.Eq && r.Op != cql.In
	}
	switch {
	case len(clustering) == 0:
		p.Rows = "one row each"
	case len(parts) == len(clustering) && !ended:
		p.Rows = "one row for each key: " + strings.Join(parts, " AND ")
	case len(parts) > 0:
		p.Rows = "a slice of each: " + strings.Join(parts, " AND ")
	}
}

// filter sorts the remaining relations: one may use an index, the others are compared with each row.
func (p *Plan) filter(q *cql.Select, t *Table, used map[*cql.Relation]bool, token bool) {
	if token && p.Partitions == 0 {
		p.Rows = "all rows of a range of tokens"
	}
	for i := range q.Where {
		r := &q.Where[i]
		if r.Token || used[r] {
			continue
		}
		c := t.Column(r.Columns[0].Name)
		if c != nil && c.Index != "" && (p.Index == "" || strings.Contains(c.IndexKind, "StorageAttached")) {
			if p.Index != "" {
				p.Index += " and "
			}
			p.Index += fmt.Sprintf("%s (%s) for %s", c.Index, c.IndexKind, r)
			continue
		}
		p.Filters = append(p.Filters, r.String())
	}
	for _, o := range q.OrderBy {
		if c := t.Column(o.Column.Name); o.AnnOf != nil && c != nil && c.Index != "" {
			p.Index = fmt.Sprintf("%s (%s) for the nearest vectors", c.Index, c.IndexKind)
		}
	}
	switch {
	case p.Partitions == 0 && p.Index != "":
		p.Slow = append(p.Slow, "the index is asked on every node, unless a LIMIT is reached before")
	case p.Partitions == 0 && !token:
		p.Slow = append(p.Slow, "every partition of the table is read, on every node")
	case p.Partitions > 10:
		p.Slow = append(p.Slow, fmt.Sprintf("one coordinator reads %d partitions; separate queries spread the work",
			p.Partitions))
	}
	if len(p.Filters) > 0 {
		p.Slow = append(p.Slow, "rows that do not match are read too")
	}
}
