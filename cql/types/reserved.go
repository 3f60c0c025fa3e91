package types

import "strings"

// reservedWords are the words that are no names without quotes, in lower case.
var reservedWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`add allow alter and apply asc authorize batch begin by columnfamily create
		delete desc describe drop entries execute from full grant if in index infinity insert into is keyspace
		limit materialized modify nan norecursive not null of on or order primary rename revoke select set
		table to token truncate unlogged update use using view where with`) {
		m[w] = true
	}
	return m
}()
