package main

import (
	"context"
	"io"
	"net"
	"testing"
)

// TestJoin sends bytes through to a server and back, and wants the client cut off when the context ends.
func TestJoin(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		echo, err := l.Accept()
		if err != nil {
			return
		}
		defer echo.Close()
		_, _ = io.Copy(echo, echo)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	client, inner := net.Pipe()
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		join(ctx, inner, l.Addr().String())
	}()
	if _, err := client.Write([]byte("options")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("options"))
	if _, err := io.ReadFull(client, answer); err != nil || string(answer) != "options" {
		t.Errorf("answer %q: %v", answer, err)
	}
	cancel()
	<-joined
	if n, err := client.Read(answer); err != io.EOF {
		t.Errorf("read %d bytes after the end: %v", n, err)
	}
}
