package main

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// session is one connection: a valid or invalid start, some requests, most of them invalid, and their answers.
type session struct {
	*mutator
	server       string
	surroundings *surroundings
	sent         *tally

	version     protocol.Version
	compression protocol.Compression
	keyspace    string
	prepared    [][]byte // ids
	bytes       []byte   // all that was sent
}

// Timeouts of reads and of writes.
const (
	quiet    = 30 * time.Millisecond
	patience = 5 * time.Second
)

// run runs one session. An error is a bug of the server.
func (s session) run(ctx context.Context) error {
	s.sent.sessions.Add(1)
	s.version = []protocol.Version{protocol.V3, protocol.V4, protocol.V4, protocol.V5, protocol.V5}[s.IntN(5)]
	s.compression = []protocol.Compression{protocol.NoCompression, protocol.NoCompression, protocol.LZ4, protocol.Snappy}[s.IntN(4)]
	if s.compression == protocol.Snappy && !s.version.HasSnappy() {
		s.compression = protocol.LZ4
	}
	s.keyspace = keyspace(s.IntN(keyspaces))
	sock, segmented, err := s.connect(ctx)
	if err != nil {
		return nil // the well-behaved client reports it if no one can connect
	}
	defer sock.Close()
	enc := protocol.Encoder{Version: s.version, Compression: s.compression, Segments: segmented}
	for range 1 + s.IntN(10) {
		s.bytes = s.append(&enc, s.bytes)
		s.sent.requests.Add(1)
	}
	_ = sock.SetWriteDeadline(time.Now().Add(patience))
	if _, err := sock.Write(s.bytes); err != nil {
		s.sent.closed.Add(1) // the server may close an invalid connection
	}
	return s.read(sock, segmented)
}

// connect opens a connection, mostly with a valid start.
func (s *session) connect(ctx context.Context) (sock net.Conn, segmented bool, err error) {
	if s.often(20) {
		d := net.Dialer{Timeout: patience}
		sock, err := d.DialContext(ctx, "tcp", s.server)
		if err == nil && s.surroundings.client != nil && !s.often(10) {
			secure := tls.Client(sock, s.surroundings.client)
			_ = secure.SetDeadline(time.Now().Add(patience))
			err = secure.HandshakeContext(ctx)
			sock = secure
		}
		return sock, s.often(5), err
	}
	o := s.surroundings.options()
	o.Version, o.Compression = s.version, s.compression
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := client.Dial(ctx, s.server, o)
	if err != nil {
		return nil, false, err
	}
	if s.often(50) {
		_, _ = c.Query(ctx, "USE "+s.keyspace, nil, nil) // renew may have dropped it for a moment
	}
	for range s.IntN(4) {
		if p, err := c.Prepare(ctx, s.text(s.keyspace), ""); err == nil {
			s.prepared = append(s.prepared, p.ID)
		}
	}
	return c.NetConn(), s.version.HasSegments(), nil
}

// append appends a request, mostly invalid, in the framing of the connection.
func (s *session) append(enc *protocol.Encoder, b []byte) []byte {
	plain := protocol.Encoder{Version: enc.Version, Compression: enc.Compression}
	if enc.Segments {
		plain.Compression = protocol.NoCompression
	}
	flags := protocol.Flags(0)
	if s.often(10) {
		flags = protocol.Flags(s.Uint32())
	}
	envelope := plain.AppendRequest(nil, int16(s.IntN(100)), flags&^protocol.FlagCompressed, nil, s.request())
	if s.often(50) {
		envelope = s.envelope(envelope)
	}
	if !enc.Segments {
		return append(b, envelope...)
	}
	segment := enc.Flush(enc.AppendEnvelope(nil, envelope))
	if s.often(10) {
		segment = s.mutator.bytes(segment)
	}
	return append(b, segment...)
}

