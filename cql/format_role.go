package cql

import (
	"strconv"

	"github.com/cqld/cqld/cql/quote"
)

// roleName prints a role's name. One without characters can only be written as a string.
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

// user appends what CREATE USER and ALTER USER have in common. The names of users keep their case in strings.
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
