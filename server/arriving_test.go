package server_test

import (
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// roomForArriving is what messages that have not arrived completely have of the limits called scarce.
const roomForArriving = 4 << 20

// random is bytes that cannot be compressed.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	return b
}

// unfinished is a QUERY of n bytes without its last one, as a connection sends it.
func unfinished(t *testing.T, o client.Options, n int) []byte {
	t.Helper()
	m := queryOf(0, "SELECT v FROM ks.t WHERE k = 1 AND v = ?")
	m.Parameters.Flags |= protocol.WithValues
	m.Parameters.Values = append(m.Parameters.Values, textValue(string(random(n))))
	e := protocol.Encoder{Version: o.Version, Compression: o.Compression, Segments: o.Version.HasSegments()}
	bytes := e.Flush(e.AppendRequest(nil, 1, 0, nil, m))
	return bytes[:len(bytes)-1]
}

// Clients that do not finish their messages: what has arrived is bounded, others are served, and those that stall are
// closed when these wait for the memory.
func TestUnfinishedMessages(t *testing.T) {
	const size = 2 << 20
	limits := scarce
	limits.Stalled = 500 * time.Millisecond // the other client may not stall: not on a busy machine, either
	s := withTable(t, inside.Limits(limits), inside.Log(zerolog.Nop()))
	for _, test := range []struct {
		name     string
		started  bool
		protocol client.Options
	}{
		{"before STARTUP", false, client.Options{Version: protocol.V4}},
		{"v4", true, client.Options{Version: protocol.V4}},
		{"v4 LZ4", true, client.Options{Version: protocol.V4, Compression: protocol.LZ4}},
		{"v5", true, client.Options{Version: protocol.V5}},
		{"v5 LZ4", true, client.Options{Version: protocol.V5, Compression: protocol.LZ4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bytes := unfinished(t, test.protocol, size)
			if !test.started {
				bytes[4] = byte(protocol.OpStartup)
			}
			before := atRest(t, s)
			stalled := inside.Of(s).Metrics().ConnectionsStalled
			most := highest(func() int64 { return inside.Of(s).Metrics().BytesArriving })
			var sockets []net.Conn
			n := 4
			if test.protocol.Version.HasSegments() {
				n = 10
			}
			for range n {
				var socket net.Conn = dialRaw(t, s)
				if test.started {
					socket.Close()
					socket = connect(t, s, test.protocol).NetConn()
				}
				sockets = append(sockets, socket)
				go func() { _, _ = socket.Write(bytes) }() // until it is closed, perhaps
			}
			eventually(t, "messages have arrived in part", func() bool { return inside.Of(s).Metrics().BytesArriving > roomForArriving/2 })
			neighbour := connect(t, s, test.protocol)
			if _, err := neighbour.Query(testContext(t), "INSERT INTO ks.t (k, v) VALUES (2, ?)",
				values(textValue(string(make([]byte, 1<<20-4096)))), nil); err != nil {
				t.Error(err)
			}
			eventually(t, "a client that stalls is closed", func() bool { return inside.Of(s).Metrics().ConnectionsStalled > stalled })
			for _, socket := range sockets {
				socket.Close()
			}
			run(t, neighbour, "SELECT k FROM ks.t WHERE k = 1")
			neighbour.Close()
			m := most()
			t.Logf("up to %d bytes arrived, %d clients closed", m, inside.Of(s).Metrics().ConnectionsStalled-stalled)
			if m > roomForArriving+2*size { // of one that may have more than there is
				t.Errorf("up to %d bytes arrived", m)
			}
			before.expect(t, s)
		})
	}
}

// A body that is unfolded has its memory before, and gives it back.
func TestUnfoldedBodies(t *testing.T) {
	s := withTable(t, inside.Limits(scarce))
	before := atRest(t, s)
	m := queryOf(0, "SELECT v FROM ks.t WHERE k = 1")
	m.Parameters.Flags |= protocol.WithValues
	m.Parameters.Values = values(textValue(string(make([]byte, 3<<20)))) // one too many
	most := highest(func() int64 { return inside.Of(s).Metrics().BytesArriving })
	conns := make([]*client.Conn, 6)
	for i := range conns {
		conns[i] = connect(t, s, client.Options{Version: protocol.V4, Compression: protocol.LZ4})
		sendAll(t, conns[i], 2, m)
	}
	for _, c := range conns {
		for range 2 {
			a, err := c.Receive(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := a.Response.(*protocol.Error); !ok || e.Err.Code != cqlerr.Invalid {
				t.Fatalf("answer %s", what(a))
			}
		}
	}
	if m := most(); m == 0 || m > 2*roomForArriving {
		t.Errorf("up to %d bytes arrived", m)
	}
	for _, c := range conns {
		c.Close()
	}
	before.expect(t, s)
}
