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
		if got := w.claimLate(plainWrites, 1); got != r || !r.write.late || w.classes[plainWrites].first == r {
			t.Fatalf("%p is claimed, want %p", got, r)
		}
	}
	list := &w.classes[plainWrites]
	if r := w.claimLate(plainWrites, 1); r != nil || list.first != early || list.last != early {
		t.Errorf("%p is claimed; from %p to %p are left, want %p", r, list.first, list.last, early)
	}
	for _, r := range append(late, early) {
		w.remove(r) // as when the store answers
	}
	if list.first != nil || list.last != nil {
		t.Error("something is left")
	}
}
