package planner

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
	"github.com/cqld/cqld/planner/where"
)

// Grouping decides which rows are one group of GROUP BY: those that follow each other in a partition, with equal values
// of leading clustering columns and of a function of the next one.
type Grouping struct {
	Columns  []*schema.Column // none: a partition is one group
	Function expr.Expr        // nil: none
	Refused  error            // why the function groups nothing; Cassandra says so when it runs the statement

	Beforehand []expr.Expr // parts of the function that no row matters to, as in Selection
}

// grouping plans GROUP BY; nil: there is none. Columns of the primary key that are restricted to one value may be left
// out.
func (p *planning) grouping(t *schema.Table, s *cql.Select, rs *where.Restrictions) (*Grouping, error) {
	if len(s.GroupBy) == 0 {
		return nil, nil
	}
	g := &Grouping{}
	key, next := slices.Concat(t.PartitionKey, t.Clustering), 0
	for _, term := range s.GroupBy {
		c, err := p.groupedBy(t, term, g)
		if err != nil {
			return nil, err
		}
		for ; next < len(key) && key[next] != c; next++ {
			if !rs.ByEqual(key[next]) {
				return nil, errGroupingOrder()
			}
		}
		if next == len(key) {
			return nil, errGroupingOrder()
		}
		next++
	}
	if next < len(t.PartitionKey) {
		return nil, cqlerr.Invalidf("Group by is not supported on only a part of the partition key")
	}
	g.Columns = key[len(t.PartitionKey):next]
	if s.Distinct && len(g.Columns) > 0 {
		return nil, cqlerr.Invalidf("Grouping on clustering columns is not allowed for SELECT DISTINCT queries")
	}
	if g.Function != nil {
		g.Columns = g.Columns[:len(g.Columns)-1]
		g.Refused, g.Beforehand = checkMonotonic(g.Function), expr.Beforehand(g.Function)
	}
	return g, nil
}

func errGroupingOrder() error {
	return cqlerr.Invalidf("Group by currently only support groups of columns following their declared order in the " +
		"PRIMARY KEY")
}

// groupedBy plans one term of GROUP BY and returns its column. If there are several functions, the last one counts.
func (p *planning) groupedBy(t *schema.Table, term cql.Term, g *Grouping) (*schema.Column, error) {
	terms := p.terms.Selection()
	switch term := term.(type) {
	case *cql.ColumnRef:
		c, err := scope.Column(t, *term)
		switch {
		case err != nil:
			return nil, err
		case !c.Kind.IsKey():
			return nil, cqlerr.Invalidf("Group by is currently only supported on the columns of the PRIMARY KEY, got %s", c.Name)
		case g.Function != nil:
			return nil, cqlerr.Invalidf("Functions are only supported on the last element of the GROUP BY clause")
		}
		return c, nil
	case *cql.Call, *cql.Arithmetic, *cql.CountAll:
		if err := terms.Resolve(term); err != nil {
			return nil, err
		}
		name := "system.count_rows"
		if f := p.info.Function(term); f != nil {
			name = f.FullName()
			if !f.IsAggregate() {
				return p.groupingFunction(terms, term, g)
			}
		}
		return nil, cqlerr.Invalidf("Aggregate functions are not supported within the GROUP BY clause, got: %s", name)
	}
	if err := terms.Resolve(term); err != nil {
		return nil, err
	}
	return nil, errNotMonotonic()
}

// groupingFunction plans a function of one clustering column, and returns the column.
func (p *planning) groupingFunction(terms *expr.Checker, term cql.Term, g *Grouping) (*schema.Column, error) {
	e, err := terms.Check(term, expr.Receiver{})
	if err != nil {
		return nil, err
	}
	var of []*schema.Column
	for _, c := range exprColumns(e) {
		if !slices.Contains(of, c) {
			of = append(of, c)
		}
	}
	switch {
	case len(of) == 0:
		return nil, cqlerr.Invalidf("GROUP BY functions must have one clustering column name as parameter")
	case len(of) > 1:
		names := make([]string, len(of))
		for i, c := range of {
			names[i] = quote.Name(c.Name)
		}
		return nil, cqlerr.Invalidf("GROUP BY functions accept only one clustering column as parameter, got: %s",
			strings.Join(names, ","))
	case of[0].Kind != schema.Clustering:
		return nil, cqlerr.Invalidf("Group by functions are only supported on clustering columns, got %s", of[0].Name)
	}
	g.Function = e
	return of[0], nil
}

// checkMonotonic refuses a function whose values are not in the order of its column: the rows of a group would not be
// together.
func checkMonotonic(e expr.Expr) error {
	switch e := e.(type) {
	case *expr.Column:
		return nil
	case *expr.Hinted:
		return checkMonotonic(e.Value)
	case *expr.Call:
		if expr.Rowless(e) {
			return nil
		}
		if f := e.Function; !f.Monotonic || expr.Rowless(e.Args[0]) || !allRowless(e.Args[1:]) {
			return cqlerr.Invalidf("Only monotonic functions are supported in the GROUP BY clause. Got: %s ", signature(e))
		}
		for _, a := range e.Args {
			if err := checkMonotonic(a); err != nil {
				return err
			}
		}
		return nil
	}
	if expr.Rowless(e) {
		return nil
	}
	return errNotMonotonic()
}

// errNotMonotonic refuses terms that are neither columns nor functions. For some of them Cassandra has no text.
func errNotMonotonic() error {
	return cqlerr.Invalidf("Only column names and monotonic scalar functions are supported in the GROUP BY clause.")
}

func allRowless(all []expr.Expr) bool {
	return !slices.ContainsFunc(all, func(e expr.Expr) bool { return !expr.Rowless(e) })
}

// signature is the signature of the function of a call. It marks the arguments that are constant.
func signature(c *expr.Call) string {
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = c.Function.Args[i].String()
		if expr.Rowless(a) {
			args[i] += "(constant)"
		}
	}
	name, _, _ := strings.Cut(c.Function.String(), " : ")
	if c.Function.Name == "token" && c.Function.User == nil {
		name = "token" // in Cassandra it belongs to its table
	}
	return name + " : (" + strings.Join(args, ", ") + ") -> " + c.Function.Returns.String()
}

// String prints the columns and the function that are equal inside a group.
func (g *Grouping) String() string {
	by := []string{"partition"}
	for _, c := range g.Columns {
		by = append(by, c.Name)
	}
	if g.Function != nil {
		by = append(by, g.Function.String())
	}
	return strings.Join(by, ", ")
}
