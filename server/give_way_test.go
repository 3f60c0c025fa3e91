package server

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// A connection that has something to serve after each read lets others run, though no read brings many messages.
func TestGiveWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const reads, messages = 10, giveWayAfter - 1
	c, _ := halfConn()
	c.serveNext = func([]byte) (int64, error) { return 1, nil }
	c.in.buf = make([]byte, messages)
	var ran atomic.Bool
	go ran.Store(true)
	for range reads {
		c.in.start, c.in.end = 0, messages
		if err := c.serveInput(); err != nil {
			t.Fatal(err)
		}
	}
	if !ran.Load() {
		t.Errorf("nobody could run while %d messages were served", reads*messages)
	}
}
