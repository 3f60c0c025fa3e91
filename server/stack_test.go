package server_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

const createKeyspace = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

func connect(t *testing.T, s *cqltest.Server, o client.Options) *client.Conn {
	t.Helper()
	if o.TLS == nil {
		o.TLS = s.TLSConfig()
	}
	c, err := client.Dial(testContext(t), s.Addr(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// run runs statements that have to succeed and returns the last one's result.
func run(t *testing.T, c *client.Conn, statements ...string) (result *client.Result) {
	t.Helper()
	for _, text := range statements {
		var err error
		if result, err = c.Query(testContext(t), text, nil, nil); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return result
}

// withTable starts a server with ks.t (k int PRIMARY KEY, v text), which has a row 1, 'one'.
func withTable(t *testing.T, options ...cqltest.Option) *cqltest.Server {
	t.Helper()
	s := cqltest.RunT(t, options...)
	c := connect(t, s, client.Options{})
	run(t, c, createKeyspace, "CREATE TABLE ks.t (k int PRIMARY KEY, v text)",
		"INSERT INTO ks.t (k, v) VALUES (1, 'one')")
	c.Close()
	eventually(t, "the connection ends", func() bool { return inside.Of(s).Metrics().Connections == 0 })
	return s
}

func intValue(n int) types.Value {
	return types.Value{Bytes: binary.BigEndian.AppendUint32(nil, uint32(n))}
}

func textValue(s string) types.Value { return types.Value{Bytes: []byte(s)} }

// expectError fails unless err is an error of that code and text; an empty text is any.
func expectError(t *testing.T, err error, code cqlerr.Code, text string) {
	t.Helper()
	e, ok := cqlerr.As(err)
	if !ok || e.Code != code || text != "" && e.Message != text {
		t.Errorf("got error %v, want %#x %s", err, code, text)
	}
}

// answers sends requests, the i-th on stream i, and receives as many answers by stream.
func answers(t *testing.T, c *client.Conn, requests ...protocol.Request) []*client.Answer {
	t.Helper()
	for i, m := range requests {
		if err := c.Send(testContext(t), int16(i), 0, nil, m); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]*client.Answer, len(requests))
	for range requests {
		a, err := c.Receive(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		if i := a.Header.Stream; i < 0 || int(i) >= len(got) || got[i] != nil {
			t.Fatalf("an answer on stream %d", i)
		}
		got[a.Header.Stream] = a
	}
	return got
}

// what names the kind of an answer.
func what(a *client.Answer) string { return a.Response.String() }
