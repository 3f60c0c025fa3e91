package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// Connections over a limit are closed; when others end there is room again.
func TestConnectionLimits(t *testing.T) {
	for name, limits := range map[string]server.Limits{
		"in all": {Connections: 3}, "per address": {ConnectionsPerIP: 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := cqltest.RunT(t, inside.Limits(limits), inside.Log(zerolog.Nop()))
			conns := []*client.Conn{
				connect(t, s, client.Options{}), connect(t, s, client.Options{}), connect(t, s, client.Options{}),
			}
			dialRaw(t, s).expectClosed()
			if m := inside.Of(s).Metrics(); m.Connections != 3 || m.ConnectionsRefused != 1 {
				t.Errorf("%+v", m)
			}
			conns[1].Close()
			eventually(t, "a connection ends", func() bool { return inside.Of(s).Metrics().Connections == 2 })
			connect(t, s, client.Options{})
		})
	}
}

// Who does not start is closed, who is ready is not.
func TestHandshakeDeadline(t *testing.T) {
	s := cqltest.RunT(t, inside.Limits(server.Limits{Handshake: 300 * time.Millisecond}))
	started, silent, half := ready(t, s, "04"), dialRaw(t, s), dialRaw(t, s) // in this order
	half.send("0400")
	silent.expectClosed()
	half.expectClosed()
	started.send("040000010500000000")
	started.expect("840000010600000066" + optionsBody)
}

// An interceptor's errors are answered as they are, others as failures of the server without their text.
func TestInterceptor(t *testing.T) {
	s := withTable(t, inside.Log(zerolog.Nop()),
		inside.Intercept(func(_ context.Context, r *server.Inspected) error {
			switch text := strings.Join(r.Statements, ";"); {
			case r.Opcode == "EXECUTE" && text == "SELECT k FROM ks.t":
				return cqlerr.NotEnoughReplicas(cqlerr.Quorum, 2, 1)
			case strings.Contains(text, "secret"):
				return errors.New("a secret")
			case strings.Contains(text, "panic"):
				panic("not on my watch")
			case strings.Contains(text, "hang up"):
				return server.ErrHangUp
			}
			return nil
		}))
	c := connect(t, s, client.Options{Version: protocol.V5})
	p := prepare(t, c, "SELECT k FROM ks.t", "")
	_, err := executeID(t, c, p.ID, p.ResultMetadataID, 0)
	expectError(t, err, cqlerr.Unavailable, "Cannot achieve consistency level QUORUM")
	for _, text := range []string{"SELECT secret", "panic"} {
		_, err = c.Query(testContext(t), text, nil, nil)
		expectError(t, err, cqlerr.ServerError, "Internal server error; the server's log has the details")
	}
	run(t, c, "SELECT * FROM ks.t")
	if m := inside.Of(s).Metrics(); m.Errors["server_error"] != 2 || m.Errors["unavailable"] != 1 || m.Requests["EXECUTE"] != 1 {
		t.Errorf("%+v", m)
	}
	if _, err = c.Query(testContext(t), "hang up", nil, nil); err == nil || errors.As(err, new(*cqlerr.Error)) {
		t.Errorf("hang up: %v", err)
	}
}

// The connections are rows of system_views.clients.
func TestClients(t *testing.T) {
	s := cqltest.RunT(t)
	silent := dialRaw(t, s)
	c := connect(t, s, client.Options{Keyspace: "system"})
	eventually(t, "both are accepted", func() bool { return inside.Of(s).Metrics().Connections == 2 })
	r := run(t, c, "SELECT port, connection_stage, keyspace_name, username, hostname FROM system_views.clients")
	got := make(map[int]string)
	for _, row := range r.Rows {
		port := int(row[0][2])<<8 | int(row[0][3])
		got[port] = strings.TrimSpace(fmt.Sprintf("%s %s %s %s", row[1], row[2], row[3], row[4]))
	}
	port := func(c net.Conn) int { return c.LocalAddr().(*net.TCPAddr).Port }
	if len(got) != 2 || got[port(silent)] != "established" || got[port(c.NetConn())] != "ready system anonymous localhost" {
		t.Errorf("clients %v", got)
	}
}

// Serve returns nil after Shutdown, and what it was given when it fails.
func TestServe(t *testing.T) {
	s := cqltest.RunT(t)
	parts := inside.Of(s)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- parts.Serve(l) }()
	c, err := client.Dial(testContext(t), l.Addr().String(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := c.Receive(testContext(t)); !errors.Is(err, io.EOF) {
		t.Errorf("a connection of the second listener: %v", err)
	}
	if err := parts.Serve(l); !errors.Is(err, server.ErrClosed) {
		t.Errorf("Serve after Shutdown: %v", err)
	}
	if _, err := server.New(server.Options{}); err == nil {
		t.Error("New without a store succeeds")
	}
}
