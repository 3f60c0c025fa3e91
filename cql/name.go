package cql

import "strings"

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

// reservedWords can be names only in quotes.
var reservedWords = wordSet(`add allow alter and apply asc authorize batch begin by columnfamily create
	delete desc describe drop entries execute from full grant if in index infinity insert into is keyspace
	limit materialized modify nan norecursive not null of on or order primary rename revoke select set table
	to token truncate unlogged update use using view where with`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// Quote returns a name as it is written in the language and printed in errors and by DESCRIBE: in double
// quotes unless it is a lower-case word that is not reserved.
//
//	v -> v    V -> "V"    order -> "order"    a"b -> "a""b"
func Quote(name string) string {
	if isPlainName(name) && !reservedWords[name] {
		return name
	}
	return quoteName(name)
}

// quoteName writes a name in quotes.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func isPlainName(name string) bool {
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	for i := 1; i < len(name); i++ {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// ident prints a name so that it is read as one. Cassandra, and so Quote, leaves some words bare that are none.
func ident(name string) string {
	switch name {
	case "true", "false", "schema":
		return quoteName(name)
	}
	return Quote(name)
}
