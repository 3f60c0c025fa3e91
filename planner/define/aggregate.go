package define

import (
	"cmp"
	"slices"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// CreateAggregate defines an aggregate.
type CreateAggregate struct {
	target
	Statement *cql.CreateAggregate
}

// createAggregate plans CREATE AGGREGATE.
func (p *planning) createAggregate(s *cql.CreateAggregate) (*CreateAggregate, error) {
	if err := checkTypeClasses(append(slices.Clone(s.Args.Types), s.StateType)...); err != nil {
		return nil, err
	}
	t, err := p.target("create aggregate", s.Function)
	if err != nil {
		return nil, err
	}
	if s.Initial != nil && expr.HasMarker(s.Initial) {
		return nil, cqlerr.Invalidf("Bind variables are not supported in INITCOND")
	}
	return &CreateAggregate{t, s}, nil
}

// Apply adds the aggregate, or replaces one with the same arguments.
func (d *CreateAggregate) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	k, name := c.Keyspace(d.Keyspace), d.Name
	args, state := written(slices.Clone(d.Statement.Args.Types)), written{d.Statement.StateType}
	if err := d.check(k, args, state); err != nil {
		return nil, Outcome{}, err
	}
	a, err := d.aggregate(k, args, state, r)
	if err != nil {
		return nil, Outcome{}, err
	}
	if k.Function(name, a.Args) != nil {
		return nil, Outcome{}, cqlerr.Invalidf("Aggregate '%s' cannot replace a function", name)
	}
	kind, old := schema.Created, k.Aggregate(name, a.Args)
	if old != nil {
		switch {
		case d.Statement.IfNotExists:
			return c, Outcome{}, nil
		case !d.Statement.OrReplace:
			return nil, Outcome{}, cqlerr.Invalidf("Aggregate '%s' already exists", name)
		case !types.Compatible(a.Returns, old.Returns):
			return nil, Outcome{}, cqlerr.Invalidf("Cannot replace aggregate '%s', the new return type %s isn't compatible "+
				"with the return type %s of existing function", name, a.Returns, old.Returns)
		case old.CQL() == a.CQL():
			return c, Outcome{}, nil
		}
		kind = schema.Updated
	}
	return c.WithRoutine(a), callableOutcome(kind, schema.TargetAggregate, d.Keyspace, name, args.texts(), a.Args), nil
}

// check has the checks before the lookup of the functions. Cassandra resolves all types first, to know which
// permissions are required.
func (d *CreateAggregate) check(k *schema.Keyspace, args, state written) error {
	name := d.Name
	if k == nil {
		return functionsMissing(d.Keyspace)
	}
	if err := args.checkTypes(k, name); err != nil {
		return err
	}
	for _, w := range []written{state, args} {
		if _, err := w.resolve(k); err != nil {
			return err
		}
	}
	return cmp.Or(
		checkCallableKeyspace(d.Keyspace),
		checkDirectives(d.Statement.OrReplace, d.Statement.IfNotExists),
		checkCallableName("Aggregate", name),
		args.checkNotFrozen("Argument"),
		state.checkNotFrozen("State type"),
	)
}

// aggregate returns the declared aggregate with its functions resolved.
func (d *CreateAggregate) aggregate(k *schema.Keyspace, args, state written, r Run) (*schema.Aggregate, error) {
	s := d.Statement
	a := &schema.Aggregate{
		Callable:      schema.Callable{Keyspace: d.Keyspace, Name: s.Function.Name},
		StateFunction: s.StateFunction, FinalFunction: s.FinalFunction,
	}
	var err error
	if a.Args, err = args.resolve(k); err != nil {
		return nil, err
	}
	if a.StateType, err = state.resolveOne(k, 0); err != nil {
		return nil, err
	}
	if err := checkEachSize(a.StateArgs()); err != nil {
		return nil, err
	}
	stateArgs := slices.Concat(state, args)
	f, err := d.part(k, "State", s.StateFunction, stateArgs, a.StateArgs())
	if err != nil {
		return nil, err
	}
	if !types.Equal(f.Returns, a.StateType) {
		return nil, cqlerr.Invalidf("State function %s.%s(%s) return type must be the same as the first argument type - "+
			"check STYPE, argument and return types", d.Keyspace, s.StateFunction, stateArgs)
	}
	a.Returns = f.Returns
	if s.FinalFunction != "" {
		final, err := d.part(k, "Final", s.FinalFunction, state, []types.Type{a.StateType})
		if err != nil {
			return nil, err
		}
		a.Returns = final.Returns
	}
	if a.Initial, err = d.initial(k, a.StateType, r); err != nil {
		return nil, err
	}
	if a.Initial == nil && !f.CalledOnNull {
		return nil, cqlerr.Invalidf("Cannot create aggregate '%s' without INITCOND because state function %s.%s does not "+
			"accept 'null' arguments", a.Name, d.Keyspace, s.StateFunction)
	}
	return a, nil
}

// part finds the state or final function.
func (d *CreateAggregate) part(
	k *schema.Keyspace, role, name string, shown written, args []types.Type,
) (*schema.Function, error) {
	if f := k.Function(name, args); f != nil {
		return f, nil
	}
	if k.Aggregate(name, args) != nil {
		return nil, cqlerr.Invalidf("%s function %s.%s(%s) isn't a scalar function", role, k.Name, name, shown)
	}
	return nil, cqlerr.Invalidf("%s function %s.%s(%s) doesn't exist", role, k.Name, name, shown)
}

// initial evaluates INITCOND; nil is null.
func (d *CreateAggregate) initial(k *schema.Keyspace, state types.Type, r Run) ([]byte, error) {
	t := d.Statement.Initial
	if t == nil {
		return nil, nil
	}
	terms := expr.Checker{Info: &expr.Info{}, Scope: expr.Scope{
		Names: scope.New(schema.New(k), k.Name), Keyspace: k.Name, Clock: &types.Clock{Now: time.UnixMicro(r.Time)},
	}}
	e, err := terms.Check(t, expr.Receiver{Keyspace: k.Name, Name: "(dummy)", Type: state})
	if err != nil {
		return nil, err
	}
	v, err := r.Work.evaluate(e, r.Env)
	if err != nil {
		return nil, err
	}
	if v.Bytes != nil && state.Validate(v.Bytes) != nil {
		return nil, cqlerr.Invalidf("Invalid value for INITCOND of type %s", state)
	}
	null := v.Bytes == nil || len(v.Bytes) == 0 && types.EmptyIsNull(state)
	if l, is := t.(*cql.Literal); null && !(is && l.Kind == cql.NullLiteral) {
		return nil, cqlerr.Invalidf("INITCOND must not be empty for all types except TEXT, ASCII, BLOB")
	}
	return v.Bytes, nil
}

// DropAggregate removes an aggregate.
type DropAggregate struct {
	target
	Statement *cql.DropAggregate
}

// dropAggregate plans DROP AGGREGATE.
func (p *planning) dropAggregate(s *cql.DropAggregate) (*DropAggregate, error) {
	t, err := p.droppedFrom("drop aggregate", s.Function, s.Args)
	return &DropAggregate{t, s}, err
}

// Apply removes the aggregate.
func (d *DropAggregate) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	k := c.Keyspace(d.Keyspace)
	drop := newDropping("AGGREGATE", d.Keyspace, d.Name, d.Statement.Args)
	a, err := drop.found(k)
	if err != nil {
		return nil, Outcome{}, err
	}
	if a == nil {
		return skipOr(d.Statement.IfExists, c, cqlerr.Invalidf("Aggregate '%s' doesn't exist", drop.shown))
	}
	return drop.dropped(c, a)
}
