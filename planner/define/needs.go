package define

import (
	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Authorize refuses a definition if the user lacks a permission.
func Authorize(d Definition, u *auth.User, c *schema.Catalog) error {
	if u.IsSuper() {
		return nil
	}
	needs, err := needsOf(d, c)
	if err != nil {
		return err
	}
	for i := range needs {
		if err := checkSystem(&needs[i]); err != nil {
			return err
		}
		if err := u.Check(&needs[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkSystem refuses changes of system objects, for which no permission exists.
func checkSystem(n *auth.Need) error {
	r := n.Resource
	if r.Kind != auth.Data || n.Permission&(auth.Create|auth.Alter|auth.Drop) == 0 {
		return nil
	}
	if schema.IsLocal(r.Keyspace) {
		return NotModifiable(r.Keyspace)
	}
	keyspaces := r.Object == "" && !r.Tables
	if schema.IsReplicatedSystem(r.Keyspace) && !(keyspaces && n.Permission == auth.Alter) {
		return cqlerr.Unauthorizedf("Cannot %s %s", n.Permission, r)
	}
	return nil
}

// needsOf returns the permissions that a definition requires, in the order of the checks. Apply reports
// errors that prevent finding the functions and aggregates.
func needsOf(d Definition, c *schema.Catalog) ([]auth.Need, error) {
	one := func(p auth.Permissions, r auth.Resource) ([]auth.Need, error) {
		return []auth.Need{auth.NewNeed(p, r)}, nil
	}
	switch d := d.(type) {
	case *CreateKeyspace:
		return one(auth.Create, auth.All(auth.Data))
	case *AlterKeyspace:
		return one(auth.Alter, auth.Keyspace(d.Name))
	case *DropKeyspace:
		return one(auth.Drop, auth.Keyspace(d.Name))
	case *CreateTable:
		return one(auth.Create, auth.AllTables(d.Keyspace))
	case *AlterTable:
		return one(auth.Alter, auth.Table(d.Keyspace, d.Name))
	case *DropTable:
		return one(auth.Drop, auth.Table(d.Keyspace, d.Name))
	case *CreateType:
		return one(auth.Create, auth.AllTables(d.Keyspace))
	case *AlterType:
		return one(auth.Alter, auth.AllTables(d.Keyspace))
	case *DropType:
		return one(auth.Drop, auth.AllTables(d.Keyspace))
	case *CreateIndex:
		return one(auth.Alter, auth.Table(d.Keyspace, d.Name))
	case *DropIndex:
		if k := c.Keyspace(d.Keyspace); k != nil && k.IndexedTable(d.Name) != nil {
			return one(auth.Alter, auth.Table(d.Keyspace, k.IndexedTable(d.Name).Name))
		}
		return nil, nil
	case *CreateView:
		return one(auth.Alter, auth.Table(d.Keyspace, d.Statement.Table.Name))
	case *AlterView:
		return baseNeed(c, d.Keyspace, d.Name), nil
	case *DropView:
		return baseNeed(c, d.Keyspace, d.Name), nil
	case *CreateTrigger:
		return nil, cqlerr.Unauthorizedf("Only superusers are allowed to perform CREATE TRIGGER queries")
	case *DropTrigger:
		return nil, cqlerr.Unauthorizedf("Only superusers are allowed to perfrom DROP TRIGGER queries")
	case *CreateFunction:
		return createNeed(c, d.Keyspace, d.Name, argTypes(d.Statement), d.Statement.OrReplace), nil
	case *CreateAggregate:
		return aggregateNeeds(d, c), nil
	case *DropFunction:
		return dropNeeds(c, d.Keyspace, d.Name, d.Statement.Args), nil
	case *DropAggregate:
		return dropNeeds(c, d.Keyspace, d.Name, d.Statement.Args), nil
	}
	return nil, cqlerr.Serverf("no permission is defined for a %T", d)
}

// baseNeed is the permission to change a view: ALTER on its base table.
func baseNeed(c *schema.Catalog, keyspace, view string) []auth.Need {
	k := c.Keyspace(keyspace)
	if k == nil || k.Views[view] == nil {
		return nil
	}
	return []auth.Need{auth.NewNeed(auth.Alter, auth.Table(keyspace, k.Views[view].View.Base))}
}

// typesOf resolves the types of arguments.
func typesOf(k *schema.Keyspace, args written) ([]types.Type, bool) {
	if k == nil {
		return nil, false
	}
	found, err := append(written(nil), args...).resolve(k)
	return found, err == nil
}

// createNeed is CREATE on the functions of a keyspace, or ALTER on the function that is replaced.
func createNeed(c *schema.Catalog, keyspace, name string, args written, replaces bool) []auth.Need {
	k := c.Keyspace(keyspace)
	found, ok := typesOf(k, args)
	if ok && replaces && k.HasRoutine(name, found) {
		return []auth.Need{auth.NewNeed(auth.Alter, auth.Function(keyspace, name, found))}
	}
	return []auth.Need{auth.NewNeed(auth.Create, auth.FunctionsIn(keyspace))}
}

// aggregateNeeds returns the permissions for CREATE AGGREGATE, with EXECUTE on its functions.
func aggregateNeeds(d *CreateAggregate, c *schema.Catalog) []auth.Need {
	s, k := d.Statement, c.Keyspace(d.Keyspace)
	args := written(s.Args.Types)
	needs := createNeed(c, d.Keyspace, s.Function.Name, args, s.OrReplace)
	state := written{s.StateType}
	if called, ok := typesOf(k, append(state, args...)); ok {
		needs = append(needs, executeNeed(d.Keyspace, s.StateFunction, called))
	}
	if called, ok := typesOf(k, state); ok && s.FinalFunction != "" {
		needs = append(needs, executeNeed(d.Keyspace, s.FinalFunction, called))
	}
	return needs
}

func executeNeed(keyspace, name string, args []types.Type) auth.Need {
	return auth.NewNeed(auth.Execute, auth.Function(keyspace, name, args))
}

// dropNeeds returns DROP on each function or aggregate that the statement may mean.
func dropNeeds(c *schema.Catalog, keyspace, name string, args *cql.Signature) (needs []auth.Need) {
	k := c.Keyspace(keyspace)
	if k == nil {
		return nil
	}
	need := func(types []types.Type) {
		needs = append(needs, auth.NewNeed(auth.Drop, auth.Function(keyspace, name, types)))
	}
	if args != nil {
		found, ok := typesOf(k, args.Types)
		if ok && k.HasRoutine(name, found) {
			need(found)
		}
		return needs
	}
	for _, r := range k.RoutinesNamed(name) {
		need(r.Base().Args)
	}
	return needs
}

// Created returns the resources that a definition has created. Its user gets all permissions on them.
func Created(d Definition, before, after *schema.Catalog) []auth.Resource {
	switch d := d.(type) {
	case *CreateKeyspace:
		return []auth.Resource{auth.Keyspace(d.Name), auth.FunctionsIn(d.Name)}
	case *CreateTable:
		return []auth.Resource{auth.Table(d.Keyspace, d.Name)}
	case *CreateFunction:
		return callablesMissing(after.Keyspace(d.Keyspace), before.Keyspace(d.Keyspace))
	case *CreateAggregate:
		return callablesMissing(after.Keyspace(d.Keyspace), before.Keyspace(d.Keyspace))
	}
	return nil
}

// Dropped returns the resources of a keyspace that a definition has removed.
func Dropped(keyspace string, before, after *schema.Catalog) (gone []auth.Resource) {
	old, k := before.Keyspace(keyspace), after.Keyspace(keyspace)
	if old == nil {
		return nil
	}
	if k == nil {
		gone = append(gone, auth.Keyspace(keyspace), auth.AllTables(keyspace), auth.FunctionsIn(keyspace))
	}
	for _, tables := range []map[string]*schema.Table{old.Tables, old.Views} {
		for name := range tables {
			if after.Table(keyspace, name) == nil {
				gone = append(gone, auth.Table(keyspace, name))
			}
		}
	}
	return append(gone, callablesMissing(old, k)...)
}

// callablesMissing returns the functions and aggregates of a keyspace that are missing in another version of it.
func callablesMissing(k, other *schema.Keyspace) (missing []auth.Resource) {
	for _, r := range k.Routines() {
		if other == nil || other.Same(r) == nil {
			missing = append(missing, auth.Function(k.Name, r.Base().Name, r.Base().Args))
		}
	}
	return missing
}
