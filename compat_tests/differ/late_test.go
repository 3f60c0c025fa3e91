package main

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// TestLate asks with a deadline that has passed: the answer counts as late, and the connection is of no use any more,
// so that the answer cannot be taken for another one's.
func TestLate(t *testing.T) {
	conn, err := client.Dial(t.Context(), cqltest.RunT(t).Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	query := &protocol.Query{Query: "SELECT key FROM system.local", Parameters: parameters(nil, 0, nil)}
	passed, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	if a := ask(passed, conn, query); !a.late || !late(nil, []*answer{a}) {
		t.Errorf("got %s", a)
	}
	if a := ask(t.Context(), conn, query); a.lost == "" || a.late {
		t.Errorf("on the closed connection: got %s", a)
	}
	if err := (&pair{cassandra: conn}).close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	for err, want := range map[error]bool{
		context.DeadlineExceeded:                                true,
		&net.OpError{Op: "read", Err: context.DeadlineExceeded}: true,
		net.ErrClosed: false,
	} {
		if timedOut(err) != want {
			t.Errorf("%v: is it late?", err)
		}
	}
}
