package planner

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// prepared is what is known of a SELECT list before its expressions are planned: the functions behind its calls and
// operators. Cassandra complains about those first.
type prepared struct {
	functions   map[cql.Term]*functions.Function
	plain       map[*cql.Cast]bool            // CAST to the type that its value has: nothing is done
	userTypes   map[*cql.UserTypeLiteral]bool // literals that are not maps
	firstColumn *schema.Column                // that is selected anywhere
}

// selecting begins the work on a SELECT list, which done ends.
func (p *planning) selecting(t *schema.Table) *selecting {
	s := &selecting{planning: p, table: t, out: &Selection{}, prepared: &prepared{
		functions: map[cql.Term]*functions.Function{}, plain: map[*cql.Cast]bool{},
		userTypes: map[*cql.UserTypeLiteral]bool{},
	}}
	p.binder.Selected, p.binder.Entries = s.typeOf, s.prepareEntries
	return s
}

func (s *selecting) done() { s.binder.Selected = nil }

// prepare resolves the columns, types and functions in a selector. Names that are keys of a map may be the fields of a
// user type: they are looked at when its type is known.
func (s *selecting) prepare(t cql.Term) error {
	switch t := t.(type) {
	case *cql.ColumnRef:
		_, err := scope.Column(s.table, *t)
		return err
	case *cql.CellFunction:
		return s.prepare(t.Arg)
	case *cql.Call:
		if isCountAll(t) {
			return nil
		}
		return s.prepareFunction(t, t.Args, func(args []functions.Arg) (*functions.Function, error) {
			return s.binder.Resolve(t.Function, args, nil)
		})
	case *cql.Arithmetic:
		return s.prepareFunction(t, expr.Operands(t), func(args []functions.Arg) (*functions.Function, error) {
			return functions.ResolveArgs("system."+functions.OperatorName(t.Op, t.Left == nil), args, nil)
		})
	case *cql.Cast:
		return s.prepare(t.Value)
	case *cql.TypeHint:
		if err := s.prepare(t.Value); err != nil {
			return err
		}
		_, err := s.binder.NamedType(&t.Type)
		return err
	case *cql.Element:
		return s.prepare(t.Of)
	case *cql.Slice:
		return s.prepare(t.Of)
	case *cql.Field:
		return s.prepare(t.Of)
	case *cql.TupleLiteral:
		return s.prepareAll(t.Elements)
	case *cql.ListLiteral:
		return s.prepareAll(t.Elements.Parts)
	case *cql.SetLiteral:
		return s.prepareAll(t.Elements.Parts)
	case *cql.MapLiteral, *cql.UserTypeLiteral:
		keys, values := mapEntries(t)
		for i := range keys {
			if err := s.prepareEntry(keys[i], values[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepareEntry prepares a key that is no name, and the value of the key.
func (s *selecting) prepareEntry(key, value cql.Term) error {
	if _, name := key.(*cql.ColumnRef); !name {
		if err := s.prepare(key); err != nil {
			return err
		}
	}
	return s.prepare(value)
}

func (s *selecting) prepareAll(terms []cql.Term) error {
	for _, t := range terms {
		if err := s.prepare(t); err != nil {
			return err
		}
	}
	return nil
}

// prepareFunction prepares the arguments of a call, then finds its function.
func (s *selecting) prepareFunction(
	t cql.Term, terms []cql.Term, resolve func([]functions.Arg) (*functions.Function, error),
) error {
	if err := s.prepareAll(terms); err != nil {
		return err
	}
	f, err := s.binder.Choose(terms, s.name, resolve)
	if err != nil {
		return err
	}
	if f.Returns == types.LegacyTimeUUID && len(f.Args) > 0 && f.Args[0] == types.TimeUUID {
		f = s.ofTimeUUID(f, terms[0])
	}
	s.functions[t] = f
	return expr.CheckNative(f)
}

// ofTimeUUID is a function that returns the type of its first argument, timeuuid, as Cassandra has it: where the argument
// is a descending column it is timeuuid, else LegacyTimeUUIDType. The second argument of mask_replace has the type too.
func (s *selecting) ofTimeUUID(f *functions.Function, first cql.Term) *functions.Function {
	own := *f
	if s.descends(first) {
		own.Returns = types.TimeUUID
	}
	if len(f.Args) > 1 {
		own.Args = []types.Type{f.Args[0], own.Returns}
	}
	return &own
}

// descends reports whether a term is a column in descending order. In Cassandra it has another type.
func (s *selecting) descends(t cql.Term) bool {
	ref, is := t.(*cql.ColumnRef)
	if !is {
		return false
	}
	c := s.table.Visible(ref.Name)
	return c != nil && c.Desc
}

// typeOf is the type of a term that only a SELECT list has, or of a call in it; ok is false for others.
func (s *selecting) typeOf(t cql.Term) (of types.Type, ok bool) {
	switch t := t.(type) {
	case *cql.ColumnRef:
		if c := s.table.Visible(t.Name); c != nil {
			return c.Type, true
		}
	case *cql.CountAll:
		return types.BigInt, true
	case *cql.CellFunction:
		return s.stampType(t), true
	case *cql.Call, *cql.Arithmetic:
		if f := s.functions[t]; f != nil {
			return f.Returns, true
		}
		return types.BigInt, true // of count(1), which has no function
	case *cql.Cast:
		of, err := s.binder.NamedType(&t.Type)
		return of, err == nil
	case *cql.Element:
		switch of := s.binder.ExactType(t.Of).(type) {
		case *types.Map:
			return of.Value, true
		case *types.Set:
			return of.Elem, true
		}
	case *cql.Slice:
		if of := s.binder.ExactType(t.Of); expr.KeyType(of) != nil {
			return of, true
		}
	case *cql.Field:
		return s.fieldType(t), true
	default:
		return nil, false
	}
	return nil, true
}

// stampType is the type that functions are chosen by for WRITETIME, MAXWRITETIME and TTL. Of a part of a column that is
// not frozen it is the type for the whole column, though the value is not one of it.
func (s *selecting) stampType(f *cql.CellFunction) types.Type {
	c := s.table.Visible(cellColumn(f.Arg).Name)
	if c == nil {
		return nil
	}
	return (&expr.Stamp{Name: f.Name, Of: &expr.Column{Column: c}}).Type()
}

// name is the name of a result column without an alias, which also stands for the term in error texts. Identifiers
// stand in it as they are, without quotes.
func (s *selecting) name(t cql.Term) string {
	switch t := t.(type) {
	case *cql.CountAll:
		return "count"
	case *cql.CellFunction:
		return t.Name + "(" + s.name(t.Arg) + ")"
	case *cql.Call:
		if isCountAll(t) {
			return "count"
		}
		names := s.names(t.Args)
		if f := s.functions[t]; f != nil && f.Column != nil {
			return f.Column(names)
		}
		return "system." + t.Function.Name + "(" + strings.Join(names, ", ") + ")"
	case *cql.Arithmetic:
		return s.functions[t].Column(s.names(expr.Operands(t)))
	case *cql.Cast:
		if s.plain[t] {
			return s.name(t.Value)
		}
		return "cast(" + s.name(t.Value) + " as " + t.Type.String() + ")"
	case *cql.TypeHint:
		return "(" + expr.TypeText(t.Type) + ")" + s.name(t.Value)
	case *cql.Element:
		return s.name(t.Of) + "[" + expr.Text(t.Key) + "]"
	case *cql.Slice:
		return s.name(t.Of) + "[" + boundText(t.From) + ".." + boundText(t.To) + "]"
	case *cql.Field:
		return s.name(t.Of) + "." + t.Name
	case *cql.TupleLiteral:
		return "(" + strings.Join(s.names(t.Elements), ", ") + ")"
	case *cql.ListLiteral:
		return "[" + strings.Join(s.names(t.Elements.Parts), ", ") + "]"
	case *cql.SetLiteral:
		return "{" + strings.Join(s.names(t.Elements.Parts), ", ") + "}"
	case *cql.MapLiteral:
		return s.entriesName(t.Keys.Parts, t.Values.Parts)
	case *cql.UserTypeLiteral:
		if s.userTypes[t] {
			return s.fieldsName(t)
		}
		return s.entriesName(expr.FieldColumns(t), t.Values)
	}
	return expr.Text(t)
}

func (s *selecting) names(terms []cql.Term) []string {
	all := make([]string, len(terms))
	for i, t := range terms {
		all[i] = s.name(t)
	}
	return all
}

// entriesName is the name of a map.
func (s *selecting) entriesName(keys, values []cql.Term) string {
	entries := make([]string, len(keys))
	for i := range keys {
		entries[i] = s.name(keys[i]) + ": " + s.name(values[i])
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

func boundText(t cql.Term) string {
	if t == nil {
		return ""
	}
	return expr.Text(t)
}

// apply plans a call of a function whose arguments are selected.
func (s *selecting) apply(f *functions.Function, terms []cql.Term) (expr.Expr, error) {
	args := make([]expr.Expr, len(terms))
	aggregates := false
	for i, t := range terms {
		var err error
		if args[i], err = s.expression(t, f.Args[i]); err != nil {
			return nil, err
		}
		aggregates = aggregates || containsAggregate(args[i])
	}
	if !f.IsAggregate() {
		return expr.NewCall(f, args), nil
	}
	if aggregates {
		return nil, cqlerr.Invalidf("aggregate functions cannot be used as arguments of aggregate functions")
	}
	return s.aggregate(&expr.Aggregate{Function: f, Args: args})
}
