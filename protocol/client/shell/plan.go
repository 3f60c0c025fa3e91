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
	"github.com/cqld/cqld/protocol/client/model"
)

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
	tables, err := model.Tables(ctx, s.all, keyspace, q.Table.Name)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return shownf("There is no table %s in the keyspace %s.", q.Table.Name, keyspace)
	}
	p := model.PlanOf(q, tables[0])
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
	for row := range model.Records(r) {
		if b, _ := row.Value("replication"); b != nil {
			for k, v := range types.Entries(b) {
				options[string(k)] = string(v)
			}
		}
	}
	return options, nil
}

// printPlan prints a plan, and its cost on a cluster with a keyspace's replication.
func (s *Session) printPlan(q *cql.Select, p *model.Plan, replication map[string]string) {
	partitions := "all of them"
	switch {
	case p.Index != "" && p.Partitions == 0:
		partitions = "those that the index finds"
	case p.Rows == "all rows of a range of tokens":
		partitions = "those of a range of tokens"
	case p.Partitions > 0:
		partitions = strconv.Itoa(p.Partitions)
	}
	line := func(title, text string) {
		if text != "" {
			s.print("%-11s %s\n", title, text)
		}
	}
	line("Partitions", partitions)
	line("Rows", p.Rows)
	line("Index", p.Index)
	line("Filter", strings.Join(p.Filters, " AND "))
	if len(p.Filters) > 0 && !q.AllowFiltering {
		line("", "it may need ALLOW FILTERING")
	}
	line("Cost", s.cost(p, replication))
	for _, reason := range p.Slow {
		line("Slow", reason)
	}
}

// cost says how many replicas a query asks.
func (s *Session) cost(p *model.Plan, replication map[string]string) string {
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
	if p.Partitions == 0 {
		return fmt.Sprintf("at %s %d of %d replicas of each range of tokens", s.consistency, asked, factor)
	}
	return fmt.Sprintf("at %s %d of %d replicas for each of %d partitions", s.consistency, asked, factor, p.Partitions)
}
