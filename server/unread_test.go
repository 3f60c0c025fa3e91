package server_test

import (
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// scarce are limits that a few clients come to.
var scarce = server.Limits{Memory: 16 << 20, Stalled: 200 * time.Millisecond}

// roomForAnswers is what answers have of them.
const roomForAnswers = 4 << 20

// rest is what a server with nothing to do holds.
type rest struct {
	goroutines int
}

// atRest waits until no connection is open.
func atRest(t *testing.T, s *cqltest.Server) rest {
	t.Helper()
	eventually(t, "connections end", func() bool { return inside.Of(s).Metrics().Connections == 0 })
	return rest{runtime.NumGoroutine()}
}

// expect waits until the server holds no more than then.
func (r rest) expect(t *testing.T, s *cqltest.Server) {
	t.Helper()
	eventually(t, "connections end", func() bool { return inside.Of(s).Metrics().Connections == 0 })
	defer func() {
		if t.Failed() {
			t.Log("held:", held(s))
		}
	}()
	eventually(t, "what they held is given back", func() bool { return held(s) == [5]int64{} })
	goroutinesBack(t, r.goroutines)
}

// held is what the server holds for clients: bytes of answers, of requests, of what arrives and of texts, and turns.
func held(s *cqltest.Server) [5]int64 {
	m := inside.Of(s).Metrics()
	return [5]int64{m.BytesAnswers, m.BytesInFlight, m.BytesArriving, m.BytesPlanning, m.ReadsWaiting}
}

// highest samples a number until the function it returns is called, which returns the highest one.
func highest(number func() int64) (stop func() int64) {
	end, most := make(chan struct{}), make(chan int64)
	go func() {
		var m int64
		for {
			m = max(m, number())
			select {
			case <-end:
				most <- m
				return
			case <-time.After(200 * time.Microsecond):
			}
		}
	}()
	return func() int64 {
		close(end)
		return <-most
	}
}

// Clients that ask for much and read nothing: what they are owed is bounded, others are served meanwhile, and when
// these wait for the memory those that stall are closed.
func TestUnreadAnswers(t *testing.T) {
	const page = 1 << 20
	s := withTable(t, inside.Limits(scarce), inside.Log(zerolog.Nop()))
	fill(t, s, 32, page/32)
	c := connect(t, s, client.Options{})
	run(t, c, "CREATE TABLE ks.large (k int PRIMARY KEY, v blob)", "INSERT INTO ks.wide (p, c) VALUES (2, 1)")
	large := prepare(t, c, "INSERT INTO ks.large (k, v) VALUES (1, ?)", "")
	if _, err := executeID(t, c, large.ID, large.ResultMetadataID, 0, textValue(string(make([]byte, page-4096)))); err != nil {
		t.Fatal(err)
	}
	quick := prepare(t, c, "SELECT v FROM ks.large WHERE k = 1", "")
	c.Close()
	read := &protocol.Execute{ID: quick.ID, ResultMetadataID: quick.ResultMetadataID}
	read.Parameters.Consistency = cqlerr.One
	for _, test := range []struct {
		name    string
		version protocol.Version
		request protocol.Request
	}{
		{"v4", protocol.V4, queryOf(0, "SELECT * FROM ks.wide WHERE p = 1")},
		{"v4, pages", protocol.V4, queryOf(5000, "SELECT * FROM ks.wide")},
		{"v5", protocol.V5, queryOf(0, "SELECT * FROM ks.wide")},
		{"v5, pages", protocol.V5, queryOf(5000, "SELECT * FROM ks.wide WHERE p = 1")},
		{"quick reads", protocol.V4, read},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := atRest(t, s)
			stalled := inside.Of(s).Metrics().ConnectionsStalled
			most := highest(func() int64 { return inside.Of(s).Metrics().BytesAnswers })
			clients := make([]*client.Conn, 12)
			for i := range clients {
				clients[i] = connect(t, s, client.Options{Version: test.version})
				if err := clients[i].NetConn().(*net.TCPConn).SetReadBuffer(4096); err != nil {
					t.Fatal(err)
				}
				sendAll(t, clients[i], 16, test.request)
			}
			eventually(t, "answers wait to be read", func() bool { return inside.Of(s).Metrics().BytesAnswers > roomForAnswers/2 })
			neighbour := connect(t, s, client.Options{Version: test.version})
			for range 20 {
				run(t, neighbour, "SELECT v FROM ks.t WHERE k = 1", "INSERT INTO ks.t (k, v) VALUES (1, 'one')",
					"SELECT c, n FROM ks.wide WHERE p = 2")
			}
			eventually(t, "a client that stalls is closed, or there is room", func() bool {
				m := inside.Of(s).Metrics()
				return m.ConnectionsStalled > stalled || m.BytesAnswers <= roomForAnswers/4*3
			})
			run(t, neighbour, "SELECT * FROM ks.wide WHERE p = 1")
			neighbour.Close()
			for _, c := range clients {
				c.Close()
			}
			m := most()
			t.Logf("up to %d bytes of answers, %d clients closed", m, inside.Of(s).Metrics().ConnectionsStalled-stalled)
			// Each client may be owed one answer that was begun when there was room.
			if m > roomForAnswers+int64(len(clients))*page {
				t.Errorf("up to %d bytes of answers", m)
			}
			before.expect(t, s)
		})
	}
	if inside.Of(s).Metrics().ConnectionsStalled == 0 {
		t.Error("no client was closed")
	}
}
