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

// column is a column of a table, as system_schema.columns has it.
type column struct {
	name, kind, typeText string
	position             int
	typ                  types.Type // as rows have it
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

// where is the WHERE clause that names one row, or a partition.
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

// errNoTable says that a table is not defined.
var errNoTable = errors.New("there is no table")

// readTable asks for the columns of a table.
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

// pageRows is how many rows a page has.
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

func bigint(n int64) []byte {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(n >> (56 - 8*i))
	}
	return b
}

// newest is the greatest number of a bigint or an int, or of a list of them, and whether there is one.
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

// cell is a value with what WRITETIME and TTL say of it.
type cell struct {
	value     []byte // nil: null
	timestamp int64
	timed     bool // timestamp is known
	ttl       int64
}

// row has a cell for each column of its table.
type row []cell
