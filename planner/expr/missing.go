package expr

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
)

// missing has the native functions of Cassandra that are not built, besides those that begin with one of
// missingPrefixes.
var missing = map[string]bool{
	"abs": true, "exp": true, "log": true, "log10": true, "round": true, "floor": true,
	"to_json": true, "tojson": true, "from_json": true, "fromjson": true, "map_keys": true, "map_values": true,
}

var missingPrefixes = []string{"cast_as_", "collection_", "similarity_", "mask_"}

// checkBuilt refuses native functions of Cassandra's that are not built.
func checkBuilt(name cql.QualifiedName) error {
	if !isNative(name) {
		return NotSupported("A user-defined function")
	}
	if functions.Known(name.Name) {
		return nil
	}
	absent := missing[name.Name]
	for _, p := range missingPrefixes {
		absent = absent || strings.HasPrefix(name.Name, p)
	}
	if absent {
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
