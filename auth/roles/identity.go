package roles

import (
	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/store"
)

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
