package roles

import (
	"context"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// managePermissions has the phases that GRANT and REVOKE of permissions have in common.
func (k *running) managePermissions(grantee string, s *auth.Statement) phases {
	on := *s.Resource
	return phases{
		authorize: func() error {
			need := auth.NewNeed(auth.Authorize, on)
			if err := k.user.Check(&need); err != nil {
				return err
			}
			for _, p := range s.Permissions.Each() {
				need := auth.NewNeed(p, on)
				if err := k.user.Check(&need); err != nil {
					return err
				}
			}
			return nil
		},
		validate: func() error {
			if err := k.mustExist(grantee, "Role %s doesn't exist"); err != nil {
				return err
			}
			there, err := k.thereIs(on)
			if err == nil && !there {
				err = cqlerr.Invalidf("Resource %s doesn't exist", on)
			}
			return err
		},
	}
}

// thereIs reports whether a resource exists. There are no MBeans.
func (k *running) thereIs(r auth.Resource) (bool, error) {
	if r.Keyspace == "" && r.Object == "" {
		return true, nil
	}
	switch r.Kind {
	case auth.Roles:
		return k.exists(r.Object)
	case auth.Beans:
		return false, nil
	}
	catalog := k.store.Catalog()
	in := catalog.Keyspace(r.Keyspace)
	switch {
	case in == nil || r.Object == "":
		return in != nil, nil
	case r.Kind == auth.Data:
		return catalog.Table(r.Keyspace, r.Object) != nil, nil
	}
	return in.Function(r.Object, r.Args) != nil || in.Aggregate(r.Object, r.Args) != nil, nil
}

// neverGranted are the permissions that cannot be granted on the keyspaces of the server, unless they are virtual.
const neverGranted = auth.Every &^ (auth.Select | auth.Describe | auth.Alter)

// grant has the phases of GRANT permissions.
func (k *running) grant(to string, s *auth.Statement) phases {
	p := k.managePermissions(to, s)
	validate := p.validate
	p.validate = func() error {
		if err := validate(); err != nil {
			return err
		}
		on := s.Resource
		if on.Kind == auth.Data && schema.IsSystem(on.Keyspace) && !k.isVirtual(on.Keyspace) && s.Permissions&neverGranted != 0 {
			return cqlerr.Unauthorizedf("Granting permissions on system keyspaces is strictly limited, this operation is not " +
				"permitted")
		}
		return nil
	}
	p.execute = func() (*Answer, error) {
		has, err := k.granted(to, s.Resource.Name())
		if err != nil {
			return nil, err
		}
		out := &Answer{}
		if before := has & s.Permissions; before != 0 {
			out.Warnings = []string{"Role '" + to + "' was already granted " + before.String() + " on " + s.Resource.String()}
		}
		w := k.write()
		w.grant(to, s.Resource.Name(), s.Permissions&^has)
		return out, w.apply(k.ctx)
	}
	return p
}

// isVirtual reports whether a keyspace has only tables that are made by code.
func (k *running) isVirtual(name string) bool {
	in := k.store.Catalog().Keyspace(name)
	return in != nil && in.Virtual
}

// revoke has the phases of REVOKE permissions.
func (k *running) revoke(from string, s *auth.Statement) phases {
	p := k.managePermissions(from, s)
	p.execute = func() (*Answer, error) {
		has, err := k.granted(from, s.Resource.Name())
		if err != nil {
			return nil, err
		}
		out := &Answer{}
		if missing := s.Permissions &^ has; missing != 0 {
			out.Warnings = []string{"Role '" + from + "' was not granted " + missing.String() + " on " + s.Resource.String()}
		}
		w, taken := k.write(), has&s.Permissions
		if taken != 0 {
			w.element(k.table("role_permissions"), from, s.Resource.Name(), "permissions", false, taken.Words()...)
			if has == taken {
				w.deleteRow(k.table(indexTable), s.Resource.Name(), from)
			}
		}
		return out, w.apply(k.ctx)
	}
	return p
}

// granted are the direct permissions of a role on a resource.
func (k *running) granted(name, resource string) (has auth.Permissions, err error) {
	err = k.permissionsOf(k.ctx, name, resource, func(_ string, p auth.Permissions) { has = p })
	return has, err
}

// indexTable has the roles that were granted something on a resource. The spelling is Cassandra's.
const indexTable = "resource_role_permissons_index"

// grant adds permissions.
func (w *writing) grant(to, resource string, p auth.Permissions) {
	if p != 0 {
		w.element(w.k.table("role_permissions"), to, resource, "permissions", true, p.Words()...)
		w.mark(w.k.table(indexTable), resource, to)
	}
}

// revokeAllFrom takes all permissions from a role.
func (w *writing) revokeAllFrom(ctx context.Context, name string) error {
	resources, err := w.k.clusterings(ctx, "role_permissions", name)
	if err != nil {
		return err
	}
	for _, r := range resources {
		w.deleteRow(w.k.table(indexTable), r, name)
	}
	w.deletePartition(w.k.table("role_permissions"), name)
	return nil
}

// revokeAllOn takes all permissions on a resource from all roles.
func (w *writing) revokeAllOn(ctx context.Context, resource string) error {
	names, err := w.k.clusterings(ctx, indexTable, resource)
	if err != nil || len(names) == 0 {
		return err
	}
	for _, n := range names {
		w.deleteRow(w.k.table("role_permissions"), n, resource)
	}
	w.deletePartition(w.k.table(indexTable), resource)
	return nil
}

// Created gives a user all permissions on the resources that it has created.
func (k *Keeper) Created(ctx context.Context, u *auth.User, resources []auth.Resource) error {
	if u == nil || len(resources) == 0 {
		return nil
	}
	k.changes.Lock()
	defer k.changes.Unlock()
	w := k.write()
	for _, r := range resources {
		w.grant(u.Name, r.Name(), r.Applicable())
	}
	return w.apply(ctx)
}

// Dropped takes away all permissions on dropped resources.
func (k *Keeper) Dropped(ctx context.Context, resources []auth.Resource) error {
	if len(resources) == 0 {
		return nil
	}
	k.changes.Lock()
	defer k.changes.Unlock()
	w := k.write()
	for _, r := range resources {
		if err := w.revokeAllOn(ctx, r.Name()); err != nil {
			return err
		}
	}
	return w.apply(ctx)
}
