package server

import (
	"testing"

	"github.com/cqld/cqld/protocol"
)

// Late writes are taken out when they are answered: looking for the next one goes over none of them again, also not
// those that the store does not answer for long.
func TestLateWritesAreTakenOut(t *testing.T) {
	c := &conn{server: new(Server)}
	w := &c.pendingWrites
	add := func() *request {
		r := newRequest(c, protocol.Header{}, nil)
		w.add(r, "SIMPLE")
		return r
	}
	late := []*request{add(), add(), add()}
	c.server.rounds.Add(1)
	early := add()
	for _, r := range late {
		if got := w.claimLate(1); got != r || !r.write.late || w.first == r {
			t.Fatalf("%p is claimed, want %p; the first is %p", got, r, w.first)
		}
	}
	if r := w.claimLate(1); r != nil || w.first != early || w.last != early {
		t.Errorf("%p is claimed; from %p to %p are left, want %p", r, w.first, w.last, early)
	}
	for _, r := range append(late, early) {
		w.remove(r) // as when the store answers
	}
	if w.first != nil || w.last != nil {
		t.Error("something is left")
	}
}
