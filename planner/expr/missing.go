package expr

import "github.com/cqld/cqld/cql"

// checkBuilt refuses functions that are not the server's own.
func checkBuilt(name cql.QualifiedName) error {
	if !IsNative(name) {
		return NotSupported("A user-defined function")
	}
	return nil
}

// isAggregateName reports whether a native aggregate has that name.
func isAggregateName(name cql.QualifiedName) bool {
	switch name.Name {
	case "count", "max", "min", "sum", "avg":
		return IsNative(name)
	}
	return false
}
