package wire

import (
	"net"
	"testing"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
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
	a := Answers{Room: pace.NewRoom(28 << 20), MaxUnread: 4 << 20}
	socket := &heldSocket{writing: make(chan struct{}), finish: make(chan struct{})}
	o := Output{Taken: func() {}, Failed: func() {}}
	o.Init(socket, &a)
	o.encoder.Version = protocol.V4
	o.Append(0, nil, &protocol.Ready{})
	<-socket.writing
	closed := make(chan struct{})
	go func() {
		o.Close()
		close(closed)
	}()
	for failed := false; !failed; {
		o.mu.Lock()
		failed = o.err != nil
		o.mu.Unlock()
	}
	close(socket.finish)
	<-closed
	if a.Room.Used() != 0 || a.unread.Load() != 0 {
		t.Errorf("%d bytes of %d outputs are charged", a.Room.Used(), a.unread.Load())
	}
}
