package roles

import (
	"cmp"
	"slices"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// The tables that answers name.
const (
	rolesTable       = "roles"
	usersTable       = "users"
	permissionsTable = "permissions"
)

var roleColumns = []Column{
	{rolesTable, "role", types.Text},
	{rolesTable, "super", types.Boolean},
	{rolesTable, "login", types.Boolean},
	{rolesTable, "options", &types.Map{Key: types.Text, Value: types.Text}},
	{rolesTable, "datacenters", types.Text},
}

var userColumns = []Column{
	{usersTable, "name", types.Text},
	{usersTable, "super", types.Boolean},
	{usersTable, "datacenters", types.Text},
}

var permissionColumns = []Column{
	{permissionsTable, "role", types.Text},
	{permissionsTable, "username", types.Text},
	{permissionsTable, "resource", types.Text},
	{permissionsTable, "permission", types.Text},
}

// listRoles has the phases of LIST ROLES and LIST USERS.
func (k *running) listRoles(of *string, recursive bool, table string) phases {
	return phases{
		authorize: allowed,
		validate: func() error {
			if of == nil {
				return nil
			}
			return k.mustExist(*of, "<role %s> doesn't exist")
		},
		execute: func() (*Answer, error) {
			names, err := k.listed(of, recursive)
			if err != nil {
				return nil, err
			}
			if table == usersTable {
				return k.userRows(names)
			}
			return k.roleRows(names)
		},
	}
}

// listed are the names of the roles that the user may see.
func (k *running) listed(of *string, recursive bool) ([]string, error) {
	all := k.user.Holds(auth.Describe, auth.All(auth.Roles))
	switch {
	case of == nil && all:
		return k.allRoles(k.ctx)
	case of == nil:
		of = &k.user.Name
	case !all && !k.user.Roles[*of]:
		return nil, cqlerr.Unauthorizedf("You are not authorized to view roles granted to %s ", *of)
	}
	found, err := k.inherited(k.ctx, *of, recursive)
	names := make([]string, len(found))
	for i, r := range found {
		names[i] = r.name
	}
	slices.Sort(names)
	return names, err
}

func (k *running) roleRows(names []string) (*Answer, error) {
	if len(names) == 0 {
		return &Answer{}, nil
	}
	out := &Answer{Columns: roleColumns}
	for _, n := range names {
		r, err := k.role(k.ctx, n)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, [][]byte{
			[]byte(n), boolean(r.super), boolean(r.login), types.EncodeInt(0), []byte("ALL"),
		})
	}
	return out, nil
}

func (k *running) userRows(names []string) (*Answer, error) {
	if len(names) == 0 {
		return &Answer{}, nil
	}
	out := &Answer{Columns: userColumns}
	for _, n := range names {
		r, err := k.role(k.ctx, n)
		if err != nil {
			return nil, err
		}
		if !r.login {
			continue
		}
		u, err := k.User(k.ctx, n)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, [][]byte{[]byte(n), boolean(u.Super), []byte("ALL")})
	}
	return out, nil
}

// listedPermission is a row of LIST PERMISSIONS.
type listedPermission struct {
	role, name string // the name of the resource
	permission auth.Permissions
}

// listPermissions has the phases of LIST PERMISSIONS.
func (k *running) listPermissions(s *cql.ListPermissions, st *auth.Statement) phases {
	return phases{
		authorize: allowed,
		validate: func() error {
			if st.Resource != nil {
				there, err := k.thereIs(*st.Resource)
				if err != nil {
					return err
				}
				if !there {
					return cqlerr.Invalidf("%s doesn't exist", st.Resource)
				}
			}
			if s.Of == nil {
				return nil
			}
			return k.mustExist(*s.Of, "<role %s> doesn't exist")
		},
		execute: func() (*Answer, error) {
			if err := k.mayList(s.Of); err != nil {
				return nil, err
			}
			found, err := k.gather(s, st)
			if err != nil {
				return nil, err
			}
			slices.SortFunc(found, func(a, b listedPermission) int {
				return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.name, b.name), cmp.Compare(a.permission, b.permission))
			})
			return permissionRows(found)
		},
	}
}

// mayList refuses to show the permissions of others.
func (k *running) mayList(of *string) error {
	if of != nil && (k.user.Roles[*of] || k.user.Holds(auth.Describe, auth.Role(*of))) ||
		k.user.Holds(auth.Describe, auth.All(auth.Roles)) {
		return nil
	}
	whose := "everyone"
	if of != nil {
		whose = *of
	}
	return cqlerr.Unauthorizedf("You are not authorized to view %s's permissions", whose)
}

// gather finds the permissions that a statement lists.
func (k *running) gather(s *cql.ListPermissions, st *auth.Statement) ([]listedPermission, error) {
	var found []listedPermission
	add := func(role, resource string, p auth.Permissions) {
		for _, one := range (p & st.Permissions).Each() {
			found = append(found, listedPermission{role, resource, one})
		}
	}
	wanted := map[string]bool{}
	if st.Resource != nil {
		for _, r := range st.Resource.Above() {
			wanted[r.Name()] = true
			if s.NoRecursive {
				break
			}
		}
	}
	t := k.table("role_permissions")
	filtered := func(role, resource string, p auth.Permissions) {
		if st.Resource == nil || wanted[resource] {
			add(role, resource, p)
		}
	}
	if s.Of == nil {
		err := k.permissions(k.ctx, store.Read{Table: t}, filtered)
		return found, err
	}
	all, err := k.inherited(k.ctx, *s.Of, true)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		read := store.Read{Table: t, Keys: [][]byte{[]byte(r.name)}}
		if err := k.permissions(k.ctx, read, filtered); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func permissionRows(found []listedPermission) (*Answer, error) {
	if len(found) == 0 {
		return &Answer{}, nil
	}
	out := &Answer{Columns: permissionColumns}
	for _, f := range found {
		r, err := auth.ParseResource(f.name)
		if err != nil {
			return nil, err
		}
		name := []byte(f.role)
		out.Rows = append(out.Rows, [][]byte{name, name, []byte(r.String()), []byte(f.permission.String())})
	}
	return out, nil
}
