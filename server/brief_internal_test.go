package server

import (
	"testing"

	"github.com/cqld/cqld/store/pace"
)

// Only some connections begin reads at a time. One that waits for something makes room for another.
func TestFewConnectionsBegin(t *testing.T) {
	s := &Server{scheduler: pace.NewScheduler(pace.Options{Running: 2})}
	conns := make([]conn, 2*briefConnections+1)
	for i := range conns {
		conns[i].server = s
	}
	late := &conns[len(conns)-1]
	for range 2 {
		for i := range conns {
			if c := &conns[i]; c.mayBegin() != (c != late) {
				t.Errorf("connection %d of %d: may begin is %v", i, len(conns), c == late)
			}
		}
	}
	late.beginNoMore()
	conns[3].beginNoMore()
	conns[3].beginNoMore()
	if !late.mayBegin() || conns[3].mayBegin() {
		t.Error("what one gave up, another did not get")
	}
	for i := range conns {
		conns[i].beginNoMore()
	}
	if n := s.beginning.Load(); n != 0 {
		t.Errorf("%d connections are counted, and none begins reads", n)
	}
}
