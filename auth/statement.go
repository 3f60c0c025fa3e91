package auth

import "github.com/cqld/cqld/cql"

// Statement is one about roles, users, permissions or identities, with the resource that it names.
type Statement struct {
	Statement   cql.Statement
	Permissions Permissions // which mean something for the resource
	Resource    *Resource   // nil: it has none
}
