package define

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/secret"
)

// grant plans GRANT and REVOKE of permissions.
func (p *planning) grant(what cql.Permissions, on cql.Resource) error {
	if on.Kind == cql.OneFunction {
		if err := p.grantedFunction(what, on); err != nil {
			return err
		}
	}
	if p.env.Run && on.Kind == cql.OneTable {
		if _, err := p.scope.Keyspace(on.Name); err != nil {
			return err
		}
	}
	return errAnonymous()
}

// list plans LIST of permissions.
func (p *planning) list(on *cql.Resource) error {
	if on != nil && on.Kind == cql.OneFunction {
		if _, err := p.isCallable(*on); err != nil {
			return err
		}
	}
	return errAnonymous()
}

// onFunctions are the permissions that a function has.
var onFunctions = cql.Permissions{
	cql.PermissionAlter, cql.PermissionDrop, cql.PermissionAuthorize, cql.PermissionExecute,
}

// grantedFunction refuses functions that are not there or not a user's, and permissions that no function has. Cassandra
// looks for them while it reads the statement.
func (p *planning) grantedFunction(what cql.Permissions, on cql.Resource) error {
	found, err := p.isCallable(on)
	if err != nil {
		return err
	}
	if on.Name.Keyspace == "system" {
		return cqlerr.Invalidf("Altering permissions on builtin functions is not supported")
	}
	if !found {
		return cqlerr.Syntaxf("Failed parsing statement: [%s] reason: NoSuchElementException No value present",
			secret.Hide(p.env.Text))
	}
	has := func(one cql.Permission) bool { return slices.Contains(onFunctions, one) }
	if len(what) > 0 && !slices.ContainsFunc(what, has) {
		return cqlerr.Syntaxf("Resource type FunctionResource does not support any of the requested permissions")
	}
	return nil
}

// isCallable reports whether a function or aggregate is there, which must be named with its keyspace and types.
func (p *planning) isCallable(on cql.Resource) (bool, error) {
	if on.Name.Keyspace == "" {
		return false, cqlerr.Invalidf("In this context function name must be explictly qualified by a keyspace")
	}
	k := p.scope.Catalog.Keyspace(on.Name.Keyspace)
	if len(on.Args) > 0 && k == nil {
		return false, functionsMissing(on.Name.Keyspace)
	}
	args, err := written(slices.Clone(on.Args)).resolve(k)
	if err != nil || k == nil {
		return false, err
	}
	return k.Function(on.Name.Name, args) != nil || k.Aggregate(on.Name.Name, args) != nil, nil
}
