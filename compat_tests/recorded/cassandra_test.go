package recorded

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// cassandra is a connection to the server.
type cassandra struct {
	t    *testing.T
	addr string
	conn *client.Conn
}

// ownKeyspace is the one of recorders in whose answers no keyspace shows.
const ownKeyspace = "recorded"

// simple is the replication of keyspaces.
const simple = " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

// answerTime is how long a statement may take: definitions are slow where other processes are busy.
const answerTime = 2 * time.Minute

func connect(t *testing.T, to string) *cassandra {
	t.Helper()
	conn, err := client.Dial(t.Context(), to, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return &cassandra{t, to, conn}
}

// keyspace makes a keyspace and uses it, and drops it after the test.
func (c *cassandra) keyspace(name string) {
	c.t.Helper()
	c.free(name)
	c.must("CREATE KEYSPACE " + name + simple)
	c.must("USE " + name)
}

// free fails if a keyspace exists already, and drops it after the test.
func (c *cassandra) free(name string) {
	c.t.Helper()
	there := c.must("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = '" + name + "'")
	if len(there.Rows) > 0 {
		c.t.Fatalf("the server has a keyspace %s already", name)
	}
	c.t.Cleanup(func() { c.must("DROP KEYSPACE IF EXISTS " + name) })
}

// try runs a statement with values in their bytes.
func (c *cassandra) try(cql string, values ...[]byte) (*client.Result, error) {
	c.t.Helper()
	bound := make([]types.Value, len(values))
	for i, v := range values {
		bound[i].Bytes = v
	}
	return c.query(cql, bound, nil)
}

func (c *cassandra) query(cql string, values []types.Value, o *client.QueryOptions) (*client.Result, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	r, err := c.conn.Query(ctx, cql, values, o)
	if err != nil && !refused(err) {
		c.t.Fatalf("%.200s: %v", cql, err)
	}
	return r, err
}

// must runs a statement that Cassandra has to take.
func (c *cassandra) must(cql string, values ...[]byte) *client.Result {
	c.t.Helper()
	r, err := c.try(cql, values...)
	if err != nil {
		c.t.Fatalf("%.200s %x: %v", cql, values, err)
	}
	return r
}

// refused reports whether an error says something of the statement, and not of the state of the server.
func refused(err error) bool {
	e, ok := cqlerr.As(err)
	if !ok {
		return false
	}
	switch e.Code {
	case cqlerr.ServerError, cqlerr.SyntaxError, cqlerr.Unauthorized, cqlerr.Invalid, cqlerr.ConfigError,
		cqlerr.AlreadyExists, cqlerr.FunctionFailure:
		return true
	}
	return false
}

// verdict is an error, or success, as the files of types print it.
func verdict(err error, ok string) string {
	if err == nil {
		return ok
	}
	e, _ := cqlerr.As(err)
	if e.Code == cqlerr.ServerError {
		return "server error " + e.Message
	}
	return "error " + e.Message
}

// unhex reads bytes as the files have them.
func (c *cassandra) unhex(s string) []byte {
	c.t.Helper()
	if s == "empty" {
		return []byte{}
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		c.t.Fatal(err)
	}
	return b
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// name writes a name so that it is not folded.
func name(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// eachLine replaces the lines that are not comments.
func eachLine(file string, replace func(line string) string) string {
	lines := strings.Split(strings.TrimSuffix(file, "\n"), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "#") {
			lines[i] = replace(line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// columns makes a table with a column for each type in the first field of the lines, and returns their names.
func (c *cassandra) columns(file string) map[string]string {
	c.t.Helper()
	c.keyspace(ownKeyspace)
	c.must("CREATE TYPE ut (a int, b text)")
	c.must(`CREATE TYPE up ("Up" int, "q""uo" frozen<ut>, plain frozen<list<float>>)`)
	columns := map[string]string{}
	create := "CREATE TABLE t (k int PRIMARY KEY"
	eachLine(file, func(line string) string {
		typ, _, _ := strings.Cut(line, "\t")
		if columns[typ] == "" {
			columns[typ] = fmt.Sprintf("c%d", len(columns))
			create += ", " + columns[typ] + " " + typ
		}
		return line
	})
	c.must(create + ")")
	return columns
}
