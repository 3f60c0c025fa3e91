// Package quote prints names and texts in CQL syntax, for the syntax tree, types, schemas and error texts.
package quote

import "strings"

// reservedWords are the words that Cassandra quotes as names.
var reservedWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`add allow alter and apply asc authorize batch begin by columnfamily create
		delete desc describe drop entries execute from full grant if in index infinity insert into is keyspace
		limit materialized modify nan norecursive not null of on or order primary rename revoke schema select
		set table to token truncate unlogged update use using view where with`) {
		set[w] = true
	}
	return set
}()

// IsReserved reports whether a lower-case word must be quoted as a name.
func IsReserved(word string) bool { return reservedWords[word] }

// Name returns a name as printed in statements, errors and by DESCRIBE: quoted unless it is a lower-case word that is
// not reserved.
//
//	v -> v    V -> "V"    order -> "order"    a"b -> "a""b"
func Name(name string) string {
	if IsPlain(name) && !reservedWords[name] {
		return name
	}
	return Always(name)
}

// Always returns a name in double quotes.
func Always(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Text returns a string literal.
func Text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// IsPlain reports whether a name is a lower-case word, which may be reserved.
func IsPlain(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (i == 0 || (c < '0' || c > '9') && c != '_') {
			return false
		}
	}
	return name != ""
}
