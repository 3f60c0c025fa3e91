package server

import (
	"io"
	"net"
	"testing"
	"time"

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

// halfSocket takes everything at once, and notes when it was half closed. Its client sends nothing and closes it.
type halfSocket struct {
	net.Conn
	halfClosed bool
}

func (s *halfSocket) Write(b []byte) (int, error)      { return len(b), nil }
func (s *halfSocket) Read([]byte) (int, error)         { return 0, io.EOF }
func (s *halfSocket) SetReadDeadline(time.Time) error  { return nil }
func (s *halfSocket) SetWriteDeadline(time.Time) error { return nil }

func (s *halfSocket) CloseWrite() error {
	s.halfClosed = true
	return nil
}

// A connection that ends waits for a client that was answered a moment ago to read that, and for no other.
func TestCloseAfterAnswers(t *testing.T) {
	c, socket := halfConn()
	c.out.wrote = monotonic() + time.Hour
	if c.closeAfterAnswers(); !socket.halfClosed {
		t.Error("a client that was just answered is not waited for")
	}
	c, socket = halfConn()
	c.out.wrote = monotonic() - lingerTime
	if c.closeAfterAnswers(); socket.halfClosed {
		t.Error("a client that was answered long ago is waited for")
	}
	c, _ = halfConn()
	before := monotonic()
	c.out.busy()
	c.out.append(1, nil, &protocol.Void{})
	if c.closeAfterAnswers(); c.out.wrote < before {
		t.Error("the time of the last answer is not noted")
	}
}

// halfConn is a connection with such a socket.
func halfConn() (*conn, *halfSocket) {
	var m memory
	l := Limits{}.withDefaults()
	m.init(&l)
	socket := new(halfSocket)
	c := &conn{socket: socket}
	c.out.taken, c.out.failed, c.out.soon = func() {}, func() {}, func() {}
	c.out.init(socket, &m)
	c.out.encoder.Version = protocol.V4
	return c, socket
}
