package cql

import (
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// QualifiedName is a table, type, index or function name, perhaps with its keyspace. Names are as they
// are compared: folded to lower case unless they were quoted.
type QualifiedName struct {
	Keyspace string // "" when not given
	Name     string
}

// String prints keyspace.name, each quoted if it must be.
func (n QualifiedName) String() string {
	if n.Keyspace == "" {
		return ident(n.Name)
	}
	return ident(n.Keyspace) + "." + ident(n.Name)
}

// wordSet is a set of words with blanks between them.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// ident prints a name so that it is read as one. Cassandra, and so quote.Name, leaves two words bare that are none.
func ident(name string) string {
	if name == "true" || name == "false" {
		return quote.Always(name)
	}
	return quote.Name(name)
}
