package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
)

// missing has the native functions of Cassandra that are not built.
var missing = map[string]bool{"floor": true}

// checkBuilt refuses native functions of Cassandra's that are not built.
func checkBuilt(name cql.QualifiedName) error {
	if !isNative(name) {
		return NotSupported("A user-defined function")
	}
	if functions.Known(name.Name) {
		return nil
	}
	if missing[name.Name] {
		return NotSupported("The function " + name.Name)
	}
	return nil
}

// isAggregateName reports whether a native aggregate has that name.
func isAggregateName(name cql.QualifiedName) bool {
	switch name.Name {
	case "count", "max", "min", "sum", "avg":
		return isNative(name)
	}
	return false
}
