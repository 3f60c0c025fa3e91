package define

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// anonymous is the user of every client on a server without logins. Anonymous clients cannot use roles and
// permissions, so this file has only the errors that come before that refusal. Statements that are run are first
// checked for the rights of superusers, which PREPARE does not check.
const anonymous = "anonymous"

// errAnonymous refuses clients that have not logged in.
func errAnonymous() error {
	return cqlerr.Unauthorizedf("You have to be logged in and not anonymous to perform this request")
}

// roleManager is the class in which Cassandra keeps roles.
const roleManager = "org.apache.cassandra.auth.CassandraRoleManager"

// role plans the statements about roles, users and identities.
func (p *planning) role(stmt cql.Statement) error {
	switch s := stmt.(type) {
	case *cql.CreateRole:
		return p.createRole(s.Role, s.Options)
	case *cql.CreateUser:
		return p.createRole(s.Name, userOptions(s.Password, s.Superuser))
	case *cql.AlterRole:
		return p.alterRole(s.Role, s.Options)
	case *cql.AlterUser:
		return p.alterRole(s.Name, userOptions(s.Password, s.Superuser))
	case *cql.DropRole:
		return p.namedRole(s.Role)
	case *cql.DropUser:
		return p.namedRole(s.Name)
	case *cql.AddIdentity:
		return p.namedRole(s.Role)
	case *cql.DropIdentity:
		return p.namedRole(s.Identity)
	}
	return errAnonymous()
}

// userOptions converts the options of a user to role options.
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

// createRole plans CREATE ROLE and CREATE USER.
func (p *planning) createRole(name string, options []cql.RoleOption) error {
	if f := superuserFlag(options); p.env.Run && f != nil && f.Value {
		return cqlerr.Unauthorizedf("Only superusers can create a role with superuser status")
	}
	if err := checkRoleOptions(options); err != nil {
		return err
	}
	if name == "" {
		return cqlerr.Invalidf("Role name can't be an empty string")
	}
	return p.checkAccess(options)
}

// alterRole plans ALTER ROLE and ALTER USER.
func (p *planning) alterRole(name string, options []cql.RoleOption) error {
	if err := authorizeAlteration(name, options); p.env.Run && err != nil {
		return err
	}
	if err := checkRoleOptions(options); err != nil {
		return err
	}
	if len(options) == 0 {
		return cqlerr.Invalidf("ALTER [ROLE|USER] can't be empty")
	}
	return p.checkAccess(options)
}

// authorizeAlteration refuses changes reserved for superusers, and changes of the role anonymous.
func authorizeAlteration(name string, options []cql.RoleOption) error {
	switch {
	case superuserFlag(options) != nil:
		return cqlerr.Unauthorizedf("Only superusers are allowed to alter superuser status")
	case access(options, false) != nil:
		return cqlerr.Unauthorizedf("Only superusers are allowed to alter access to datacenters.")
	case access(options, true) != nil:
		return cqlerr.Unauthorizedf("Only superusers are allowed to alter access from CIDR groups.")
	case name != anonymous:
		return nil
	}
	for _, o := range options {
		return cqlerr.Unauthorizedf("You aren't allowed to alter %s", optionName(o))
	}
	return nil
}

// namedRole plans a statement about an existing role or identity.
func (p *planning) namedRole(name string) error {
	if p.env.Run && name == "" {
		return cqlerr.Invalidf("Key may not be empty")
	}
	return errAnonymous()
}

// checkRoleOptions refuses options that require logins.
func checkRoleOptions(options []cql.RoleOption) error {
	for _, o := range options {
		switch o.(type) {
		case *cql.RolePassword, *cql.RoleCustomOptions:
			return cqlerr.Invalidf("%s doesn't support %s", roleManager, optionName(o))
		}
	}
	return nil
}

// optionName is the name of an option in messages, "" for access.
func optionName(o cql.RoleOption) string {
	switch o := o.(type) {
	case *cql.RolePassword:
		if o.Hashed {
			return "HASHED_PASSWORD"
		}
		return "PASSWORD"
	case *cql.RoleCustomOptions:
		return "OPTIONS"
	case *cql.RoleFlag:
		if o.Login {
			return "LOGIN"
		}
		return "SUPERUSER"
	}
	return ""
}

// checkAccess refuses unknown datacenters and CIDR groups, then anonymous clients.
func (p *planning) checkAccess(options []cql.RoleOption) error {
	elsewhere := func(name string) bool {
		at := p.placement()
		return at.Nodes[name] == 0 && (at.Nodes != nil || name != at.Datacenter)
	}
	if names := access(options, false); slices.ContainsFunc(names, elsewhere) {
		return cqlerr.Invalidf("Invalid value(s) for DATACENTERS '%s',All values must be valid datacenters",
			schema.HashSet(names))
	}
	if groups := access(options, true); len(groups) > 0 {
		return cqlerr.Invalidf("Invalid CIDR group(s): %s. Available CIDR Groups are: []", schema.HashSet(groups))
	}
	return errAnonymous()
}

// superuserFlag is the option SUPERUSER, or nil.
func superuserFlag(options []cql.RoleOption) *cql.RoleFlag {
	for _, o := range options {
		if f, is := o.(*cql.RoleFlag); is && !f.Login {
			return f
		}
	}
	return nil
}

// access returns the distinct names of ACCESS TO or FROM: empty for ALL, nil if the option is missing.
func access(options []cql.RoleOption, cidrs bool) []string {
	var names []string
	for _, o := range options {
		a, is := o.(*cql.RoleAccess)
		if !is || a.CIDRs != cidrs {
			continue
		}
		if names == nil {
			names = []string{}
		}
		for _, n := range a.Names {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}
