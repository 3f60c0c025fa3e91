package planner

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// Selection is what a SELECT list makes of rows: either Plain columns, or expressions.
type Selection struct {
	Columns    []ResultColumn
	Plain      []*schema.Column // when all selectors are columns
	Exprs      []expr.Expr      // else
	Aggregates []*expr.Aggregate
	Meta       bool // WRITETIME or TTL is asked for
}

// selecting is the work on a SELECT list.
type selecting struct {
	*planning
	table *schema.Table
	out   *Selection
	inner bool // inside the arguments of an aggregate
	early bool // what is wrong with aggregates and keys is said later
}

// selection plans a SELECT list; none is *.
func (p *planning) selection(t *schema.Table, selectors []cql.Selector) (*Selection, error) {
	s := &selecting{planning: p, table: t, out: &Selection{}}
	if len(selectors) == 0 {
		for _, c := range t.Columns {
			s.add(c.Name, &expr.Column{Column: c})
		}
	}
	for _, sel := range selectors {
		e, err := s.expression(sel.Expr)
		if err != nil {
			return nil, err
		}
		name := sel.Alias
		if name == "" {
			name = selectorName(sel.Expr)
		}
		s.add(name, e)
	}
	if plain := plainColumns(s.out.Exprs); plain != nil {
		s.out.Plain, s.out.Exprs = plain, nil
	}
	return s.out, nil
}

// add puts one more column into the result.
func (s *selecting) add(name string, e expr.Expr) {
	c, isColumn := e.(*expr.Column)
	s.out.Columns = append(s.out.Columns, ResultColumn{
		Keyspace: s.table.Keyspace, Table: s.table.Name, Name: name,
		Type: e.Type(), Desc: isColumn && c.Column.Desc,
	})
	s.out.Exprs = append(s.out.Exprs, e)
}

// plainColumns are the columns that expressions consist of, or nil if one is anything else.
func plainColumns(exprs []expr.Expr) []*schema.Column {
	cols := make([]*schema.Column, len(exprs))
	for i, e := range exprs {
		c, ok := e.(*expr.Column)
		if !ok {
			return nil
		}
		cols[i] = c.Column
	}
	return cols
}

// expression plans one selector.
func (s *selecting) expression(t cql.SelectExpr) (expr.Expr, error) {
	switch t := t.(type) {
	case *cql.ColumnRef:
		c, err := column(s.table, *t)
		if err != nil {
			return nil, err
		}
		return &expr.Column{Column: c}, nil
	case *cql.CountAll:
		return s.aggregate(&expr.Aggregate{})
	case *cql.CellFunction:
		return s.cellFunction(t)
	case *cql.Call:
		if isCountAll(t) {
			return s.aggregate(&expr.Aggregate{})
		}
		return s.call(t)
	case *cql.Literal, *cql.Marker:
		return nil, noType(t)
	case *cql.TupleLiteral:
		if len(t.Elements) == 1 {
			return nil, noType(t)
		}
		return nil, expr.NotSupported("Selecting tuples")
	case *cql.Element, *cql.Slice:
		return nil, expr.NotSupported("Selecting elements of collections")
	case *cql.Field:
		return nil, expr.NotSupported("Selecting fields of user-defined types")
	case *cql.Cast:
		return nil, expr.NotSupported("CAST")
	case *cql.TypeHint:
		return nil, expr.NotSupported("A type hint")
	case *cql.Arithmetic:
		return nil, expr.NotSupported("Arithmetic")
	}
	return nil, expr.NotSupported("Selecting " + t.String())
}

// noType is for a selector whose type nothing tells.
func noType(t cql.Term) error {
	return cqlerr.Invalidf("Cannot infer type for term %s in selection clause (try using a cast to force a type)", t)
}

// aggregate registers an aggregate.
func (s *selecting) aggregate(a *expr.Aggregate) (expr.Expr, error) {
	if s.inner {
		return nil, cqlerr.Invalidf("aggregate functions cannot be used as arguments of aggregate functions")
	}
	a.Index = len(s.out.Aggregates)
	s.out.Aggregates = append(s.out.Aggregates, a)
	return a, nil
}

// cellFunction plans WRITETIME, MAXWRITETIME and TTL of a column.
func (s *selecting) cellFunction(f *cql.CellFunction) (expr.Expr, error) {
	ref, ok := f.Arg.(*cql.ColumnRef)
	if !ok {
		return nil, expr.NotSupported(f.Name + " of a part of a column")
	}
	c, err := column(s.table, *ref)
	if err != nil {
		return nil, err
	}
	if c.Kind.IsKey() && !s.early {
		return nil, cqlerr.Invalidf("Cannot use selection function %s on PRIMARY KEY part %s", f.Name, c.Name)
	}
	if types.IsMultiCell(c.Type) {
		return nil, expr.NotSupported(f.Name + " of a non-frozen collection")
	}
	s.out.Meta = true
	if f.Name == "ttl" {
		return &expr.TTL{Column: c}, nil
	}
	return &expr.WriteTime{Column: c, Name: f.Name}, nil
}

// call plans a function call over columns, literals and other calls.
func (s *selecting) call(c *cql.Call) (expr.Expr, error) {
	args := make([]expr.Expr, len(c.Args))
	asArgs := make([]functions.Arg, len(c.Args))
	for i, a := range c.Args {
		switch a.(type) {
		case *cql.Literal, *cql.Marker:
			asArgs[i] = expr.TermArg(a)
			continue
		}
		e, err := s.expression(a)
		if err != nil {
			return nil, err
		}
		args[i], asArgs[i] = e, functions.Arg{Text: selectorName(a), Type: e.Type()}
	}
	f, err := expr.Resolve(c.Function, asArgs, nil, s.table)
	if err != nil {
		return nil, err
	}
	for i, a := range c.Args {
		if args[i] != nil {
			continue
		}
		r := expr.Receiver{Keyspace: s.table.Keyspace, Table: s.table.Name, Name: "[selection]", Type: f.Args[i]}
		if args[i], err = s.binder.Bind(a, r); err != nil {
			return nil, err
		}
	}
	if f.IsAggregate() {
		if slices.ContainsFunc(args, containsAggregate) && !s.early {
			return nil, cqlerr.Invalidf("aggregate functions cannot be used as arguments of aggregate functions")
		}
		return s.aggregate(&expr.Aggregate{Function: f, Args: args})
	}
	return expr.NewCall(f, args)
}

// isCountAll reports whether a call is count(1), which is count(*).
func isCountAll(c *cql.Call) bool {
	if c.Function != (cql.QualifiedName{Name: "count"}) || len(c.Args) != 1 {
		return false
	}
	l, ok := c.Args[0].(*cql.Literal)
	return ok && l.Kind == cql.IntegerLiteral && l.Text == "1"
}

// containsAggregate reports whether e depends on an aggregate.
func containsAggregate(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Aggregate:
		return true
	case *expr.Call:
		return slices.ContainsFunc(e.Args, containsAggregate)
	}
	return false
}

// selectorName is the name of a result column without an alias. Identifiers stand in it as they are,
// without quotes.
func selectorName(t cql.Term) string {
	switch t := t.(type) {
	case *cql.ColumnRef:
		return t.Name
	case *cql.CountAll:
		return "count"
	case *cql.CellFunction:
		return t.Name + "(" + selectorName(t.Arg) + ")"
	case *cql.Call:
		if isCountAll(t) {
			return "count"
		}
		args := make([]string, len(t.Args))
		for i, a := range t.Args {
			args[i] = selectorName(a)
		}
		return "system." + t.Function.Name + "(" + strings.Join(args, ", ") + ")"
	}
	return t.String()
}
