package define

import (
	"fmt"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
)

// Authorization is a statement about roles, users, permissions or identities. Its rules depend on the roles that there
// are when it runs: they are in package auth/roles.
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

// permissions are those that a statement names; none is all of them.
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

// resource is a resource as it is named in a statement.
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

// functionResource is the function that a statement names.
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
