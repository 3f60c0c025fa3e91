package roles

import (
	"slices"
	"time"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// options are the options of a role in a statement.
type options struct {
	super, login *bool
	password     *cql.RolePassword
	datacenters  *cql.RoleAccess
	cidrs        *cql.RoleAccess
	custom       bool
	names        []string // of the options, as they are written
}

// newOptions sorts the options of a statement.
func newOptions(all []cql.RoleOption) *options {
	o := &options{}
	for _, one := range all {
		switch one := one.(type) {
		case *cql.RolePassword:
			o.password = one
			if one.Hashed {
				o.names = append(o.names, "HASHED_PASSWORD")
			} else {
				o.names = append(o.names, "PASSWORD")
			}
		case *cql.RoleCustomOptions:
			o.custom = true
			o.names = append(o.names, "OPTIONS")
		case *cql.RoleAccess:
			o.access(one)
		case *cql.RoleFlag:
			if one.Login {
				o.login = &one.Value
				o.names = append(o.names, "LOGIN")
			} else {
				o.super = &one.Value
				o.names = append(o.names, "SUPERUSER")
			}
		}
	}
	return o
}

// access adds the datacenters or CIDR groups of one option to the role's.
func (o *options) access(a *cql.RoleAccess) {
	to := &o.datacenters
	if a.CIDRs {
		to = &o.cidrs
	}
	if *to == nil {
		*to = &cql.RoleAccess{CIDRs: a.CIDRs}
	}
	for _, n := range a.Names {
		if !slices.Contains((*to).Names, n) {
			(*to).Names = append((*to).Names, n)
		}
	}
}

// validate refuses options that roles cannot have.
func (o *options) validate() error {
	if o.custom {
		return cqlerr.Invalidf("org.apache.cassandra.auth.CassandraRoleManager doesn't support OPTIONS")
	}
	if o.password != nil && o.password.Hashed {
		return checkHash(o.password.Text)
	}
	return nil
}

// validateAccess refuses datacenters and CIDR groups that do not exist.
func (k *running) validateAccess(o *options) error {
	elsewhere := func(name string) bool { return !k.inCluster(name) }
	if d := o.datacenters; d != nil && slices.ContainsFunc(d.Names, elsewhere) {
		return cqlerr.Invalidf("Invalid value(s) for DATACENTERS '%s',All values must be valid datacenters",
			schema.HashSet(d.Names))
	}
	if c := o.cidrs; c != nil && len(c.Names) > 0 {
		return cqlerr.Invalidf("Invalid CIDR group(s): %s. Available CIDR Groups are: []", schema.HashSet(c.Names))
	}
	return nil
}

// hash is the hash of the given password; nil: none was given.
func (k *running) hash(o *options) (*string, error) {
	switch {
	case o.password == nil:
		return nil, nil
	case o.password.Hashed:
		cost, err := costOf(o.password.Text)
		k.passwords.seen(cost)
		return &o.password.Text, err
	}
	hash, err := hashPassword(o.password.Text, k.cost)
	return &hash, err
}

// createRole has the phases of CREATE ROLE and CREATE USER.
func (k *running) createRole(name string, ifNotExists bool, given []cql.RoleOption) phases {
	o := newOptions(given)
	return phases{
		authorize: func() error {
			if err := k.check(auth.Create, auth.All(auth.Roles)); err != nil {
				return err
			}
			if o.super != nil && *o.super && !k.user.IsSuper() {
				return cqlerr.Unauthorizedf("Only superusers can create a role with superuser status")
			}
			return nil
		},
		validate: func() error {
			if err := o.validate(); err != nil {
				return err
			}
			if name == "" {
				return cqlerr.Invalidf("Role name can't be an empty string")
			}
			if err := k.validateAccess(o); err != nil {
				return err
			}
			there, err := k.exists(name)
			if err == nil && there && !ifNotExists {
				err = cqlerr.Invalidf("%s already exists", name)
			}
			return err
		},
		execute: func() (*Answer, error) {
			if there, err := k.exists(name); err != nil || there {
				return &Answer{}, err
			}
			return &Answer{}, k.create(name, o)
		},
	}
}

// create writes a role. Its creator gets all permissions on it.
func (k *running) create(name string, o *options) error {
	identities, err := k.identitiesOf(k.ctx, name)
	if err != nil {
		return err
	}
	if len(identities) > 0 {
		return cqlerr.Invalidf("Cannot create a role '%s' when identities already exists for it", name)
	}
	hash, err := k.hash(o)
	if err != nil {
		return err
	}
	no := false
	super, login := o.super, o.login
	if super == nil {
		super = &no
	}
	if login == nil {
		login = &no
	}
	w := k.write()
	w.role(role{name: name}, super, login, hash, true)
	on := auth.Role(name)
	w.grant(k.user.Name, on.Name(), on.Applicable())
	return w.apply(k.ctx)
}

// alterRole has the phases of ALTER ROLE and ALTER USER.
func (k *running) alterRole(name string, ifExists bool, given []cql.RoleOption) phases {
	o := newOptions(given)
	return phases{
		authorize: func() error { return k.authorizeAlteration(name, o) },
		validate: func() error {
			if err := o.validate(); err != nil {
				return err
			}
			if len(given) == 0 {
				return cqlerr.Invalidf("ALTER [ROLE|USER] can't be empty")
			}
			if err := k.validateAccess(o); err != nil {
				return err
			}
			if ifExists {
				return nil
			}
			return k.mustExist(name, "Role %s doesn't exist")
		},
		execute: func() (*Answer, error) {
			r, err := k.role(k.ctx, name)
			if err != nil || !r.exists {
				return &Answer{}, err
			}
			return &Answer{}, k.alter(r, o)
		},
	}
}

// alter writes the changes of a role.
func (k *running) alter(r role, o *options) error {
	if err := k.checkPasswordRate(r, o); err != nil {
		return err
	}
	hash, err := k.hash(o)
	if err != nil {
		return err
	}
	w := k.write()
	if o.super != nil || o.login != nil || hash != nil {
		w.role(r, o.super, o.login, hash, false)
	}
	if err := w.apply(k.ctx); err != nil {
		return err
	}
	if o.datacenters != nil {
		return cqlerr.Invalidf("ACCESS TO DATACENTERS operations not supported by AllowAllNetworkAuthorizer")
	}
	return nil
}

// passwordInterval is how often a password may be changed, because hashes are costly.
const passwordInterval = 5 * time.Second

// checkPasswordRate refuses to change a password again so soon.
func (k *running) checkPasswordRate(r role, o *options) error {
	if o.password == nil || o.password.Hashed || r.hash == "" {
		return nil
	}
	if since := k.store.Now().UnixMicro() - r.hashed; since < passwordInterval.Microseconds() {
		return cqlerr.Overloadedf("Password for role %s can only be changed every %dms.", r.name,
			passwordInterval.Milliseconds())
	}
	return nil
}

// authorizeAlteration refuses changes that only superusers may make. Others may change their own password, and roles
// on which they have the permission ALTER.
func (k *running) authorizeAlteration(name string, o *options) error {
	super := k.user.IsSuper()
	switch {
	case o.super != nil && k.user.Roles[name]:
		return cqlerr.Unauthorizedf("You aren't allowed to alter your own superuser status or that of a role granted to you")
	case super:
		return nil
	case o.super != nil:
		return cqlerr.Unauthorizedf("Only superusers are allowed to alter superuser status")
	case o.datacenters != nil:
		return cqlerr.Unauthorizedf("Only superusers are allowed to alter access to datacenters.")
	case o.cidrs != nil:
		return cqlerr.Unauthorizedf("Only superusers are allowed to alter access from CIDR groups.")
	case name != k.user.Name:
		return k.check(auth.Alter, auth.Role(name))
	}
	for _, option := range o.names {
		if option != "PASSWORD" && option != "HASHED_PASSWORD" {
			return cqlerr.Unauthorizedf("You aren't allowed to alter %s", option)
		}
	}
	return nil
}

// dropRole has the phases of DROP ROLE and DROP USER.
func (k *running) dropRole(name string, ifExists bool) phases {
	return phases{
		authorize: func() error {
			if err := k.check(auth.Drop, auth.Role(name)); err != nil || k.user.IsSuper() {
				return err
			}
			dropped, err := k.User(k.ctx, name)
			if err == nil && dropped.Exists && dropped.Super {
				err = cqlerr.Unauthorizedf("Only superusers can drop a role with superuser status")
			}
			return err
		},
		validate: func() error {
			if !ifExists {
				if err := k.mustExist(name, "%s doesn't exist"); err != nil {
					return err
				}
			}
			if name == k.user.Name {
				return cqlerr.Invalidf("Cannot DROP primary role for current login")
			}
			return nil
		},
		execute: func() (*Answer, error) {
			if there, err := k.exists(name); err != nil || !there {
				return &Answer{}, err
			}
			return &Answer{}, k.drop(name)
		},
	}
}

// drop removes a role: its memberships, its identities, and the permissions that it has and that others have on it.
func (k *running) drop(name string) error {
	w := k.write()
	roles, members := k.table("roles"), k.table("role_members")
	w.deletePartition(roles, name)
	all, err := k.clusterings(k.ctx, "role_members", name)
	if err != nil {
		return err
	}
	for _, member := range all {
		w.element(roles, member, "", "member_of", false, name)
	}
	w.deletePartition(members, name)
	identities, err := k.identitiesOf(k.ctx, name)
	if err != nil {
		return err
	}
	for _, identity := range identities {
		w.deletePartition(k.table("identity_to_role"), identity)
	}
	if err := w.revokeAllFrom(k.ctx, name); err != nil {
		return err
	}
	if err := w.revokeAllOn(k.ctx, auth.Role(name).Name()); err != nil {
		return err
	}
	return w.apply(k.ctx)
}
