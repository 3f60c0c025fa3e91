package server_test

import (
	"io"
	"net"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server/cqltest"
)

// BenchmarkExecute measures prepared statements, 64 in flight on one connection of v4. What the client costs
// is in it, but its requests are encoded once and its answers are only counted.
func BenchmarkExecute(b *testing.B) {
	s := cqltest.RunT(b)
	c, err := client.Dial(b.Context(), s.Addr(), client.Options{Version: protocol.V4})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for _, text := range []string{
		createKeyspace, "CREATE TABLE ks.t (k int PRIMARY KEY, v text)", "INSERT INTO ks.t (k, v) VALUES (1, 'one')",
	} {
		if _, err := c.Query(b.Context(), text, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	for name, statement := range map[string]struct {
		text   string
		values []types.Value
	}{
		"read":  {"SELECT v FROM ks.t WHERE k = ?", []types.Value{intValue(1)}},
		"write": {"INSERT INTO ks.t (k, v) VALUES (?, ?)", []types.Value{intValue(2), textValue("two")}},
	} {
		b.Run(name, func(b *testing.B) {
			p, err := c.Prepare(b.Context(), statement.text, "")
			if err != nil {
				b.Fatal(err)
			}
			m := &protocol.Execute{ID: p.ID}
			m.Parameters.Consistency, m.Parameters.Values = cqlerr.One, statement.values
			m.Parameters.Flags = protocol.WithValues | protocol.SkipMetadata
			const burst = 64
			var requests []byte
			for i := range int16(burst) {
				requests = protocol.AppendRequest(requests, protocol.Header{Version: protocol.V4, Stream: i}, nil, m)
			}
			answer, err := c.Do(b.Context(), m)
			if err != nil {
				b.Fatal(err)
			}
			answers := make([]byte, burst*(protocol.HeaderSize+len(protocol.AppendBody(nil, protocol.V4, answer.Response))))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N/burst + 1 {
				exchange(b, c.NetConn(), requests, answers)
			}
		})
	}
}

func exchange(b *testing.B, socket net.Conn, requests, answers []byte) {
	if _, err := socket.Write(requests); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(socket, answers); err != nil {
		b.Fatal(err)
	}
}
