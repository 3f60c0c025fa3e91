package define

import (
	"fmt"
	"slices"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/secret"
)

// Authorization is a statement about roles, users, permissions or identities. Its rules depend on the roles when it
// runs and are in package auth/roles.
type Authorization struct{ auth.Statement }

// String returns the plan in words. It has no password.
func (a *Authorization) String() string {
	return fmt.Sprintf("authorization by %T", a.Statement.Statement)
}

// authorized plans a statement about roles or permissions.
func (p *planning) authorized(s cql.Statement, what cql.Permissions, on *cql.Resource) (Plan, error) {
	if !p.env.Logins {
		return nil, p.anonymous(s, what, on)
	}
	_, lists := s.(*cql.ListPermissions)
	if !lists && on != nil && on.Kind == cql.OneFunction {
		if err := p.grantedFunction(what, *on); err != nil {
			return nil, err
		}
	}
	a := &Authorization{auth.Statement{Statement: s, Permissions: permissions(what)}}
	if on == nil {
		return a, nil
	}
	r, err := p.resource(*on)
	if err != nil {
		return nil, err
	}
	a.Resource = &r
	if !lists {
		a.Permissions &= r.Applicable()
	}
	return a, nil
}

// permissions converts the permissions of a statement; none means all.
func permissions(what cql.Permissions) (all auth.Permissions) {
	if len(what) == 0 {
		return auth.Every
	}
	for _, one := range what {
		all |= auth.ParsePermission(string(one))
	}
	return all
}

// anonymous refuses a statement of a client that cannot log in.
func (p *planning) anonymous(s cql.Statement, what cql.Permissions, on *cql.Resource) error {
	switch s.(type) {
	case *cql.GrantPermissions, *cql.RevokePermissions:
		return p.grant(what, *on)
	case *cql.ListPermissions:
		return p.list(on)
	}
	return p.role(s)
}

// resource converts the resource of a statement.
func (p *planning) resource(on cql.Resource) (auth.Resource, error) {
	name := on.Name.Name
	switch on.Kind {
	case cql.OneKeyspace:
		return auth.Keyspace(name), nil
	case cql.AllTablesIn:
		return auth.AllTables(name), nil
	case cql.OneTable:
		keyspace, err := p.scope.Keyspace(on.Name)
		return auth.Table(keyspace, name), err
	case cql.AllRoles:
		return auth.All(auth.Roles), nil
	case cql.OneRole:
		return auth.Role(name), nil
	case cql.AllFunctions:
		return auth.All(auth.Functions), nil
	case cql.AllFunctionsIn:
		return auth.FunctionsIn(name), nil
	case cql.OneFunction:
		return p.functionResource(on)
	case cql.AllMBeans:
		return auth.All(auth.Beans), nil
	case cql.OneMBean, cql.MBeanPattern:
		return auth.Bean(on.MBean), nil
	}
	return auth.All(auth.Data), nil
}

// functionResource converts the function of a statement.
func (p *planning) functionResource(on cql.Resource) (auth.Resource, error) {
	if _, err := p.isCallable(on); err != nil {
		return auth.Resource{}, err
	}
	k := p.scope.Catalog.Keyspace(on.Name.Keyspace)
	if k == nil {
		return auth.Function(on.Name.Keyspace, on.Name.Name, nil), nil
	}
	args, err := written(append([]cql.TypeName(nil), on.Args...)).resolve(k)
	return auth.Function(on.Name.Keyspace, on.Name.Name, args), err
}

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

// onFunctions are the permissions that apply to functions.
var onFunctions = cql.Permissions{
	cql.PermissionAlter, cql.PermissionDrop, cql.PermissionAuthorize, cql.PermissionExecute,
}

// grantedFunction refuses missing and native functions, and permissions that do not apply to functions. Cassandra
// checks this while it parses.
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

// isCallable reports whether a function or aggregate exists. It must be named with its keyspace and types.
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
	return k.HasRoutine(on.Name.Name, args), nil
}
