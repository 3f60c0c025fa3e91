// Package transfer copies tables between servers and folders. It is an ordinary client: the server may be cqld or
// Cassandra.
//
// An export is a folder with the schema (schema.cql), the parameters of the export (export.json), and for each table
// one file per part of the token ring; parts are read concurrently. A file gets its name when it is complete, so
// running an interrupted export again continues it. An import records finished files in a file named after the
// server's host id, and continues after them.
//
// A value that a format cannot represent exactly, such as an empty int, is written as its bytes.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// column is a row of system_schema.columns.
type column struct {
	name, kind, typeText string
	position             int
	typ                  types.Type // as in rows
	timed                bool       // WRITETIME and TTL of it are exported
}

func (c *column) isKey() bool { return c.kind == "partition_key" || c.kind == "clustering" }

// table is a table to copy.
type table struct {
	keyspace, name string
	columns        []*column // of the partition key, clustering, static, others
	counter        bool
	statics        bool
}

func (t *table) fullName() string { return t.keyspace + "." + t.name }

func (t *table) quoted() string { return quote.Name(t.keyspace) + "." + quote.Name(t.name) }

// where is the WHERE clause for one row or one partition.
func (t *table) where(clustering bool) string {
	var parts []string
	for _, c := range t.columns {
		if c.kind == "partition_key" || clustering && c.kind == "clustering" {
			parts = append(parts, quote.Name(c.name)+" = ?")
		}
	}
	return strings.Join(parts, " AND ")
}

// kinds are the kinds of columns in the order of an export.
var kinds = []string{"partition_key", "clustering", "static", "regular"}

// errNoTable means that a table does not exist.
var errNoTable = errors.New("there is no table")

// readTable reads the columns of a table.
func readTable(ctx context.Context, c *client.Conn, keyspace, name string) (*table, error) {
	t := &table{keyspace: keyspace, name: name}
	query := "SELECT column_name, kind, type, position FROM system_schema.columns " +
		"WHERE keyspace_name = ? AND table_name = ?"
	values := []types.Value{{Bytes: []byte(keyspace)}, {Bytes: []byte(name)}}
	err := eachRow(ctx, c, query, values, func(row [][]byte) error {
		k := &column{name: string(row[0]), kind: string(row[1]), typeText: string(row[2])}
		k.position = int(integer(row[3]))
		t.columns = append(t.columns, k)
		t.counter = t.counter || k.typeText == "counter"
		t.statics = t.statics || k.kind == "static"
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.columns) == 0 {
		return nil, fmt.Errorf("%w %s.%s", errNoTable, keyspace, name)
	}
	slices.SortFunc(t.columns, func(a, b *column) int {
		if d := slices.Index(kinds, a.kind) - slices.Index(kinds, b.kind); d != 0 {
			return d
		}
		if a.isKey() {
			return a.position - b.position
		}
		return strings.Compare(a.name, b.name)
	})
	for _, k := range t.columns {
		k.timed = !k.isKey() && !t.counter
	}
	return t, nil
}

// eachRow runs a query and calls fn with its rows.
func eachRow(
	ctx context.Context, c *client.Conn, query string, values []types.Value, fn func(row [][]byte) error,
) error {
	o := client.QueryOptions{PageSize: pageRows}
	for {
		r, err := c.Query(ctx, query, values, &o)
		if err != nil {
			return err
		}
		for _, row := range r.Rows {
			if err := fn(row); err != nil {
				return err
			}
		}
		if o.PagingState = r.PagingState; o.PagingState == nil {
			return nil
		}
	}
}

// foreignPartitioner returns the server's partitioner if it is not the Murmur3Partitioner, whose tokens are a bigint.
// Amazon Keyspaces may have the RandomPartitioner, and so may clusters from before Cassandra 1.2.
func foreignPartitioner(ctx context.Context, c *client.Conn) (name string, err error) {
	err = eachRow(ctx, c, "SELECT partitioner FROM system.local WHERE key = 'local'", nil, func(row [][]byte) error {
		if name = string(row[0]); strings.HasSuffix(name, "Murmur3Partitioner") {
			name = ""
		}
		return nil
	})
	return name[strings.LastIndexByte(name, '.')+1:], err
}

// pageRows is the page size.
const pageRows = 1000

// integer decodes an int or a bigint.
func integer(b []byte) (n int64) {
	for i, c := range b {
		if i == 0 {
			n = int64(int8(c))
			continue
		}
		n = n<<8 | int64(c)
	}
	return n
}

// newest is the maximum of a bigint, an int or a list of them; ok is false if there is none.
func newest(t types.Type, b []byte) (n int64, ok bool) {
	if b == nil {
		return 0, false
	}
	if _, list := t.(*types.List); !list {
		return integer(b), true
	}
	for e := range types.Elements(b) {
		if e == nil {
			continue
		}
		if m := integer(e); !ok || m > n {
			n, ok = m, true
		}
	}
	return n, ok
}

// cell is a value with its WRITETIME and TTL.
type cell struct {
	value     []byte // nil: null
	timestamp int64
	timed     bool // timestamp is known
	ttl       int64
}

// row has a cell for each column of its table.
type row []cell

// write is the part of a row that one statement writes.
type write struct {
	row       row
	has       []bool // the written columns outside the key
	timed     bool
	timestamp int64
	ttl       int64
	static    bool // without clustering key
}

// writesOf splits a row into statements: one for cells with the same timestamp and TTL, separately for static ones. A
// row that has only a key is written too.
func writesOf(t *table, r row) (all []*write) {
	add := func(i int, static bool) {
		c := &r[i]
		for _, w := range all {
			if w.static == static && w.timed == c.timed && w.timestamp == c.timestamp && w.ttl == c.ttl {
				w.has[i] = true
				return
			}
		}
		w := &write{row: r, has: make([]bool, len(r)), timed: c.timed, timestamp: c.timestamp, ttl: c.ttl, static: static}
		if static {
			w.row = append(row(nil), r...)
			for j, k := range t.columns {
				if k.kind == "clustering" {
					w.row[j] = cell{}
				}
			}
		}
		w.has[i] = true
		all = append(all, w)
	}
	rows, clustered := 0, true
	for i, c := range t.columns {
		switch {
		case c.kind == "clustering" && r[i].value == nil:
			clustered = false
		case !c.isKey() && r[i].value != nil:
			add(i, c.kind == "static")
			if c.kind == "regular" {
				rows++
			}
		}
	}
	if rows == 0 && clustered && !t.counter {
		all = append(all, &write{row: r, has: make([]bool, len(r))})
	}
	return all
}
