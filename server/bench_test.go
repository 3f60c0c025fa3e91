package server_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
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
		"CREATE TABLE ks.wide (k int PRIMARY KEY, a blob, b blob, c blob, d blob, e blob)",
	} {
		if _, err := c.Query(b.Context(), text, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	cell := types.Value{Bytes: bytes.Repeat([]byte{'x'}, 100)}
	cells := []types.Value{cell, cell, cell, cell, cell}
	newKey := types.Value{Bytes: binary.BigEndian.AppendUint32(nil, lastKey)}
	newRow, oldRow := append([]types.Value{newKey}, cells...), append([]types.Value{intValue(1)}, cells...)
	const insert = "INSERT INTO ks.wide (k, a, b, c, d, e) VALUES (?, ?, ?, ?, ?, ?)"
	p, err := c.Prepare(b.Context(), insert, "")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := c.Execute(b.Context(), p, oldRow, nil); err != nil {
		b.Fatal(err)
	}
	for _, statement := range []struct {
		name, text string
		values     []types.Value
	}{
		{"read", "SELECT v FROM ks.t WHERE k = ?", []types.Value{intValue(1)}},
		{"write", "INSERT INTO ks.t (k, v) VALUES (?, ?)", []types.Value{intValue(2), textValue("two")}},
		{"overwrite", insert, oldRow},
		{"insert", insert, newRow},
		{"conditional insert", insert + " IF NOT EXISTS", newRow},
		{
			"conditional update", "UPDATE ks.wide SET a = ?, b = ?, c = ?, d = ?, e = ? WHERE k = ? IF a = ?",
			append(slices.Clone(cells), intValue(1), cell),
		},
	} {
		b.Run(statement.name, func(b *testing.B) {
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
			keys := append(occurrences(requests, newKey.Bytes), newKey.Bytes)
			renew(keys)
			answer, err := c.Do(b.Context(), m)
			if err != nil {
				b.Fatal(err)
			}
			answers := make([]byte, burst*(protocol.HeaderSize+len(protocol.AppendBody(nil, protocol.V4, answer.Response))))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N/burst + 1 {
				renew(keys)
				exchange(b, c.NetConn(), requests, answers)
			}
		})
	}
}

// lastKey is the last key that renew gave.
var lastKey uint32 = 0x7e57ab1e

// renew replaces each key by one that has no row yet.
func renew(keys [][]byte) {
	for _, key := range keys {
		lastKey++
		binary.BigEndian.PutUint32(key, lastKey)
	}
}

// occurrences returns all places of a key in requests.
func occurrences(requests, key []byte) (places [][]byte) {
	for {
		at := bytes.Index(requests, key)
		if at < 0 {
			return places
		}
		places, requests = append(places, requests[at:at+len(key)]), requests[at+len(key):]
	}
}

func exchange(b testing.TB, socket net.Conn, requests, answers []byte) {
	if _, err := socket.Write(requests); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(socket, answers); err != nil {
		b.Fatal(err)
	}
}
