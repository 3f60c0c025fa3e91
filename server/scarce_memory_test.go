package server_test

import (
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Reads with small answers do not wait for turns while memory for answers is scarce.
func TestSmallReadsWhileMemoryIsScarce(t *testing.T) {
	const page = 1 << 20
	limits := scarce
	limits.Stalled = time.Hour
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, inside.Limits(limits), inside.Log(zerolog.Nop()))
	fill(t, s, 32, page/32)
	neighbour := connect(t, s, client.Options{})
	small := prepare(t, neighbour, "SELECT v FROM ks.t WHERE k = 1", "")
	read := func() {
		t.Helper()
		if _, err := executeID(t, neighbour, small.ID, small.ResultMetadataID, 0); err != nil {
			t.Fatal(err)
		}
	}
	unread := queryOf(0, "SELECT * FROM ks.wide WHERE p = 1")
	for range 12 {
		c := connect(t, s, client.Options{})
		if err := c.NetConn().(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		sendAll(t, c, 16, unread)
	}
	eventually(t, "memory is scarce", func() bool { return inside.Of(s).Metrics().BytesAnswers > roomForAnswers/4*3 })
	e.slow(100 * time.Millisecond)
	defer e.slow(0)
	for range runtime.GOMAXPROCS(0) {
		scan := connect(t, s, client.Options{})
		sendAll(t, scan, 4, &protocol.Query{
			Query:      "SELECT c FROM ks.wide WHERE n = -1 ALLOW FILTERING",
			Parameters: protocol.QueryParameters{Consistency: cqlerr.One},
		})
	}
	before := e.scanned.Load()
	eventually(t, "scans hold all turns", func() bool { return e.scanned.Load() > before+4 })
	before = e.scanned.Load()
	for range 20 {
		read()
	}
	if n := e.scanned.Load() - before; n > 20 {
		t.Errorf("%d keys were scanned during 20 reads", n)
	}
}
