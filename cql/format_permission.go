package cql

import "github.com/cqld/cqld/cql/quote"

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
