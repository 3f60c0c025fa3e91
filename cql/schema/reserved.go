package schema

import "strings"

// reservedWords are the words that Cassandra puts in quotes when they are names.
var reservedWords = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`
		add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe drop
		entries execute from full grant if in index infinity insert into is keyspace limit materialized modify
		nan norecursive not null of on or order primary rename revoke schema select set table to token truncate
		unlogged update use using view where with`) {
		words[w] = true
	}
	return words
}()
