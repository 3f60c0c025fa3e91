package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// answerer is a server that answers with what a function says, on one connection after the other.
type answerer struct {
	newest protocol.Version
	answer func(s *serverConn, m protocol.Request) []protocol.Response
}

// serverConn is one connection of an answerer.
type serverConn struct {
	sock     net.Conn
	enc      protocol.Encoder
	segments protocol.Segments
	requests protocol.Requests
	rest     []byte
	header   protocol.Header
}

// listen starts the server; it ends with the test.
func listen(t *testing.T, a answerer) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			sock, err := l.Accept()
			if err != nil {
				return
			}
			c := &serverConn{sock: sock, segments: protocol.Segments{Limit: 1 << 24}}
			if err := a.serve(c); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				t.Errorf("the server: %v", err)
			}
			_ = sock.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

func (a answerer) serve(c *serverConn) error {
	for {
		m, err := c.read()
		if err != nil {
			return err
		}
		c.enc.Version = c.header.Version
		if c.header.Version > a.newest {
			c.enc.Version = a.newest
			err := c.write(0, &protocol.Error{Err: cqlerr.Protocolf("Invalid or unsupported protocol version (%d)",
				c.header.Version)})
			if err != nil {
				return err
			}
			continue
		}
		start, ok := m.(*protocol.Startup)
		if ok {
			name, _ := start.Get(protocol.OptionCompression)
			c.enc.Compression, _ = protocol.ParseCompression(name, c.enc.Version)
		}
		for _, answer := range a.answer(c, m) {
			stream := c.header.Stream
			if answer.Opcode() == protocol.OpEvent {
				stream = protocol.EventStream
			}
			if err := c.write(stream, answer); err != nil {
				return err
			}
		}
		if ok && c.enc.Version.HasSegments() {
			c.enc.Segments, c.segments.Compressed = true, c.enc.Compression == protocol.LZ4
		}
	}
}

func (c *serverConn) write(stream int16, m protocol.Response) error {
	prefix := &protocol.Prefix{Warnings: []string{"be careful"}}
	_, err := c.sock.Write(c.enc.Flush(c.enc.Append(nil, stream, prefix, m)))
	return err
}

func (c *serverConn) read() (protocol.Request, error) {
	for {
		if c.enc.Segments {
			envelopes, n, err := c.segments.Next(c.rest)
			if err != nil {
				return nil, err
			}
			c.rest = c.rest[n:]
			if len(envelopes) > 0 {
				var body []byte
				if c.header, body, _, err = protocol.CutEnvelope(envelopes, 1<<24); err != nil {
					return nil, err
				}
				return c.requests.Decode(c.header, body)
			}
			if n > 0 {
				continue
			}
		} else if len(c.rest) >= protocol.HeaderSize {
			c.header = protocol.ParseHeader(c.rest)
			end := protocol.HeaderSize + int(c.header.Length)
			if len(c.rest) >= end {
				body, err := c.enc.Compression.Body(c.header, c.rest[protocol.HeaderSize:end], nil, 1<<24)
				if err != nil {
					return nil, err
				}
				c.rest = c.rest[end:]
				return c.requests.Decode(c.header, body)
			}
		}
		buf := make([]byte, 4096)
		n, err := c.sock.Read(buf)
		if err != nil {
			return nil, err
		}
		c.rest = append(c.rest, buf[:n]...)
	}
}

var columns = protocol.NewColumnSpecs([]protocol.ColumnSpec{
	{Keyspace: "ks", Table: "t", Name: "k", Type: types.Int},
	{Keyspace: "ks", Table: "t", Name: "v", Type: types.Blob},
})

