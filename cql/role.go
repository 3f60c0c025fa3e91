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

// RoleOption is one option of a role. The kinds are the structs that have a roleOption method.
type RoleOption interface {
	roleOption()
	String() string // as the statement has it
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

// DropIdentity takes that back.
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
