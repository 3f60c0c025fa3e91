package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/expr"
)

// unsupported refuses the statements that are parsed and have no plan yet, by their names.
func unsupported(stmt cql.Statement) error {
	var name string
	switch stmt.(type) {
	case *cql.AlterKeyspace:
		name = "ALTER KEYSPACE"
	case *cql.AlterTable:
		name = "ALTER TABLE"
	default:
		return cqlerr.Serverf("no plan for a %T", stmt)
	}
	return expr.NotSupported(name)
}
