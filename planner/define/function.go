package define

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// CreateFunction defines a function.
type CreateFunction struct {
	target
	Statement *cql.CreateFunction

	// Bind finds the program's function that is called in place of the body. nil: there is none.
	Bind func(*schema.Function) (schema.GoFunc, error)
}

// createFunction plans CREATE FUNCTION.
func (p *planning) createFunction(s *cql.CreateFunction) (*CreateFunction, error) {
	if err := checkTypeClasses(append(argTypes(s), s.Returns)...); err != nil {
		return nil, err
	}
	t, err := p.target("create function", s.Function)
	return &CreateFunction{target: t, Statement: s}, err
}

// argTypes returns the types of the arguments as written.
func argTypes(s *cql.CreateFunction) written {
	all := make(written, len(s.Args))
	for i, a := range s.Args {
		all[i] = a.Type
	}
	return all
}

// checkEnabled refuses a body where users' functions are disabled. The program's functions are not.
func (d *CreateFunction) checkEnabled(r Run) error {
	if d.Bind != nil {
		return nil
	}
	return r.checkFunctionsEnabled()
}

// Apply adds the function, or replaces one with the same arguments.
func (d *CreateFunction) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	k, name, args := c.Keyspace(d.Keyspace), d.Name, argTypes(d.Statement)
	err := cmp.Or(
		args.checkTypes(k, name),
		checkCallableKeyspace(d.Keyspace),
		checkDirectives(d.Statement.OrReplace, d.Statement.IfNotExists),
		d.checkEnabled(r),
		d.check(args),
		d.checkBodies(c),
	)
	if err != nil {
		return nil, Outcome{}, err
	}
	if k == nil {
		return nil, Outcome{}, keyspaceMissing(d.Keyspace)
	}
	f, err := d.function(k, args, r)
	if err != nil {
		return nil, Outcome{}, err
	}
	if k.Aggregate(name, f.Args) != nil {
		return nil, Outcome{}, cqlerr.Invalidf("Function '%s' cannot replace an aggregate", name)
	}
	kind, old := schema.Created, k.Function(name, f.Args)
	if old != nil {
		if d.Statement.IfNotExists {
			return c, Outcome{}, nil
		}
		if err := d.checkReplacement(old, f); err != nil {
			return nil, Outcome{}, err
		}
		if old.CQL() == f.CQL() && f.Go == nil {
			return c, Outcome{}, nil
		}
		kind = schema.Updated
	}
	return c.WithRoutine(f), callableOutcome(kind, schema.TargetFunction, d.Keyspace, name, args.texts(), f.Args), nil
}

// maxBodies is how many bytes all bodies of a catalog may have. Compiled they stay in memory, and those of many short
// statements take 30 times as much there.
const maxBodies = 2 << 20

// checkBodies refuses a body that is too much beside the others. The one that it replaces counts too.
func (d *CreateFunction) checkBodies(c *schema.Catalog) error {
	size := len(d.Statement.Body)
	for _, k := range c.Keyspaces() {
		for _, f := range k.Functions {
			size += len(f.Body)
		}
	}
	if size > maxBodies {
		return cqlerr.Invalidf("The bodies of all functions may have up to %d bytes in cqld, and with this one they have "+
			"more: drop functions that are not called", maxBodies)
	}
	return nil
}

// check has the checks that do not depend on the keyspace.
func (d *CreateFunction) check(args written) error {
	s := d.Statement
	if s.Language != "java" {
		return cqlerr.Invalidf("Currently only Java UDFs are available in Cassandra. For more information - " +
			"CASSANDRA-18252 and CASSANDRA-17281")
	}
	if err := checkCallableName("Function", s.Function.Name); err != nil {
		return err
	}
	names := argNames(s)
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return cqlerr.Invalidf("Duplicate argument names for given function %s with argument names [%s]", s.Function.Name,
				strings.Join(names, ", "))
		}
	}
	return cmp.Or(args.checkNotFrozen("Argument"), written{s.Returns}.checkNotFrozen("Return type"))
}

func argNames(s *cql.CreateFunction) []string {
	all := make([]string, len(s.Args))
	for i, a := range s.Args {
		all[i] = a.Name
	}
	return all
}

// function returns the declared function. Its body has to compile, unless a function of the program takes its place.
func (d *CreateFunction) function(k *schema.Keyspace, args written, r Run) (*schema.Function, error) {
	s := d.Statement
	f := &schema.Function{
		Callable: schema.Callable{Keyspace: d.Keyspace, Name: s.Function.Name}, ArgNames: argNames(s),
		CalledOnNull: s.CalledOnNull, Language: s.Language, Body: s.Body,
	}
	var err error
	if f.Args, err = args.resolve(k); err != nil {
		return nil, err
	}
	if f.Returns, err = (written{s.Returns}).resolveOne(k, 0); err != nil {
		return nil, err
	}
	if err := checkEachSize(append(slices.Clip(f.Args), f.Returns)); err != nil {
		return nil, err
	}
	if d.Bind != nil {
		f.Go, err = d.Bind(f)
		return f, err
	}
	return f, r.Work.compile(f)
}

// checkReplacement refuses a replacement with another interface.
func (d *CreateFunction) checkReplacement(old, f *schema.Function) error {
	switch {
	case !d.Statement.OrReplace:
		return cqlerr.Invalidf("Function '%s' already exists", f.Name)
	case old.CalledOnNull != f.CalledOnNull && f.CalledOnNull:
		return cqlerr.Invalidf("Function '%s' must have CALLED ON NULL INPUT directive", f.Name)
	case old.CalledOnNull != f.CalledOnNull:
		return cqlerr.Invalidf("Function '%s' must have RETURNS NULL ON NULL INPUT directive", f.Name)
	case !types.Compatible(f.Returns, old.Returns):
		return cqlerr.Invalidf("Cannot replace function '%s', the new return type %s is not compatible with the return type "+
			"%s of existing function", f.Name, f.Returns, old.Returns)
	}
	return nil
}

// DropFunction removes a function.
type DropFunction struct {
	target
	Statement *cql.DropFunction
}

// dropFunction plans DROP FUNCTION.
func (p *planning) dropFunction(s *cql.DropFunction) (*DropFunction, error) {
	t, err := p.droppedFrom("drop function", s.Function, s.Args)
	return &DropFunction{t, s}, err
}

// Apply removes the function, unless an aggregate uses it.
func (d *DropFunction) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	k := c.Keyspace(d.Keyspace)
	drop := newDropping("FUNCTION", d.Keyspace, d.Name, d.Statement.Args)
	f, err := drop.found(k)
	if err != nil {
		return nil, Outcome{}, err
	}
	if f == nil {
		return skipOr(d.Statement.IfExists, c, cqlerr.Invalidf("Function '%s' doesn't exist", drop.shown))
	}
	if users := aggregatesOf(k, f.(*schema.Function)); len(users) > 0 {
		return nil, Outcome{}, cqlerr.Invalidf("Function '%s' is still referenced by aggregates %s", drop.shown,
			strings.Join(users, ", "))
	}
	if tables := maskedBy(k, f.(*schema.Function)); len(tables) > 0 {
		return nil, Outcome{}, cqlerr.Invalidf("Function '%s' is still referenced by column masks in tables %s", drop.shown,
			strings.Join(tables, ", "))
	}
	return drop.dropped(c, f)
}

// aggregatesOf returns the names of aggregates that use a function.
func aggregatesOf(k *schema.Keyspace, f *schema.Function) (names []string) {
	for _, a := range k.Aggregates {
		if a.Calls(f) {
			names = append(names, a.FullName())
		}
	}
	return names
}