// request makes a request of a random kind.
func (s *session) request() protocol.Request {
	switch s.IntN(12) {
	case 0:
		return &protocol.Startup{Options: []protocol.Option{{Key: protocol.OptionCQLVersion, Value: "3.4.7"}}}
	case 1:
		return &protocol.Options{}
	case 2:
		return &protocol.Register{Names: []string{"SCHEMA_CHANGE", string(s.value())}}
	case 3:
		return &protocol.AuthResponse{Token: s.value()}
	case 4:
		return &protocol.Prepare{Query: s.text(s.keyspace)}
	case 5:
		batch := &protocol.Batch{Type: protocol.BatchType(s.IntN(4)), Parameters: s.parameters()}
		for range s.IntN(5) {
			child := protocol.BatchChild{Query: s.text(s.keyspace), Values: s.values()}
			if id := s.id(); id != nil && s.often(50) {
				child.Prepared, child.ID = true, id
			}
			batch.Children = append(batch.Children, child)
		}
		return batch
	case 6, 7, 8:
		if id := s.id(); id != nil {
			return &protocol.Execute{ID: id, ResultMetadataID: s.value(), Parameters: s.parameters()}
		}
	}
	return &protocol.Query{Query: s.text(s.keyspace), Parameters: s.parameters()}
}

// id returns the id of a prepared statement; nil if there is none.
func (s *session) id() []byte {
	if len(s.prepared) == 0 {
		return nil
	}
	return s.prepared[s.IntN(len(s.prepared))]
}

func (s *session) values() (values []types.Value) {
	for range s.IntN(4) {
		v := types.Value{Bytes: s.value()}
		if s.often(10) {
			v.Bytes = nil
		}
		values = append(values, v)
	}
	return values
}

func (s *session) parameters() protocol.QueryParameters {
	p := protocol.QueryParameters{Consistency: cqlerr.Consistency(s.IntN(12)), Values: s.values()}
	if len(p.Values) > 0 {
		p.Flags |= protocol.WithValues
	}
	if s.often(30) {
		p.Flags |= protocol.WithPageSize
		p.PageSize = int32(s.IntN(5)) - 1
	}
	if s.often(20) {
		p.Flags |= protocol.WithPagingState
		p.PagingState = s.value()
	}
	return p
}

// read reads answers until no more come, and reports invalid ones.
func (s *session) read(sock net.Conn, segmented bool) error {
	segments := protocol.Segments{Compressed: s.compression == protocol.LZ4, Limit: 1 << 28}
	var raw, plain []byte
	buf := make([]byte, 64<<10)
	for {
		_ = sock.SetReadDeadline(time.Now().Add(quiet))
		n, err := sock.Read(buf)
		if !segmented {
			plain = append(plain, buf[:n]...)
		}
		for raw = append(raw, buf[:n]...); segmented; {
			envelopes, used, err := segments.Next(raw)
			if err != nil {
				break // the server answers in frames of its version when it does not know the client's
			}
			plain, raw = append(plain, envelopes...), raw[used:]
			if used == 0 {
				break
			}
		}
		var found error
		if plain, found = s.take(plain); found != nil {
			return found
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		default:
			if errors.Is(err, io.EOF) {
				s.sent.closed.Add(1)
			}
			return nil
		}
	}
}

// abandoned is the error of a request that was running when the server closed its connection.
const abandoned = "The request was abandoned because its connection ends"

// take counts the complete envelopes, and returns the remaining bytes. It reports server errors.
func (s *session) take(b []byte) (rest []byte, err error) {
	for len(b) >= protocol.HeaderSize {
		h := protocol.ParseHeader(b)
		end := protocol.HeaderSize + int(h.Length)
		if end > len(b) {
			break
		}
		s.sent.answers.Add(1)
		if h.Opcode == protocol.OpError {
			s.sent.errors.Add(1)
			body, err := s.compression.Body(h, b[protocol.HeaderSize:end], nil, 1<<28)
			if err != nil {
				return nil, fmt.Errorf("an answer cannot be read: %w", err)
			}
			if r, _, err := protocol.DecodeResponse(h, body); err != nil {
				return nil, fmt.Errorf("an error cannot be read: %w", err)
			} else if e := r.(*protocol.Error).Err; e.Code == cqlerr.ServerError && e.Message != abandoned {
				return nil, fmt.Errorf("%w, to %s on %s with %s", e, hex.EncodeToString(s.bytes), s.version, s.compression)
			}
		}
		b = b[end:]
	}
	return b, nil
}
