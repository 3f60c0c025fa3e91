package cql

import (
	"strconv"
	"strings"

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
	return create("ROLE", s.IfNotExists) + roleName(s.Role) + with(joined(s.Options, " AND "))
}

// String prints ALTER ROLE name WITH options.
func (s *AlterRole) String() string {
	return alter("ROLE", s.IfExists) + roleName(s.Role) + with(joined(s.Options, " AND "))
}

// String prints PASSWORD = text, as it was written: not for logs.
func (o *RolePassword) String() string {
	return when(o.Hashed, "HASHED ") + "PASSWORD = " + quote.Text(o.Text)
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
	if len(o.Names) == 0 {
		return "ACCESS " + direction + " ALL " + places
	}
	quoted := make([]string, len(o.Names))
	for i, n := range o.Names {
		quoted[i] = quote.Text(n)
	}
	return "ACCESS " + direction + " " + places + " {" + strings.Join(quoted, ", ") + "}"
}

// String prints DROP ROLE name.
func (s *DropRole) String() string { return drop("ROLE", s.IfExists) + roleName(s.Role) }

// String prints CREATE USER with the name in single quotes, which keep its case.
func (s *CreateUser) String() string {
	return create("USER", s.IfNotExists) + user(s.Name, s.Password, s.Superuser)
}

// String prints ALTER USER with the name in single quotes, which keep its case.
func (s *AlterUser) String() string {
	return alter("USER", s.IfExists) + user(s.Name, s.Password, s.Superuser)
}

// user is the common part of CREATE USER and ALTER USER. Names of users keep their case in strings.
func user(name string, password *RolePassword, superuser *bool) string {
	text := quote.Text(name)
	if password != nil {
		text += " WITH " + when(password.Hashed, "HASHED ") + "PASSWORD " + quote.Text(password.Text)
	}
	if superuser != nil {
		text += " " + when(!*superuser, "NO") + "SUPERUSER"
	}
	return text
}

// String prints DROP USER with the name in single quotes, which keep its case.
func (s *DropUser) String() string { return drop("USER", s.IfExists) + quote.Text(s.Name) }

// String prints ADD IDENTITY identity TO ROLE role.
func (s *AddIdentity) String() string {
	return "ADD IDENTITY " + when(s.IfNotExists, "IF NOT EXISTS ") + quote.Text(s.Identity) + " TO ROLE " +
		quote.Text(s.Role)
}

// String prints DROP IDENTITY identity.
func (s *DropIdentity) String() string { return drop("IDENTITY", s.IfExists) + quote.Text(s.Identity) }

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
	text := "LIST " + s.Permissions.String()
	if s.Resource != nil {
		text += " ON " + s.Resource.String()
	}
	return text + listed(s.Of, s.NoRecursive)
}

// String prints LIST ROLES with OF and NORECURSIVE if they were written.
func (s *ListRoles) String() string { return "LIST ROLES" + listed(s.Of, s.NoRecursive) }

// listed is the end of both: whose roles or permissions are listed.
func listed(of *string, noRecursive bool) string {
	if of != nil {
		return " OF " + roleName(*of) + when(noRecursive, " NORECURSIVE")
	}
	return when(noRecursive, " NORECURSIVE")
}

// String prints LIST USERS, which takes nothing more.
func (*ListUsers) String() string { return "LIST USERS" }

// String prints the names with commas between them, ALL PERMISSIONS where there are none.
func (list Permissions) String() string {
	if len(list) == 0 {
		return "ALL PERMISSIONS"
	}
	return joined(list, ", ")
}

// String is the word.
func (p Permission) String() string { return string(p) }

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
		return "FUNCTION " + r.Name.functionString() + enclosed("(", r.Args, ")")
	case AllMBeans:
		return "ALL MBEANS"
	case OneMBean:
		return "MBEAN " + quote.Text(r.MBean)
	default:
		return "MBEANS " + quote.Text(r.MBean)
	}
}