// echo answers queries with rows made of their values, and forgets the first statement it prepares.
func echo(forget bool) func(*serverConn, protocol.Request) []protocol.Response {
	prepared := 0
	return func(_ *serverConn, m protocol.Request) []protocol.Response {
		rows := func(p *protocol.QueryParameters) []protocol.Response {
			cells := []byte{0, 0, 0, 1, 7}
			for _, v := range p.Values {
				cells = append(append(cells, byte(len(v.Bytes)>>24), byte(len(v.Bytes)>>16), byte(len(v.Bytes)>>8),
					byte(len(v.Bytes))), v.Bytes...)
			}
			return []protocol.Response{&protocol.Rows{
				Metadata: protocol.RowsMetadata{Columns: columns, Skip: p.Flags.Has(protocol.SkipMetadata)},
				Count:    1, Cells: cells,
			}}
		}
		change := protocol.SchemaChange{Change: "CREATED", Target: "TABLE", Keyspace: "ks", Name: "t"}
		switch m := m.(type) {
		case *protocol.Startup, *protocol.Register:
			return []protocol.Response{&protocol.Ready{}}
		case *protocol.Options:
			return []protocol.Response{&protocol.Supported{
				Options: []protocol.SupportedOption{{Key: "CQL_VERSION", Values: []string{"3.4.7"}}},
			}}
		case *protocol.Prepare:
			prepared++
			return []protocol.Response{&protocol.Prepared{
				ID: []byte{byte(prepared)}, ResultMetadataID: []byte{1}, Bind: columns, Result: columns,
			}}
		case *protocol.Execute:
			if forget && m.ID[0] == 1 {
				return []protocol.Response{&protocol.Error{Err: cqlerr.UnpreparedID(m.ID)}}
			}
			return rows(&m.Parameters)
		case *protocol.Batch:
			return []protocol.Response{&protocol.Void{}}
		case *protocol.Query:
			switch {
			case strings.HasPrefix(m.Query, "USE "):
				return []protocol.Response{&protocol.SetKeyspace{Keyspace: strings.Trim(m.Query[4:], `"`)}}
			case strings.HasPrefix(m.Query, "CREATE"):
				return []protocol.Response{
					&protocol.Event{Type: protocol.SchemaChanges, Schema: change}, &change,
				}
			case strings.HasPrefix(m.Query, "SELECT"):
				return rows(&m.Parameters)
			}
		}
		return []protocol.Response{&protocol.Error{Err: cqlerr.Invalidf("no such thing")}}
	}
}

// combinations are all ways to connect.
func combinations() (list []Options) {
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5, protocol.V6} {
		for _, c := range []protocol.Compression{protocol.NoCompression, protocol.LZ4, protocol.Snappy} {
			if c != protocol.Snappy || v.HasSnappy() {
				list = append(list, Options{Version: v, Compression: c, Keyspace: `Ks`})
			}
		}
	}
	return list
}

