package server_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
)

// patience is how long a test waits for something that is to happen.
const patience = 30 * time.Second

// rawConn sends and expects bytes on a socket.
type rawConn struct {
	net.Conn
	t *testing.T
}

func dialRaw(t *testing.T, s *cqltest.Server) *rawConn {
	t.Helper()
	socket, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	return &rawConn{socket, t}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (c *rawConn) send(s string) {
	c.t.Helper()
	if _, err := c.Write(unhex(c.t, s)); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// expect reads as many bytes as s has and compares them.
func (c *rawConn) expect(s string) {
	c.t.Helper()
	want := unhex(c.t, s)
	got := make([]byte, len(want))
	c.deadline(patience)
	if n, err := io.ReadFull(c, got); err != nil {
		c.t.Fatalf("read: %v\n got %x\nwant %x", err, got[:n], want)
	}
	if !bytes.Equal(got, want) {
		c.t.Fatalf("\n got %x\nwant %x", got, want)
	}
}

// expectNothing waits a moment for bytes that should not come.
func (c *rawConn) expectNothing() {
	c.t.Helper()
	c.deadline(50 * time.Millisecond)
	var b [256]byte
	if n, err := c.Read(b[:]); n > 0 || !isTimeout(err) {
		c.t.Fatalf("got %x and error %v, want nothing", b[:n], err)
	}
}

// expectClosed expects the end of the connection, after at most what was sent before.
func (c *rawConn) expectClosed() {
	c.t.Helper()
	c.deadline(patience)
	rest, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		c.t.Fatalf("read: %v", err)
	}
	if len(rest) > 0 {
		c.t.Fatalf("got %x, want the end", rest)
	}
}

func (c *rawConn) deadline(d time.Duration) {
	c.t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		c.t.Fatal(err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
