package tamper_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/tamper"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// unchanged passes every answer on.
func unchanged(m protocol.Response) protocol.Response { return m }

// dial connects through a proxy to a server with a table of three rows.
func dial(t *testing.T, v protocol.Version, change tamper.Change) *client.Conn {
	t.Helper()
	addr := cqltest.RunT(t).Addr()
	direct := connect(t, addr, v)
	for _, cql := range []string{
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))",
		"INSERT INTO k.t (p, c, v) VALUES (0, 1, 'one')",
		"INSERT INTO k.t (p, c) VALUES (0, 2)",
		"INSERT INTO k.t (p, c, v) VALUES (0, 3, 'three')",
	} {
		query(t, direct, cql)
	}
	return connect(t, tamper.RunT(t, addr, change), v)
}

func connect(t *testing.T, addr string, v protocol.Version) *client.Conn {
	t.Helper()
	conn, err := client.Dial(t.Context(), addr, client.Options{Version: v})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func query(t *testing.T, conn *client.Conn, cql string) *client.Result {
	t.Helper()
	result, err := conn.Query(t.Context(), cql, nil, &client.QueryOptions{Tracing: true})
	if err != nil {
		t.Fatalf("%s: %v", cql, err)
	}
	return result
}

// texts are the values of the last column.
func texts(r *client.Result) []string {
	var all []string
	for _, row := range r.Rows {
		all = append(all, string(row[len(row)-1]))
	}
	return all
}

func TestUnchanged(t *testing.T) {
	for _, v := range []protocol.Version{3, 4, 5, 6} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			conn := dial(t, v, unchanged)
			r := query(t, conn, "SELECT v FROM k.t WHERE p = 0")
			if got := texts(r); !slices.Equal(got, []string{"one", "", "three"}) || r.Rows[1][0] != nil {
				t.Errorf("rows %q", r.Rows)
			}
			if r.TracingID == [16]byte{} {
				t.Error("no tracing id")
			}
			if r := query(t, conn, "SELECT count(*) FROM k.t"); v > 3 && len(r.Warnings) != 1 {
				t.Errorf("warnings %q", r.Warnings)
			}
			wantError(t, conn, cqlerr.Invalid, "Undefined column name x in table k.t")
		})
	}
}

// TestLarge passes on an answer of several segments.
func TestLarge(t *testing.T) {
	conn := dial(t, 5, unchanged)
	large := strings.Repeat("x", 300_000)
	query(t, conn, "INSERT INTO k.t (p, c, v) VALUES (1, 1, '"+large+"')")
	if got := texts(query(t, conn, "SELECT v FROM k.t WHERE p = 1")); !slices.Equal(got, []string{large}) {
		t.Errorf("%d rows", len(got))
	}
}

func TestSwapRows(t *testing.T) {
	for _, v := range []protocol.Version{4, 5} {
		r := query(t, dial(t, v, tamper.SwapRows), "SELECT v FROM k.t WHERE p = 0")
		if got := texts(r); !slices.Equal(got, []string{"", "one", "three"}) || r.Rows[0][0] != nil {
			t.Errorf("v%d: rows %q", v, r.Rows)
		}
		same := query(t, dial(t, v, tamper.SwapRows), "SELECT p FROM k.t WHERE p = 0")
		if len(same.Rows) != 3 {
			t.Errorf("v%d: rows %q", v, same.Rows)
		}
	}
}

func TestErrors(t *testing.T) {
	conn := dial(t, 5, tamper.OtherCode(cqlerr.Invalid, cqlerr.SyntaxError))
	wantError(t, conn, cqlerr.SyntaxError, "Undefined column name x in table k.t")
	wantError(t, dial(t, 5, tamper.OtherMessage), cqlerr.Invalid, "Undefined column name x in table k.u")
}

// wantError selects a column that is not there.
func wantError(t *testing.T, conn *client.Conn, code cqlerr.Code, message string) {
	t.Helper()
	_, err := conn.Query(t.Context(), "SELECT x FROM k.t", nil, nil)
	if e, ok := cqlerr.As(err); !ok || e.Code != code || e.Message != message {
		t.Errorf("error %v", err)
	}
}

func TestDropWarnings(t *testing.T) {
	if r := query(t, dial(t, 5, tamper.DropWarnings), "SELECT count(*) FROM k.t"); len(r.Warnings) != 0 || len(r.Rows) != 1 {
		t.Errorf("warnings %q, rows %q", r.Warnings, r.Rows)
	}
}

func TestToggleMore(t *testing.T) {
	conn := dial(t, 5, tamper.ToggleMore)
	for size, more := range map[int32]bool{2: false, 10: true} {
		r, err := conn.Query(t.Context(), "SELECT v FROM k.t WHERE p = 0", nil, &client.QueryOptions{PageSize: size})
		if err != nil {
			t.Fatal(err)
		}
		if (r.PagingState != nil) != more {
			t.Errorf("pages of %d: state %x", size, r.PagingState)
		}
	}
}

func TestOtherType(t *testing.T) {
	conn := dial(t, 5, tamper.OtherType)
	r := query(t, conn, "SELECT v, c FROM k.t WHERE p = 0")
	if r.Columns[0].Type != types.Blob || r.Columns[1].Type != types.Int {
		t.Errorf("columns %v", r.Columns)
	}
	p, err := conn.Prepare(t.Context(), "SELECT blob_as_text(0x61) FROM k.t", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Result.Columns()[0].Type; got != types.Blob {
		t.Errorf("prepared %v", got)
	}
}

// loud is a testing.TB that records its failures.
type loud struct {
	testing.TB
	told []string
}

func (l *loud) Errorf(format string, args ...any) {
	l.told = append(l.told, fmt.Sprintf(format, args...))
}

// TestCompressed wants a connection with compression to fail the test, and to end.
func TestCompressed(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	for _, v := range []protocol.Version{4, 5} {
		l := &loud{}
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			l.TB = t
			ctx := context.WithoutCancel(t.Context())
			conn, err := client.Dial(ctx, tamper.RunT(l, addr, unchanged), client.Options{Version: v, Compression: protocol.LZ4})
			if err == nil {
				_, err = conn.Supported(ctx)
			}
			if err == nil {
				t.Error("it goes on")
			}
		})
		if len(l.told) != 1 || !strings.Contains(l.told[0], "compressed") {
			t.Errorf("v%d: told %q", v, l.told)
		}
	}
}
