package define

import (
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// checkTableChange refuses to change, or to drop, a table that comes with the server.
func checkTableChange(verb, keyspace, table string) error {
	return checkSchemaChange(verb, keyspace, "<table "+keyspace+"."+table+">")
}

// checkTablesChange refuses tables and user types in a keyspace that comes with the server: permissions of types are
// those of all tables.
func checkTablesChange(verb, keyspace string) error {
	return checkSchemaChange(verb, keyspace, "<all tables in "+keyspace+">")
}

// checkSchemaChange refuses changes of what comes with the server, and of keyspaces that cannot be.
func checkSchemaChange(verb, keyspace, resource string) error {
	if schema.IsLocal(strings.ToLower(keyspace)) {
		return NotModifiable(keyspace)
	}
	if schema.IsReplicatedSystem(keyspace) {
		return cqlerr.Unauthorizedf("Cannot %s %s", verb, resource)
	}
	return schema.CheckKeyspaceName(keyspace)
}

// NotModifiable is the refusal of any change in a keyspace that is the server's own.
func NotModifiable(keyspace string) error {
	return cqlerr.Unauthorizedf("%s keyspace is not user-modifiable.", keyspace)
}

// RowsNotModifiable is the refusal to write to a table whose rows are the server's own.
func RowsNotModifiable(t *schema.Table) error {
	if schema.IsLocal(t.Keyspace) {
		return NotModifiable(t.Keyspace)
	}
	return cqlerr.Unauthorizedf("%s.%s table is not user-modifiable.", t.Keyspace, t.Name)
}
