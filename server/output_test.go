package server

import (
	"net"
	"testing"

	"github.com/cqld/cqld/protocol"
)

// heldSocket takes what is written when it is told to.
type heldSocket struct {
	net.Conn
	writing, finish chan struct{}
}

func (s *heldSocket) Write(b []byte) (int, error) {
	s.writing <- struct{}{}
	<-s.finish
	return len(b), nil
}

// An output that is closed while the system takes what is written gives back what it was charged, and no more.
func TestOutputClosedWhileWriting(t *testing.T) {
	var m memory
	l := Limits{}.withDefaults()
	m.init(&l)
	socket := &heldSocket{writing: make(chan struct{}), finish: make(chan struct{})}
	o := output{taken: func() {}, failed: func() {}}
	o.init(socket, &m)
	o.encoder.Version = protocol.V4
	o.append(0, nil, &protocol.Ready{})
	<-socket.writing
	closed := make(chan struct{})
	go func() {
		o.close()
		close(closed)
	}()
	for failed := false; !failed; {
		o.mu.Lock()
		failed = o.err != nil
		o.mu.Unlock()
	}
	close(socket.finish)
	<-closed
	if m.answers.Used() != 0 || m.unread.Load() != 0 {
		t.Errorf("%d bytes of %d outputs are charged", m.answers.Used(), m.unread.Load())
	}
}
