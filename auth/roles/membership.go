package roles

import (
	"slices"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/store"
)

// manage has the phases that GRANT and REVOKE of a role have in common.
func (k *running) manage(name, member string, execute func() error) phases {
	return phases{
		authorize: func() error { return k.check(auth.Authorize, auth.Role(name)) },
		validate: func() error {
			for _, one := range []string{name, member} {
				if err := k.mustExist(one, "%s doesn't exist"); err != nil {
					return err
				}
			}
			return nil
		},
		execute: func() (*Answer, error) { return &Answer{}, execute() },
	}
}

// grantRole has the phases of GRANT role TO role.
func (k *running) grantRole(name, to string) phases {
	return k.manage(name, to, func() error {
		for _, pair := range [][2]string{{to, name}, {name, to}} {
			switch is, err := k.isMember(pair[0], pair[1], true); {
			case err != nil:
				return err
			case is:
				return cqlerr.Invalidf("%s is a member of %s", pair[0], pair[1])
			}
		}
		w := k.write()
		w.element(k.table("roles"), to, "", "member_of", true, name)
		w.mark(k.table("role_members"), name, to)
		return w.apply(k.ctx)
	})
}

// revokeRole has the phases of REVOKE role FROM role.
func (k *running) revokeRole(name, from string) phases {
	return k.manage(name, from, func() error {
		is, err := k.isMember(from, name, false)
		if err != nil {
			return err
		}
		if !is {
			return cqlerr.Invalidf("%s is not a member of %s", from, name)
		}
		w := k.write()
		w.element(k.table("roles"), from, "", "member_of", false, name)
		w.deleteRow(k.table("role_members"), name, from)
		return w.apply(k.ctx)
	})
}

// isMember reports whether a role has another one. Every role has itself.
func (k *running) isMember(member, name string, indirectly bool) (bool, error) {
	all, err := k.inherited(k.ctx, member, indirectly)
	return slices.ContainsFunc(all, func(r role) bool { return r.name == name }), err
}

// addIdentity has the phases of ADD IDENTITY.
func (k *running) addIdentity(s *cql.AddIdentity) phases {
	return phases{
		authorize: func() error {
			if err := k.check(auth.Create, auth.All(auth.Roles)); err != nil || k.user.IsSuper() {
				return err
			}
			r, err := k.role(k.ctx, s.Role)
			if err == nil && r.super {
				err = cqlerr.Unauthorizedf("Only superusers can bind identities to a role with superuser status")
			}
			return err
		},
		validate: func() error {
			if err := k.mustExist(s.Role, "Can not add identity for non-existent role '%s'"); err != nil {
				return err
			}
			of, err := k.roleOf(k.ctx, s.Identity)
			if err == nil && of != "" && !s.IfNotExists {
				err = cqlerr.Invalidf("%s already exists", s.Identity)
			}
			return err
		},
		execute: func() (*Answer, error) {
			if of, err := k.roleOf(k.ctx, s.Identity); err != nil || of != "" {
				return &Answer{}, err
			}
			if s.Identity == "" {
				return nil, cqlerr.Invalidf("Key may not be empty")
			}
			w, t := k.write(), k.table("identity_to_role")
			m := w.row(t, s.Identity, "")
			m.Mark(w.at, store.Expiry{})
			m.Set(t.Column("role"), []byte(s.Role), w.at, store.Expiry{})
			return &Answer{}, w.apply(k.ctx)
		},
	}
}

// dropIdentity has the phases of DROP IDENTITY.
func (k *running) dropIdentity(s *cql.DropIdentity) phases {
	return phases{
		authorize: func() error {
			of, err := k.roleOf(k.ctx, s.Identity)
			switch {
			case err != nil:
				return err
			case of == "":
				return k.check(auth.Drop, auth.All(auth.Roles))
			}
			if err := k.check(auth.Drop, auth.Role(of)); err != nil || k.user.IsSuper() {
				return err
			}
			bearer, err := k.User(k.ctx, of)
			if err == nil && bearer.Super {
				err = cqlerr.Unauthorizedf("Only superusers can remove identity bindings from a role with superuser status")
			}
			return err
		},
		validate: func() error {
			of, err := k.roleOf(k.ctx, s.Identity)
			if err == nil && of == "" && !s.IfExists {
				err = cqlerr.Invalidf("identity '%s' doesn't exist", s.Identity)
			}
			return err
		},
		execute: func() (*Answer, error) {
			if of, err := k.roleOf(k.ctx, s.Identity); err != nil || of == "" {
				return &Answer{}, err
			}
			w := k.write()
			w.deletePartition(k.table("identity_to_role"), s.Identity)
			return &Answer{}, w.apply(k.ctx)
		},
	}
}