// TestStatements runs every kind of request in every version and compression.
func TestStatements(t *testing.T) {
	addr := listen(t, answerer{protocol.V6, echo(true)})
	ctx := t.Context()
	for _, o := range combinations() {
		c, err := Dial(ctx, addr, o)
		if err != nil {
			t.Fatalf("%s %s: %v", o.Version, o.Compression, err)
		}
		statements(ctx, t, c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func statements(ctx context.Context, t *testing.T, c *Conn) {
	t.Helper()
	big := bytes.Repeat([]byte("0123456789"), 30000) // more than a segment
	result, err := c.Query(ctx, "SELECT", []types.Value{{Bytes: big}}, nil)
	if err != nil || len(result.Rows) != 1 || !bytes.Equal(result.Rows[0][1], big) || len(result.Columns) != 2 {
		t.Fatalf("%s: %v", c.Version(), err)
	}
	if want := c.Version().HasWarnings(); want != (len(result.Warnings) == 1) {
		t.Errorf("%s: warnings %q", c.Version(), result.Warnings)
	}
	p, err := c.Prepare(ctx, "SELECT", "")
	if err != nil {
		t.Fatal(err)
	}
	result, err = c.Execute(ctx, p, []types.Value{{Bytes: []byte("v")}}, &QueryOptions{SkipMetadata: true})
	if err != nil || len(result.Columns) != 2 || string(result.Rows[0][1]) != "v" {
		t.Errorf("%s: %+v, %v", c.Version(), result, err)
	}
	if _, err := c.Batch(ctx, protocol.LoggedBatch, []protocol.BatchChild{{Query: "x"}}, nil); err != nil {
		t.Error(err)
	}
	if m, err := c.Supported(ctx); err != nil || m.Get("CQL_VERSION")[0] != "3.4.7" {
		t.Error(m, err)
	}
	var e *cqlerr.Error
	if _, err = c.Query(ctx, "DROP", nil, nil); !errors.As(err, &e) || e.Code != cqlerr.Invalid {
		t.Error(err)
	}
	if err := c.Register(ctx, protocol.SchemaChanges); err != nil {
		t.Error(err)
	}
	if result, err = c.Query(ctx, "CREATE", nil, nil); err != nil || result.SchemaChange.Name != "t" {
		t.Error(result, err)
	}
	if event, err := c.NextEvent(ctx); err != nil || event.Schema.Name != "t" {
		t.Error(event, err)
	}
}

// TestDialTakesTheNewestVersion dials servers that know fewer versions.
func TestDialTakesTheNewestVersion(t *testing.T) {
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
		addr := listen(t, answerer{v, echo(false)})
		c, err := Dial(t.Context(), addr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Version() != v {
			t.Errorf("%s, want %s", c.Version(), v)
		}
		_ = c.Close()
	}
}

// TestAuthentication logs in with a right and a wrong password, and without one.
func TestAuthentication(t *testing.T) {
	addr := listen(t, answerer{protocol.V5, func(_ *serverConn, m protocol.Request) []protocol.Response {
		switch m := m.(type) {
		case *protocol.Startup:
			return []protocol.Response{&protocol.Authenticate{Authenticator: protocol.PasswordAuthenticator}}
		case *protocol.AuthResponse:
			switch string(m.Token) {
			case "\x00u\x00p":
				return []protocol.Response{&protocol.AuthSuccess{}}
			case "\x00u\x00more":
				return []protocol.Response{&protocol.AuthChallenge{Token: []byte("more")}}
			}
		}
		return []protocol.Response{&protocol.Error{Err: &cqlerr.Error{Code: cqlerr.BadCredentials, Message: "wrong"}}}
	}})
	for password, want := range map[string]string{
		"p": "", "q": "wrong", "": "the server asks for a user and a password", "more": "asks for more than a user",
	} {
		o := Options{Username: "u", Password: password, Compression: protocol.LZ4}
		if password == "" {
			o.Username = ""
		}
		c, err := Dial(t.Context(), addr, o)
		if want == "" {
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", password, err)
		}
	}
}

// TestContext waits for an answer that does not come.
func TestContext(t *testing.T) {
	addr := listen(t, answerer{protocol.V5, func(_ *serverConn, m protocol.Request) []protocol.Response {
		if _, ok := m.(*protocol.Startup); ok {
			return []protocol.Response{&protocol.Ready{}}
		}
		return nil
	}})
	c, err := Dial(t.Context(), addr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := c.Query(ctx, "SELECT", nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_ = c.Close()
}

// TestRawEnvelopes sends bytes that the client did not encode.
func TestRawEnvelopes(t *testing.T) {
	addr := listen(t, answerer{protocol.V5, echo(false)})
	c, err := Dial(t.Context(), addr, Options{Compression: protocol.LZ4})
	if err != nil {
		t.Fatal(err)
	}
	envelope := protocol.AppendRequest(nil, protocol.Header{Version: protocol.V5, Stream: 99}, nil, &protocol.Options{})
	if err := c.SendEnvelope(t.Context(), envelope); err != nil {
		t.Fatal(err)
	}
	h, body, err := c.ReceiveEnvelope(t.Context())
	if err != nil || h.Stream != 99 || h.Opcode != protocol.OpSupported || len(body) == 0 {
		t.Errorf("%+v %x %v", h, body, err)
	}
	_ = c.Close()
}
