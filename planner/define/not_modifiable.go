package define

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

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
