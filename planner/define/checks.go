package define

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// checkTableChange refuses changes of a system table.
func checkTableChange(verb, keyspace, table string) error {
	return checkSchemaChange(verb, keyspace, "<table "+keyspace+"."+table+">")
}

// checkTablesChange refuses tables and user types in a system keyspace. Types use the permissions of all tables.
func checkTablesChange(verb, keyspace string) error {
	return checkSchemaChange(verb, keyspace, "<all tables in "+keyspace+">")
}

// checkSchemaChange refuses changes in system keyspaces, and invalid keyspace names.
func checkSchemaChange(verb, keyspace, resource string) error {
	if schema.IsLocal(strings.ToLower(keyspace)) {
		return NotModifiable(keyspace)
	}
	if schema.IsReplicatedSystem(keyspace) {
		return cqlerr.Unauthorizedf("Cannot %s %s", verb, resource)
	}
	return schema.CheckKeyspaceName(keyspace)
}

// NotModifiable is the error for a change in a system keyspace.
func NotModifiable(keyspace string) error {
	return cqlerr.Unauthorizedf("%s keyspace is not user-modifiable.", keyspace)
}

// RowsNotModifiable is the error for a write to a system table.
func RowsNotModifiable(t *schema.Table) error {
	if schema.IsLocal(t.Keyspace) {
		return NotModifiable(t.Keyspace)
	}
	return cqlerr.Unauthorizedf("%s.%s table is not user-modifiable.", t.Keyspace, t.Name)
}

// skipOr returns the catalog as it is if the statement skips what it finds, by IF EXISTS or IF NOT EXISTS. Otherwise it
// refuses the statement.
func skipOr(skip bool, c *schema.Catalog, refused error) (*schema.Catalog, Outcome, error) {
	if skip {
		return c, Outcome{}, nil
	}
	return nil, Outcome{}, refused
}

// findTable returns a table or view, or an error.
func findTable(c *schema.Catalog, keyspace, name string) (*schema.Table, error) {
	if c.Keyspace(keyspace) == nil {
		return nil, keyspaceMissing(keyspace)
	}
	if t := c.Table(keyspace, name); t != nil {
		return t, nil
	}
	return nil, cqlerr.Invalidf("Table '%s' doesn't exist", name)
}

// keyspaceMissing is the error for a missing keyspace.
func keyspaceMissing(name string) error { return cqlerr.Invalidf("Keyspace '%s' doesn't exist", name) }

// functionsMissing is the error for a missing keyspace when Cassandra looks for the permissions on its functions.
func functionsMissing(keyspace string) error {
	return cqlerr.Configf("Keyspace %s doesn't exist", keyspace)
}

// tableMissing is the error for a missing table.
func tableMissing(keyspace, name string) error {
	return cqlerr.Invalidf("Table '%s.%s' doesn't exist", keyspace, name)
}

// Limits of types. A type is stored, compared and sent with all its parts, and each user type may double the size of
// the types it contains.
const (
	maxTypeParts = 4096
	maxTypeDepth = 200
)

// checkTypeSize refuses types that are too large.
func checkTypeSize(t types.Type) error {
	if parts, depth := types.Size(t); parts > maxTypeParts || depth > maxTypeDepth {
		return cqlerr.Invalidf("A type may consist of at most %d others, nested at most %d times", maxTypeParts, maxTypeDepth)
	}
	return nil
}

// checkEachSize is checkTypeSize for each type.
func checkEachSize(all []types.Type) error {
	for _, t := range all {
		if err := checkTypeSize(t); err != nil {
			return err
		}
	}
	return nil
}

// checkTypeSizes refuses a change of a type that makes a type that uses it too large.
func checkTypeSizes(k *schema.Keyspace, name string) error {
	for _, t := range k.Types {
		if types.UsesUserType(t, name) {
			if err := checkTypeSize(t); err != nil {
				return err
			}
		}
	}
	for _, table := range k.TablesAndViews() {
		if !table.UsesType(name) {
			continue
		}
		for _, c := range table.Columns {
			if err := checkTypeSize(c.Type); err != nil {
				return err
			}
		}
	}
	for _, r := range k.Routines() {
		if err := checkEachSize(append(slices.Clip(r.Base().Args), r.Base().Returns)); err != nil {
			return err
		}
	}
	for _, a := range k.Aggregates {
		if err := checkTypeSize(a.StateType); err != nil {
			return err
		}
	}
	return nil
}
