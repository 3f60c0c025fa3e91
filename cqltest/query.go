package cqltest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Rows are the rows of an answer, in its order; a statement without an answer has none.
type Rows struct {
	Columns []string // their names

	// Values has the cells of each row as Go's ordinary values. Null is nil, and
	//
	//	tinyint, smallint, int, bigint, counter  int
	//	float, double                            float32, float64
	//	boolean                                  bool
	//	text, ascii, uuid, timeuuid              string
	//	decimal, duration                        string, as CQL prints them
	//	varint                                   *big.Int
	//	blob                                     []byte
	//	timestamp, date                          time.Time in UTC
	//	time                                     time.Duration since midnight
	//	inet                                     netip.Addr
	//	list, set, vector, tuple                 []any
	//	map                                      map[any]any; keys that Go cannot compare are strings, as CQL prints them
	//	user types                               map[string]any
	Values [][]any

	text []string // the rows as CQL prints them
}

// String is the rows as CQL prints values, one a line with commas between them:
//
//	1, 'tea', null
//	2, 'milk', ['a', 'b']
func (r *Rows) String() string { return strings.Join(r.text, "\n") }

// Query runs a statement and returns all rows that it answers. It fails the test if the statement is refused.
//
//	if got := srv.Query(t, "SELECT name FROM shop.items WHERE id = ?", 1).String(); got != "'tea'" {
//
// Arguments are bound to the statement's markers and converted to their types: from the Go types of Rows.Values, and
// from others whose meaning is clear. A string, or a value with a method String, is converted to any type that is a
// string in JSON, such as a uuid, a timestamp or a decimal.
//
// Like Exec, it is no client: faults do not apply to it, Statements does not list it, and it runs on a node that is
// up, at level ONE, in the keyspace of the last USE.
func (s *Server) Query(t testing.TB, statement string, args ...any) *Rows {
	t.Helper()
	r, values, err := s.query(statement, args)
	if values != nil {
		err = values
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return r
}

// QueryErr runs a statement and returns its error. It fails the test if there is none.
func (s *Server) QueryErr(t testing.TB, statement string, args ...any) error {
	t.Helper()
	r, values, err := s.query(statement, args)
	if values != nil {
		t.Fatalf("%s: %v", statement, values)
	}
	if err == nil {
		t.Fatalf("%s: want an error, it answers %d rows\n%s", statement, len(r.Values), r)
	}
	return err
}

// query runs a statement. values is an error in the arguments, err an error of the server.
func (s *Server) query(statement string, args []any) (r *Rows, values, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), setupTime)
	defer cancel()
	err = s.setup.use(ctx, s.upAddr(), s.setupOptions, func(c *client.Conn) error {
		var result *client.Result
		var err error
		if len(args) == 0 {
			result, err = c.Query(ctx, statement, nil, nil)
		} else {
			var p *client.Prepared
			if p, err = c.Prepare(ctx, statement, ""); err != nil {
				return err
			}
			var bound []types.Value
			if bound, values = bind(p.Bind.Columns(), args); values != nil {
				return nil
			}
			result, err = c.Execute(ctx, p, bound, nil)
		}
		if err != nil {
			return err
		}
		r = rowsOf(result)
		return nil
	})
	return r, values, err
}

// bind converts arguments to the markers' types.
func bind(markers []protocol.ColumnSpec, args []any) ([]types.Value, error) {
	if len(args) != len(markers) {
		return nil, fmt.Errorf("%d arguments for %d markers", len(args), len(markers))
	}
	values := make([]types.Value, len(args))
	for i, m := range markers {
		b, err := encode(m.Type, args[i])
		if err != nil {
			return nil, fmt.Errorf("argument %d, for %s: %w", i+1, m.Name, err)
		}
		values[i].Bytes = b
	}
	return values, nil
}

// rowsOf are the rows of an answer.
func rowsOf(result *client.Result) *Rows {
	r := &Rows{}
	for _, c := range result.Columns {
		r.Columns = append(r.Columns, c.Name)
	}
	for _, row := range result.Rows {
		values, text := make([]any, len(row)), make([]string, len(row))
		for i, cell := range row {
			values[i], text[i] = decode(result.Columns[i].Type, cell), "null"
			if cell != nil {
				text[i] = result.Columns[i].Type.Format(cell)
			}
		}
		r.Values, r.text = append(r.Values, values), append(r.text, strings.Join(text, ", "))
	}
	return r
}
