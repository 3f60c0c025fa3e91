package shell

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// plan describes the rows that a query reads, by its relations and the schema.
type plan struct {
	partitions int // 0: not known before it runs, or all
	rows       string
	index      string
	filters    []string
	slow       []string // reasons why the query is slow on a cluster
}

// planCommand prints the plan of a query, which does not run.
func (s *Session) planCommand(ctx context.Context, rest string) error {
	parsed, _, err := parser.Parse(rest)
	if err != nil {
		return shown(err.Error())
	}
	q, ok := parsed.(*cql.Select)
	if !ok {
		return shown(`\plan explains SELECT.`)
	}
	keyspace := q.Table.Keyspace
	if keyspace == "" {
		keyspace = s.keyspace
	}
	tables, err := s.readTables(ctx, keyspace, q.Table.Name)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return shownf("There is no table %s in the keyspace %s.", q.Table.Name, keyspace)
	}
	p := planOf(q, tables[0])
	replication, err := s.replication(ctx, keyspace)
	if err != nil {
		return err
	}
	s.printPlan(q, p, replication)
	return nil
}

// replication reads the options of a keyspace's replication.
func (s *Session) replication(ctx context.Context, keyspace string) (map[string]string, error) {
	r, err := s.all(ctx, "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = "+quote.Text(keyspace))
	if _, fromServer := cqlerr.As(err); err != nil && !fromServer {
		return nil, err
	}
	options := map[string]string{}
	for row := range records(orEmpty(r)) {
		if b, _ := row.value("replication"); b != nil {
			for k, v := range types.Entries(b) {
				options[string(k)] = string(v)
			}
		}
	}
	return options, nil
}

// planOf makes the plan of a query of a table.
func planOf(q *cql.Select, t *tableInfo) *plan {
	p := &plan{rows: "all rows of each"}
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
	p.partitions = 1
	for _, c := range t.ofKind("partition_key") {
		r := byColumn[c.name]
		switch {
		case r == nil || r.Op != cql.Eq && r.Op != cql.In:
			p.partitions = 0
		case r.Op == cql.In && r.Value == nil:
			p.partitions *= r.Values.Len()
			used[r] = true
		default:
			used[r] = true
		}
	}
	if p.partitions == 0 {
		clear(used)
		p.filter(q, t, used, token)
		return p
	}
	p.slice(t, byColumn, used)
	p.filter(q, t, used, token)
	return p
}

// slice finds the clustering columns that limit the rows of a partition.
func (p *plan) slice(t *tableInfo, byColumn map[string]*cql.Relation, used map[*cql.Relation]bool) {
	clustering := t.ofKind("clustering")
	var parts []string
	ended := false
	for _, c := range clustering {
		r := byColumn[c.name]
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
		p.rows = "one row each"
	case len(parts) == len(clustering) && !ended:
		p.rows = "one row for each key: " + strings.Join(parts, " AND ")
	case len(parts) > 0:
		p.rows = "a slice of each: " + strings.Join(parts, " AND ")
	}
}

// filter sorts the remaining relations: one may use an index, the others are compared with each row.
func (p *plan) filter(q *cql.Select, t *tableInfo, used map[*cql.Relation]bool, token bool) {
	if token && p.partitions == 0 {
		p.rows = "all rows of a range of tokens"
	}
	for i := range q.Where {
		r := &q.Where[i]
		if r.Token || used[r] {
			continue
		}
		c := t.column(r.Columns[0].Name)
		if c != nil && c.index != "" && (p.index == "" || strings.Contains(c.indexKind, "StorageAttached")) {
			if p.index != "" {
				p.index += " and "
			}
			p.index += fmt.Sprintf("%s (%s) for %s", c.index, c.indexKind, r)
			continue
		}
		p.filters = append(p.filters, r.String())
	}
	for _, o := range q.OrderBy {
		if c := t.column(o.Column.Name); o.AnnOf != nil && c != nil && c.index != "" {
			p.index = fmt.Sprintf("%s (%s) for the nearest vectors", c.index, c.indexKind)
		}
	}
	switch {
	case p.partitions == 0 && p.index != "":
		p.slow = append(p.slow, "the index is asked on every node, unless a LIMIT is reached before")
	case p.partitions == 0 && !token:
		p.slow = append(p.slow, "every partition of the table is read, on every node")
	case p.partitions > 10:
		p.slow = append(p.slow, fmt.Sprintf("one coordinator reads %d partitions; separate queries spread the work",
			p.partitions))
	}
	if len(p.filters) > 0 {
		p.slow = append(p.slow, "rows that do not match are read too")
	}
}

// printPlan prints a plan, and its cost on a cluster with a keyspace's replication.
func (s *Session) printPlan(q *cql.Select, p *plan, replication map[string]string) {
	partitions := "all of them"
	switch {
	case p.index != "" && p.partitions == 0:
		partitions = "those that the index finds"
	case p.rows == "all rows of a range of tokens":
		partitions = "those of a range of tokens"
	case p.partitions > 0:
		partitions = strconv.Itoa(p.partitions)
	}
	line := func(title, text string) {
		if text != "" {
			s.print("%-11s %s\n", title, text)
		}
	}
	line("Partitions", partitions)
	line("Rows", p.rows)
	line("Index", p.index)
	line("Filter", strings.Join(p.filters, " AND "))
	if len(p.filters) > 0 && !q.AllowFiltering {
		line("", "it may need ALLOW FILTERING")
	}
	line("Cost", s.cost(p, replication))
	for _, reason := range p.slow {
		line("Slow", reason)
	}
}

// cost says how many replicas a query asks.
func (s *Session) cost(p *plan, replication map[string]string) string {
	factor, datacenters := 0, 0
	for k, v := range replication {
		if n, err := strconv.Atoi(v); err == nil && k != "class" {
			factor, datacenters = factor+n, datacenters+1
		}
	}
	if factor == 0 {
		return "local to this node"
	}
	asked := map[string]int{"ONE": 1, "LOCAL_ONE": 1, "TWO": 2, "THREE": 3, "ALL": factor}[s.consistency.String()]
	if asked == 0 {
		asked = factor/2 + 1
		if strings.HasPrefix(s.consistency.String(), "LOCAL_") {
			asked = factor/max(datacenters, 1)/2 + 1
		}
	}
	if p.partitions == 0 {
		return fmt.Sprintf("at %s %d of %d replicas of each range of tokens", s.consistency, asked, factor)
	}
	return fmt.Sprintf("at %s %d of %d replicas for each of %d partitions", s.consistency, asked, factor, p.partitions)
}
