package roles

import (
	"slices"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/cqlerr"
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
