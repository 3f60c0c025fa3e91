package server

import (
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/wire"
	"github.com/cqld/cqld/store/pace"
)

// halfSocket takes everything at once, and notes when it was half closed. Its client sends as many bytes as are read,
// and closes it when there are none left.
type halfSocket struct {
	net.Conn
	bytes      int
	halfClosed bool
}

func (s *halfSocket) Write(b []byte) (int, error)      { return len(b), nil }
func (s *halfSocket) SetReadDeadline(time.Time) error  { return nil }
func (s *halfSocket) SetWriteDeadline(time.Time) error { return nil }

func (s *halfSocket) Read(b []byte) (int, error) {
	n := min(len(b), s.bytes)
	if s.bytes -= n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (s *halfSocket) CloseWrite() error {
	s.halfClosed = true
	return nil
}

// halfConn is a connection with such a socket.
func halfConn(bytes int) (*conn, *halfSocket) {
	socket := &halfSocket{bytes: bytes}
	c := &conn{socket: socket}
	c.out.Taken, c.out.Failed = func() {}, func() {}
	c.out.Init(socket, &wire.Answers{Room: pace.NewRoom(28 << 20), MaxUnread: 4 << 20})
	c.out.Speak(protocol.V4, protocol.NoCompression)
	return c, socket
}

// A connection that ends waits for a client that was answered a moment ago to read that, and for no other.
func TestCloseAfterAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for pause, want := range map[time.Duration]bool{0: true, lingerTime: false} {
			c, socket := halfConn(0)
			c.out.Append(1, nil, &protocol.Void{})
			c.out.Flush()
			time.Sleep(pause)
			if c.closeAfterAnswers(); socket.halfClosed != want {
				t.Errorf("%v after the last answer the client is waited for: %v", pause, socket.halfClosed)
			}
		}
		c, socket := halfConn(0)
		c.out.Busy()
		c.out.Append(1, nil, &protocol.Void{})
		if c.closeAfterAnswers(); !socket.halfClosed {
			t.Error("the last answer is not written, or its time not noted")
		}
	})
}

// A connection that has something to serve after each read lets others run, though no read brings many messages.
func TestGiveWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const reads, messages = 10, giveWayAfter - 1
	c, socket := halfConn(0)
	c.serveNext = func([]byte) (int64, error) { return 1, nil }
	var ran atomic.Bool
	go ran.Store(true)
	for range reads {
		socket.bytes = messages
		if err := errors.Join(c.in.MakeRoom(), c.in.Fill(socket), c.serveInput()); err != nil {
			t.Fatal(err)
		}
	}
	if !ran.Load() {
		t.Errorf("no other goroutine ran while %d messages were served", reads*messages)
	}
}
