package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser"
)

// An export may come from somebody else, while an import often runs as a superuser: a schema with CREATE ROLE would
// give its author the server. So an import runs what an export has: definitions of what is in a keyspace, and writes to
// the tables of its files.

var errUntrusted = errors.New("an import runs only CREATE KEYSPACE, TABLE, TYPE, INDEX, MATERIALIZED VIEW, FUNCTION " +
	"and AGGREGATE, and writes to the tables of its files; --trust runs all statements")

// permit refuses a statement of a file about a table that is not of an allowed kind.
func (i *Import) permit(text, table string, allowed func(s cql.Statement, table string) bool) error {
	if i.Trust {
		return nil
	}
	s, _, err := parser.Parse(text)
	if err == nil && !allowed(s, table) {
		err = errUntrusted
	}
	return err
}

// isDefinition reports whether a statement defines something in a keyspace, or a keyspace.
func isDefinition(s cql.Statement, _ string) bool {
	switch s.(type) {
	case *cql.CreateKeyspace, *cql.CreateTable, *cql.CreateType, *cql.CreateIndex, *cql.CreateView, *cql.CreateFunction,
		*cql.CreateAggregate:
		return true
	}
	return false
}

// isWriteTo reports whether a statement writes rows of a table, by its full name.
func isWriteTo(s cql.Statement, table string) bool {
	var to cql.QualifiedName
	switch s := s.(type) {
	case *cql.Insert:
		to = s.Table
	case *cql.Update:
		to = s.Table
	default:
		return false
	}
	return to.Keyspace+"."+to.Name == table
}

// permitTables refuses tables of the server itself: rows of system_auth.roles are roles.
func (i *Import) permitTables(tables []string) error {
	for _, full := range tables {
		keyspace, _, _ := strings.Cut(full, ".")
		if slices.Contains(systemKeyspaces, keyspace) && !i.Trust {
			return fmt.Errorf("the export has %s, a table of the server itself: --trust imports it too", full)
		}
	}
	return nil
}
