package cql

// CreateRole defines a role.
//
//	CREATE ROLE [IF NOT EXISTS] role [WITH option [AND option]...]
type CreateRole struct {
	Span
	Role        string
	IfNotExists bool
	Options     []RoleOption
}

// AlterRole changes options of a role.
//
//	ALTER ROLE [IF EXISTS] role [WITH option [AND option]...]
type AlterRole struct {
	Span
	Role     string
	IfExists bool
	Options  []RoleOption
}

// DropRole removes a role.
//
//	DROP ROLE [IF EXISTS] role
type DropRole struct {
	Span
	Role     string
	IfExists bool
}

// RoleOption is one option of a role. The kinds are the structs with a roleOption method.
type RoleOption interface {
	roleOption()
	String() string // as in the statement
}

// RolePassword is PASSWORD = 'text' or HASHED PASSWORD = 'text'.
type RolePassword struct {
	Hashed bool
	Text   string
}

// RoleFlag is SUPERUSER = boolean, or LOGIN = boolean.
type RoleFlag struct {
	Login bool // SUPERUSER otherwise
	Value bool
}

// RoleCustomOptions is OPTIONS = {...}.
type RoleCustomOptions struct{ Options *MapLiteral }

// RoleAccess is ACCESS TO or FROM places: ALL DATACENTERS, DATACENTERS {...}, ALL CIDRS, CIDRS {...}.
type RoleAccess struct {
	CIDRs bool     // DATACENTERS otherwise
	Names []string // none: ALL
}

// CreateUser defines a role that may log in, in an older way.
//
//	CREATE USER [IF NOT EXISTS] name [WITH [HASHED] PASSWORD 'text'] [SUPERUSER | NOSUPERUSER]
type CreateUser struct {
	Span
	Name        string
	IfNotExists bool
	Password    *RolePassword // nil when not given
	Superuser   *bool         // nil when not given
}

// AlterUser changes a role, in an older way.
//
//	ALTER USER [IF EXISTS] name [WITH [HASHED] PASSWORD 'text'] [SUPERUSER | NOSUPERUSER]
type AlterUser struct {
	Span
	Name      string
	IfExists  bool
	Password  *RolePassword // nil when not given
	Superuser *bool         // nil when not given
}

// DropUser removes a role, in an older way.
//
//	DROP USER [IF EXISTS] name
type DropUser struct {
	Span
	Name     string
	IfExists bool
}

// AddIdentity lets the bearer of a certificate log in as a role.
//
//	ADD IDENTITY [IF NOT EXISTS] identity TO ROLE role
type AddIdentity struct {
	Span
	Identity    string
	IfNotExists bool
	Role        string
}

// DropIdentity revokes that.
//
//	DROP IDENTITY [IF EXISTS] identity
type DropIdentity struct {
	Span
	Identity string
	IfExists bool
}

func (*CreateRole) statement()   {}
func (*AlterRole) statement()    {}
func (*DropRole) statement()     {}
func (*CreateUser) statement()   {}
func (*AlterUser) statement()    {}
func (*DropUser) statement()     {}
func (*AddIdentity) statement()  {}
func (*DropIdentity) statement() {}

func (*RolePassword) roleOption()      {}
func (*RoleFlag) roleOption()          {}
func (*RoleCustomOptions) roleOption() {}
func (*RoleAccess) roleOption()        {}

// GrantPermissions gives a role permissions on a resource.
//
//	GRANT permissions ON resource TO role
type GrantPermissions struct {
	Span
	Permissions Permissions
	Resource    Resource
	To          string
}

// RevokePermissions revokes permissions.
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

// RevokeRole revokes a role.
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

// Permissions lists permissions; none means ALL PERMISSIONS.
type Permissions []Permission

// Permission is a permission by its word, in capitals.
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

// Resource is the resource of permissions.
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
