package cql

// GrantPermissions gives a role permissions on a resource.
//
//	GRANT permissions ON resource TO role
type GrantPermissions struct {
	Span
	Permissions Permissions
	Resource    Resource
	To          string
}

// RevokePermissions takes permissions back.
//
//	REVOKE permissions ON resource FROM role
type RevokePermissions struct {
	Span
	Permissions Permissions
	Resource    Resource
	From        string
}

// GrantRole gives a role to another one.
//
//	GRANT role TO role
type GrantRole struct {
	Span
	Role, To string
}

// RevokeRole takes a role back.
//
//	REVOKE role FROM role
type RevokeRole struct {
	Span
	Role, From string
}

// ListPermissions shows permissions.
//
//	LIST permissions [ON resource] [OF role] [NORECURSIVE]
type ListPermissions struct {
	Span
	Permissions Permissions
	Resource    *Resource // nil when not given
	Of          *string   // nil when not given
	NoRecursive bool
}

// ListRoles shows roles.
//
//	LIST ROLES [OF role] [NORECURSIVE]
type ListRoles struct {
	Span
	Of          *string // nil when not given
	NoRecursive bool
}

// ListUsers shows the roles that may log in.
//
//	LIST USERS
type ListUsers struct{ Span }

// Permissions is what may be done; none stands for ALL PERMISSIONS.
type Permissions []Permission

// Permission is one thing that may be done: its word, in capitals.
type Permission string

// The permissions.
const (
	PermissionCreate       Permission = "CREATE"
	PermissionAlter        Permission = "ALTER"
	PermissionDrop         Permission = "DROP"
	PermissionSelect       Permission = "SELECT"
	PermissionModify       Permission = "MODIFY"
	PermissionAuthorize    Permission = "AUTHORIZE"
	PermissionDescribe     Permission = "DESCRIBE"
	PermissionExecute      Permission = "EXECUTE"
	PermissionUnmask       Permission = "UNMASK"
	PermissionSelectMasked Permission = "SELECT_MASKED"
)

// Resource is what permissions are about.
type Resource struct {
	Span
	Kind  ResourceKind
	Name  QualifiedName // of a table or function; of a keyspace or role in Name.Name
	Args  []TypeName    // of a function
	MBean string        // the pattern of MBean names
}

// ResourceKind is the form of a resource.
type ResourceKind uint8

// The forms: data, roles, functions and MBeans, from all of them to one.
const (
	AllKeyspaces ResourceKind = iota
	OneKeyspace
	AllTablesIn // a keyspace
	OneTable
	AllRoles
	OneRole
	AllFunctions
	AllFunctionsIn // a keyspace
	OneFunction
	AllMBeans
	OneMBean
	MBeanPattern
)

func (*GrantPermissions) statement()  {}
func (*RevokePermissions) statement() {}
func (*GrantRole) statement()         {}
func (*RevokeRole) statement()        {}
func (*ListPermissions) statement()   {}
func (*ListRoles) statement()         {}
func (*ListUsers) statement()         {}
