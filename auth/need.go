package auth

import "github.com/cqld/cqld/cql/schema"

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
