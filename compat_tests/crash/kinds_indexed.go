package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/cqld/cqld/protocol/client"
)

// indexedTables are a table with an index of each kind and two views. All cells of a row follow from its number.
var indexedTables = []string{
	"CREATE TABLE crash.indexed (p int, c int, n int, word text, words set<text>, m map<int, text>, l list<int>, " +
		"latest text STATIC, PRIMARY KEY (p, c)) WITH gc_grace_seconds = 1",
	"CREATE INDEX ON crash.indexed (c)",
	"CREATE INDEX ON crash.indexed (word)",
	"CREATE INDEX ON crash.indexed (words)",
	"CREATE INDEX ON crash.indexed (KEYS(m))",
	"CREATE INDEX ON crash.indexed (ENTRIES(m))",
	"CREATE INDEX ON crash.indexed (l)",
	"CREATE INDEX ON crash.indexed (latest)",
	"CREATE CUSTOM INDEX ON crash.indexed (n) USING 'StorageAttachedIndex'",
	"CREATE MATERIALIZED VIEW crash.by_word AS SELECT p, c, word, n FROM crash.indexed " +
		"WHERE p IS NOT NULL AND c IS NOT NULL AND word IS NOT NULL PRIMARY KEY (word, p, c)",
	"CREATE MATERIALIZED VIEW crash.by_c AS SELECT p, c, m FROM crash.indexed " +
		"WHERE p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, p)",
}

// word derives a text from n.
func word(n int) string { return "w" + strconv.Itoa(n%7) }

func writeIndexed(r *rand.Rand, key, before string) (statement, after string) {
	p, c := rowKey(key)
	switch {
	case before != "" && r.IntN(8) == 0:
		return fmt.Sprintf("DELETE FROM indexed WHERE p = %d AND c = %d", p, c), ""
	case before != "" && r.IntN(8) == 0:
		return fmt.Sprintf("DELETE FROM indexed WHERE p = %d AND c >= %d AND c <= %d", p, c, c), ""
	}
	n := r.IntN(1000)
	return fmt.Sprintf("INSERT INTO indexed (p, c, n, word, words, m, l, latest) VALUES (%d, %d, %d, '%s', {'%s'}, {%d: '%s'}, [%d], '%s')",
		p, c, n, word(n), word(n+1), n%5, word(n), n%3, word(n)), strconv.Itoa(n)
}

func readIndexed(ctx context.Context, c *client.Conn, found func(key, state string)) error {
	return each(ctx, c, "SELECT p, c, n, word, words FROM crash.indexed", func(row [][]byte) {
		if row[1] == nil {
			return // a partition of which only the static column is left
		}
		n := integer(row[2])
		state := strconv.Itoa(n)
		if set := elements(row[4], 1); string(row[3]) != word(n) || len(set) != 1 || string(set[0]) != word(n+1) {
			state += fmt.Sprintf(" with another's words %s and %s", row[3], set)
		}
		found(strconv.Itoa(integer(row[0])*10+integer(row[1])), state)
	})
}
