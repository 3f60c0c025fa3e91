// Package functions enables user-defined functions in the servers of package cqltest:
//
//	srv := cqltest.RunT(t, functions.Enable())
//	srv.Exec(t, "CREATE FUNCTION shop.twice (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 2 * a;'")
//
// They are a package of their own because it brings the compiler of their Java bodies, which other tests need not link.
// A function in Go, of cqltest.Server.Function, needs no option.
package functions

import (
	_ "github.com/cqld/cqld/cql/java" // registers the compiler
	"github.com/cqld/cqld/cqltest"
)

// Enable lets clients create and call user-defined functions and aggregates. As in Cassandra they may not otherwise: it
// is WithSettings with user_defined_functions_enabled, a setting of cassandra.yaml.
func Enable() cqltest.Option {
	return cqltest.WithSettings(map[string]string{"user_defined_functions_enabled": "true"})
}
