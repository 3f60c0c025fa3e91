package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/cqld/cqld/protocol/client"
)

// kind is a kind of place, with the functions that write and read it. Workers write to different keys.
type kind struct {
	name   string
	tables []string
	keys   int // per worker, below 1000
	share  int // how often it is used, in percent of its draws
	write  func(r *rand.Rand, key, before string) (statement, after string)
	read   func(ctx context.Context, c *client.Conn, found func(key, state string)) error
}

var kinds = []kind{
	{
		name: "row", keys: 300, share: 100,
		tables: []string{"CREATE TABLE crash.rows (p int, c int, n int, fill text, PRIMARY KEY (p, c)) WITH gc_grace_seconds = 0"},
		write:  writeRow, read: readRows,
	},
	{
		name: "counter", keys: 50, share: 60,
		tables: []string{"CREATE TABLE crash.counters (p int PRIMARY KEY, n counter) WITH gc_grace_seconds = 0"},
		write:  writeCounter, read: readCounters,
	},
	{
		name: "collection", keys: 50, share: 60,
		tables: []string{"CREATE TABLE crash.collections (p int PRIMARY KEY, s set<int>, m map<int, text>, l list<int>) WITH gc_grace_seconds = 0"},
		write:  writeCollection, read: readCollections,
	},
	{
		name: "batch", keys: 40, share: 60,
		tables: []string{
			"CREATE TABLE crash.batch_a (p int PRIMARY KEY, n int, fill text) WITH gc_grace_seconds = 0",
			"CREATE TABLE crash.batch_b (p int, c int, n int, PRIMARY KEY (p, c)) WITH gc_grace_seconds = 0",
		},
		write: writeBatch, read: readBatches,
	},
	{name: "indexed", keys: 50, share: 60, tables: indexedTables, write: writeIndexed, read: readIndexed},
	{name: "table", keys: 2, share: 2, write: writeTable, read: readTables},
	{
		name: "truncated", keys: 1, share: 5, write: writeTruncated, read: readTruncated,
		tables: truncatedTables(),
	},
}

// longFill: one in so many numbers has a long text.
const longFill = 97

// fill derives a text from n. Its length varies.
func fill(n int) string {
	length := n % 400
	if n%longFill == 0 {
		length = 20000 + n%1000
	}
	return strings.Repeat(strconv.Itoa(n)+" ", length/8+1)
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// integer decodes an int or a bigint; null is 0.
func integer(b []byte) int {
	switch len(b) {
	case 4:
		return int(int32(binary.BigEndian.Uint32(b)))
	case 8:
		return int(int64(binary.BigEndian.Uint64(b)))
	}
	return 0
}

// each calls fn with every row of a query.
func each(ctx context.Context, c *client.Conn, query string, fn func(row [][]byte)) error {
	o := client.QueryOptions{PageSize: 1000}
	for {
		r, err := c.Query(ctx, query, nil, &o)
		if err != nil {
			return err
		}
		for _, row := range r.Rows {
			fn(row)
		}
		if o.PagingState = r.PagingState; o.PagingState == nil {
			return nil
		}
	}
}

// rowKey has ten rows in a partition.
func rowKey(key string) (p, c int) { return number(key) / 10, number(key) % 10 }

func writeRow(r *rand.Rand, key, _ string) (statement, after string) {
	p, c := rowKey(key)
	if r.IntN(5) == 0 {
		return fmt.Sprintf("DELETE FROM rows WHERE p = %d AND c = %d", p, c), ""
	}
	n := r.IntN(1 << 30)
	return fmt.Sprintf("INSERT INTO rows (p, c, n, fill) VALUES (%d, %d, %d, '%s')", p, c, n, fill(n)), strconv.Itoa(n)
}

func readRows(ctx context.Context, c *client.Conn, found func(key, state string)) error {
	return each(ctx, c, "SELECT p, c, n, fill FROM crash.rows", func(row [][]byte) {
		found(strconv.Itoa(integer(row[0])*10+integer(row[1])), filled(row[2], row[3]))
	})
}

// filled is the state of a row with a number and a text, which must be the number's fill.
func filled(n, text []byte) string {
	if string(text) != fill(integer(n)) {
		return fmt.Sprintf("%d with another's text %s", integer(n), brief(string(text)))
	}
	return strconv.Itoa(integer(n))
}

func writeCounter(r *rand.Rand, key, before string) (statement, after string) {
	d := 1 + r.IntN(9)
	return fmt.Sprintf("UPDATE counters SET n = n + %d WHERE p = %s", d, key), strconv.Itoa(number(before) + d)
}

func readCounters(ctx context.Context, c *client.Conn, found func(key, state string)) error {
	return each(ctx, c, "SELECT p, n FROM crash.counters", func(row [][]byte) {
		found(strconv.Itoa(integer(row[0])), strconv.Itoa(integer(row[1])))
	})
}
