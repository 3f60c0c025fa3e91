package roles

import (
	"context"
	"fmt"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Answer is the answer of a statement. Without columns it has no rows.
type Answer struct {
	Columns  []Column
	Rows     [][][]byte
	Warnings []string
}

// Column is a column of an answer.
type Column struct {
	Table, Name string // the table is one of keyspace system_auth
	Type        types.Type
}

// phases are the phases of one statement of a user.
type phases struct {
	authorize func() error
	validate  func() error
	execute   func() (*Answer, error)
}

// running is the work on one statement.
type running struct {
	*Keeper
	ctx  context.Context
	user *auth.User
}

// Run runs a statement of a user.
func (k *Keeper) Run(ctx context.Context, u *auth.User, s *auth.Statement) (*Answer, error) {
	p, err := (&running{k, ctx, u}).phases(s)
	if err != nil {
		return nil, err
	}
	k.changes.Lock()
	defer k.changes.Unlock()
	for _, phase := range []func() error{p.authorize, p.validate} {
		if err := phase(); err != nil {
			return nil, err
		}
	}
	return p.execute()
}

// Validate refuses a statement that a user prepares.
func (k *Keeper) Validate(ctx context.Context, u *auth.User, s *auth.Statement) error {
	p, err := (&running{k, ctx, u}).phases(s)
	if err != nil {
		return err
	}
	return p.validate()
}

// phases returns the phases of a statement.
func (k *running) phases(s *auth.Statement) (phases, error) {
	switch one := s.Statement.(type) {
	case *cql.CreateRole:
		return k.createRole(one.Role, one.IfNotExists, one.Options), nil
	case *cql.CreateUser:
		options := append(userOptions(one.Password, one.Superuser), &cql.RoleFlag{Login: true, Value: true})
		return k.createRole(one.Name, one.IfNotExists, options), nil
	case *cql.AlterRole:
		return k.alterRole(one.Role, one.IfExists, one.Options), nil
	case *cql.AlterUser:
		return k.alterRole(one.Name, one.IfExists, userOptions(one.Password, one.Superuser)), nil
	case *cql.DropRole:
		return k.dropRole(one.Role, one.IfExists), nil
	case *cql.DropUser:
		return k.dropRole(one.Name, one.IfExists), nil
	case *cql.GrantRole:
		return k.grantRole(one.Role, one.To), nil
	case *cql.RevokeRole:
		return k.revokeRole(one.Role, one.From), nil
	case *cql.AddIdentity:
		return k.addIdentity(one), nil
	case *cql.DropIdentity:
		return k.dropIdentity(one), nil
	case *cql.ListRoles:
		return k.listRoles(one.Of, !one.NoRecursive, rolesTable), nil
	case *cql.ListUsers:
		return k.listRoles(nil, true, usersTable), nil
	case *cql.GrantPermissions:
		return k.grant(one.To, s), nil
	case *cql.RevokePermissions:
		return k.revoke(one.From, s), nil
	case *cql.ListPermissions:
		return k.listPermissions(one, s), nil
	}
	return phases{}, fmt.Errorf("no phases of a %T", s.Statement)
}

// userOptions are the options of a user as options of a role.
func userOptions(password *cql.RolePassword, superuser *bool) []cql.RoleOption {
	var all []cql.RoleOption
	if password != nil {
		all = append(all, password)
	}
	if superuser != nil {
		all = append(all, &cql.RoleFlag{Value: *superuser})
	}
	return all
}

// check refuses a user who lacks a permission on a role. The text does not name the permission.
func (k *running) check(p auth.Permissions, on auth.Resource) error {
	n := auth.NewNeed(p, on)
	if k.user.Check(&n) != nil {
		return cqlerr.Unauthorizedf("User %s does not have sufficient privileges to perform the requested operation",
			k.user.Name)
	}
	return nil
}

// exists reports whether a role exists.
func (k *running) exists(name string) (bool, error) {
	r, err := k.role(k.ctx, name)
	return r.exists, err
}

// mustExist refuses a role that does not exist. The text has a place for its name.
func (k *running) mustExist(name, text string) error {
	there, err := k.exists(name)
	if err == nil && !there {
		err = cqlerr.Invalidf(text, name)
	}
	return err
}

// allowed is the check of statements that all users may run.
func allowed() error { return nil }
