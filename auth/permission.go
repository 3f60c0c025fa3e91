package auth

import (
	"math/bits"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// Permissions is a set of permissions.
type Permissions uint16

// The permissions, in the order in which Cassandra lists them.
const (
	Create Permissions = 1 << iota
	Alter
	Drop
	Select
	Modify
	Authorize
	Describe
	Execute
	Unmask
	SelectMasked
)

// words are the names of permissions, in their order.
var words = [...]string{
	"CREATE", "ALTER", "DROP", "SELECT", "MODIFY", "AUTHORIZE", "DESCRIBE", "EXECUTE", "UNMASK", "SELECT_MASKED",
}

// Every is the set of all permissions.
const Every Permissions = 1<<len(words) - 1

// ParsePermission is the permission of a name in capitals, 0 if there is none.
func ParsePermission(word string) Permissions {
	for i, w := range words {
		if w == word {
			return 1 << i
		}
	}
	return 0
}

// Each are the permissions of the set, one by one.
func (p Permissions) Each() []Permissions {
	all := make([]Permissions, 0, bits.OnesCount16(uint16(p)))
	for i := range words {
		if one := Permissions(1) << i; p&one != 0 {
			all = append(all, one)
		}
	}
	return all
}

// Words are the names of the permissions in the set.
func (p Permissions) Words() []string {
	var all []string
	for i, w := range words {
		if p&(1<<i) != 0 {
			all = append(all, w)
		}
	}
	return all
}

// String is the names with commas between them.
func (p Permissions) String() string { return strings.Join(p.Words(), ", ") }

// Need is a permission that a statement requires.
type Need struct {
	Permission Permissions // one
	Resource   Resource

	granted []string // names of the resources on which the permission may be granted
	free    bool     // all users have it
}

// NewNeed makes a need. In the keyspaces of the server a permission on all keyspaces is not enough, and all users may
// read some tables.
func NewNeed(p Permissions, r Resource) Need {
	n := Need{Permission: p, Resource: r}
	servers := r.Kind == Data && schema.IsSystem(r.Keyspace)
	for _, one := range r.Above() {
		if !servers || one.Keyspace != "" {
			n.granted = append(n.granted, one.name)
		}
	}
	n.free = p == Select && servers && readable(r) || r.Kind == Functions && r.Keyspace == "system"
	return n
}

// readable reports whether all users may read a table of the server.
func readable(r Resource) bool {
	switch r.Keyspace {
	case "system_schema", "system_virtual_schema":
		return r.Object != ""
	case "system":
		switch r.Object {
		case "local", "peers", "peers_v2", "size_estimates", "table_estimates":
			return true
		}
	case "system_traces":
		return r.Object == "sessions" || r.Object == "events"
	}
	return false
}

// User is a role that has logged in, with the permissions that it was granted.
type User struct {
	Name    string
	Super   bool            // the role, or one granted to it, is a superuser
	Exists  bool            // the role was not dropped since
	Roles   map[string]bool // the role itself and all that were granted to it, also indirectly
	Version uint64          // of all roles and permissions, when they were looked at

	// Granted are the permissions by the names of their resources.
	Granted map[string]Permissions
}

// IsSuper reports whether the user may do everything: superusers may, and all clients where there are no logins.
func (u *User) IsSuper() bool { return u == nil || u.Super }

// Has reports whether the user has a permission on a resource or one above it.
func (u *User) Has(p Permissions, r Resource) bool {
	if u.IsSuper() {
		return true
	}
	for _, one := range r.Above() {
		if u.Granted[one.name]&p != 0 {
			return true
		}
	}
	return false
}

// Holds reports whether the user has a permission on just this resource.
func (u *User) Holds(p Permissions, r Resource) bool { return u.IsSuper() || u.Granted[r.name]&p != 0 }

// Check refuses a need that the user has no permission for.
func (u *User) Check(n *Need) error {
	if u.IsSuper() || n.free {
		return nil
	}
	for _, name := range n.granted {
		if u.Granted[name]&n.Permission != 0 {
			return nil
		}
	}
	return cqlerr.Unauthorizedf("User %s has no %s permission on %s or any of its parents", u.Name, n.Permission, n.Resource)
}

// CheckAll refuses a statement for the first of its needs that the user lacks.
func (u *User) CheckAll(needs []Need) error {
	if u.IsSuper() {
		return nil
	}
	for i := range needs {
		if err := u.Check(&needs[i]); err != nil {
			return err
		}
	}
	return nil
}

// Statement is one about roles, users, permissions or identities, with the resource that it names.
type Statement struct {
	Statement   cql.Statement
	Permissions Permissions // which mean something for the resource
	Resource    *Resource   // nil: it has none
}
