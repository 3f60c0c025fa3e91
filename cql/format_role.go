package cql

import (
	"strconv"

	"github.com/cqld/cqld/cql/quote"
)

// roleName prints the name of a role. An empty one can only be written as a string.
func roleName(name string) string {
	if name == "" {
		return "''"
	}
	return ident(name)
}

// String prints CREATE ROLE name WITH options.
func (s *CreateRole) String() string {
	var p printer
	p.create(false, "ROLE", s.IfNotExists)
	p.text(roleName(s.Role))
	p.roleOptions(s.Options)
	return p.String()
}

// String prints ALTER ROLE name WITH options.
func (s *AlterRole) String() string {
	var p printer
	p.text("ALTER ROLE ")
	p.when(s.IfExists, "IF EXISTS ")
	p.text(roleName(s.Role))
	p.roleOptions(s.Options)
	return p.String()
}

func (p *printer) roleOptions(options []RoleOption) {
	p.when(len(options) > 0, " WITH ")
	each(p, options, " AND ", func(o RoleOption) { p.text(o.String()) })
}

// String prints PASSWORD = text, as it was written: not for logs.
func (o *RolePassword) String() string {
	var p printer
	p.when(o.Hashed, "HASHED ")
	p.text("PASSWORD = ", quote.Text(o.Text))
	return p.String()
}

// String prints SUPERUSER = or LOGIN = true or false.
func (o *RoleFlag) String() string {
	word := "SUPERUSER"
	if o.Login {
		word = "LOGIN"
	}
	return word + " = " + strconv.FormatBool(o.Value)
}

// String prints OPTIONS = {map}.
func (o *RoleCustomOptions) String() string { return "OPTIONS = " + o.Options.String() }

// String prints ACCESS TO DATACENTERS or ACCESS FROM CIDRS with a set, or with ALL.
func (o *RoleAccess) String() string {
	direction, places := "TO", "DATACENTERS"
	if o.CIDRs {
		direction, places = "FROM", "CIDRS"
	}
	var p printer
	p.text("ACCESS ", direction, " ")
	p.when(len(o.Names) == 0, "ALL ")
	p.text(places)
	if len(o.Names) > 0 {
		p.text(" {")
		each(&p, o.Names, ", ", func(n string) { p.text(quote.Text(n)) })
		p.text("}")
	}
	return p.String()
}

// String prints DROP ROLE name.
func (s *DropRole) String() string { return drop("ROLE", s.IfExists, roleName(s.Role)) }

// String prints CREATE USER with the name in single quotes, which keep its case.
func (s *CreateUser) String() string {
	var p printer
	p.create(false, "USER", s.IfNotExists)
	p.user(s.Name, s.Password, s.Superuser)
	return p.String()
}

// String prints ALTER USER with the name in single quotes, which keep its case.
func (s *AlterUser) String() string {
	var p printer
	p.text("ALTER USER ")
	p.when(s.IfExists, "IF EXISTS ")
	p.user(s.Name, s.Password, s.Superuser)
	return p.String()
}

// user appends the common part of CREATE USER and ALTER USER. Names of users keep their case in strings.
func (p *printer) user(name string, password *RolePassword, superuser *bool) {
	p.text(quote.Text(name))
	if password != nil {
		p.text(" WITH ")
		p.when(password.Hashed, "HASHED ")
		p.text("PASSWORD ", quote.Text(password.Text))
	}
	if superuser != nil {
		p.when(*superuser, " SUPERUSER")
		p.when(!*superuser, " NOSUPERUSER")
	}
}

// String prints DROP USER with the name in single quotes, which keep its case.
func (s *DropUser) String() string { return drop("USER", s.IfExists, quote.Text(s.Name)) }

// String prints ADD IDENTITY identity TO ROLE role.
func (s *AddIdentity) String() string {
	var p printer
	p.text("ADD IDENTITY ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	p.text(quote.Text(s.Identity), " TO ROLE ", quote.Text(s.Role))
	return p.String()
}

// String prints DROP IDENTITY identity.
func (s *DropIdentity) String() string { return drop("IDENTITY", s.IfExists, quote.Text(s.Identity)) }

// String prints GRANT permissions ON resource TO role.
func (s *GrantPermissions) String() string {
	return "GRANT " + s.Permissions.String() + " ON " + s.Resource.String() + " TO " + roleName(s.To)
}

// String prints REVOKE permissions ON resource FROM role.
func (s *RevokePermissions) String() string {
	return "REVOKE " + s.Permissions.String() + " ON " + s.Resource.String() + " FROM " + roleName(s.From)
}

// String prints GRANT role TO role.
func (s *GrantRole) String() string { return "GRANT " + roleName(s.Role) + " TO " + roleName(s.To) }

// String prints REVOKE role FROM role.
func (s *RevokeRole) String() string {
	return "REVOKE " + roleName(s.Role) + " FROM " + roleName(s.From)
}

// String prints LIST permissions with ON, OF and NORECURSIVE if they were written.
func (s *ListPermissions) String() string {
	var p printer
	p.text("LIST ", s.Permissions.String())
	if s.Resource != nil {
		p.text(" ON ", s.Resource.String())
	}
	p.listed(s.Of, s.NoRecursive)
	return p.String()
}

// String prints LIST ROLES with OF and NORECURSIVE if they were written.
func (s *ListRoles) String() string {
	var p printer
	p.text("LIST ROLES")
	p.listed(s.Of, s.NoRecursive)
	return p.String()
}

// listed appends whose roles or permissions are listed.
func (p *printer) listed(of *string, noRecursive bool) {
	if of != nil {
		p.text(" OF ", roleName(*of))
	}
	p.when(noRecursive, " NORECURSIVE")
}

// String prints LIST USERS, which takes nothing more.
func (*ListUsers) String() string { return "LIST USERS" }

// String prints the names with commas between them, ALL PERMISSIONS where there are none.
func (list Permissions) String() string {
	if len(list) == 0 {
		return "ALL PERMISSIONS"
	}
	var p printer
	each(&p, list, ", ", func(one Permission) { p.text(string(one)) })
	return p.String()
}

// String prints the words of the resource's kind and its name.
func (r Resource) String() string {
	switch r.Kind {
	case AllKeyspaces:
		return "ALL KEYSPACES"
	case OneKeyspace:
		return "KEYSPACE " + ident(r.Name.Name)
	case AllTablesIn:
		return "ALL TABLES IN KEYSPACE " + ident(r.Name.Name)
	case OneTable:
		return "TABLE " + r.Name.String()
	case AllRoles:
		return "ALL ROLES"
	case OneRole:
		return "ROLE " + roleName(r.Name.Name)
	case AllFunctions:
		return "ALL FUNCTIONS"
	case AllFunctionsIn:
		return "ALL FUNCTIONS IN KEYSPACE " + ident(r.Name.Name)
	case OneFunction:
		var p printer
		p.text("FUNCTION ", r.Name.functionString())
		p.types(r.Args)
		return p.String()
	case AllMBeans:
		return "ALL MBEANS"
	case OneMBean:
		return "MBEAN " + quote.Text(r.MBean)
	default:
		return "MBEANS " + quote.Text(r.MBean)
	}
}
