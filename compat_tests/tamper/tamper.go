// Package tamper is a proxy between a test and a server that falsifies the answers. A test that still passes with it
// does not check the falsified part.
//
//	addr := tamper.RunT(t, cqltest.RunT(t).Addr(), tamper.SwapRows)
//
// RunT passes requests on unchanged. It decodes each answer with package protocol, lets a Change rewrite it and sends
// it with its stream id, flags, warnings and tracing id. changes.go has the usual changes.
package tamper

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/cqld/cqld/protocol"
)

// Change rewrites an answer, or an event. It may modify its argument and return it. Connections call it concurrently.
type Change = func(protocol.Response) protocol.Response

// RunT listens on 127.0.0.1 and passes connections on to addr until the test ends. Compressed connections, and answers
// that package protocol cannot read, fail the test; answers in an unsupported version pass unchanged.
func RunT(t testing.TB, addr string, change Change) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, ctx: t.Context(), listener: listener, addr: addr, change: change}
	p.running.Go(p.accept)
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		p.running.Wait()
	})
	return listener.Addr().String()
}

// proxy has the listener and whatever runs.
type proxy struct {
	t        testing.TB
	ctx      context.Context // ends before the test's cleanup
	listener net.Listener
	addr     string
	change   Change
	running  sync.WaitGroup
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() {
			defer client.Close() // after the error is reported: the test may end with it
			if err := p.serve(client); err != nil && p.ctx.Err() == nil {
				p.t.Errorf("tamper: %v", err)
			}
		})
	}
}

// serve passes one connection on until one of its ends closes it.
func (p *proxy) serve(client net.Conn) error {
	server, err := net.Dial("tcp", p.addr)
	if err != nil {
		return err
	}
	defer server.Close()
	stop := context.AfterFunc(p.ctx, func() {
		client.Close()
		server.Close()
	})
	defer stop()
	p.running.Go(func() {
		_, _ = io.Copy(server, client) // ends with either connection
		_ = server.(*net.TCPConn).CloseWrite()
	})
	a := answers{change: p.change, segments: protocol.Segments{Limit: maxBody}}
	buf := make([]byte, protocol.MaxSegmentSize)
	for {
		n, readErr := server.Read(buf)
		out, err := a.rewrite(buf[:n])
		if err != nil {
			return fmt.Errorf("an answer that cannot be read; tampering with compressed connections is impossible: %w", err)
		}
		if _, err := client.Write(out); err != nil || readErr != nil {
			return nil // an end has closed it
		}
	}
}
