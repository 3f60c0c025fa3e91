package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store"
)

// A client asks for a stream with an entry in the custom payload of a QUERY: StreamKey with the name of the stream.
// The text is ignored: it is one that other servers answer too, which ignore the payload. Each answer has one row with
// one column, named as StreamKey, and a paging state if there is more: the next QUERY has the name with a + after it
// in its payload, and no paging state. A connection has one stream at a time. A stream ends with the connection, or
// when the client has not asked for more for streamIdle.

// StreamKey names the entry of the payload and the column of the answers.
const StreamKey = "cqld.stream"

// The names of streams.
const (
	SnapshotStream = "snapshot" // the blocks of store.Store.Snapshot
	VerifyStream   = "verify"   // StreamedVerification as JSON
)

// streamIdle is how long a stream waits for its client.
const streamIdle = time.Minute

// StreamedVerification is one element of VerifyStream.
type StreamedVerification struct {
	Fault    *store.Fault          `json:"fault,omitempty"`
	Progress *store.VerifyProgress `json:"progress,omitempty"`
	Done     *store.Verified       `json:"done,omitempty"` // of the last element
}

// stream makes the elements of a stream in a goroutine, one when it is asked for.
type stream struct {
	name     string
	elements chan []byte // is closed after the last one
	err      error       // why it ended; nil: there is nothing more
	cancel   context.CancelFunc
	idle     *time.Timer
}

// streams are the streams of all connections.
type streams struct {
	mu  sync.Mutex
	all map[*conn]*stream
}

// maxStreams is how many streams are under way at a time.
const maxStreams = 4

// streamName is the stream that a request asks for, or "".
func (r *request) streamName() string {
	if !r.header.Flags.Has(protocol.FlagCustomPayload) {
		return ""
	}
	for _, e := range r.decoder.Payload {
		if e.Key == StreamKey {
			return string(e.Value)
		}
	}
	return ""
}

// serveStream answers with the next element of a stream.
func (r *request) serveStream(name string) {
	user, err := r.conn.user(r.conn.ctx)
	if err == nil && !user.IsSuper() {
		err = cqlerr.Unauthorizedf("Only superusers may take a snapshot of the node or verify it")
	}
	var s *stream
	if err == nil {
		s, err = r.conn.stream(name)
	}
	if err != nil {
		r.fail(err)
		return
	}
	s.idle.Stop()
	element, more := <-s.elements
	if !more && s.err != nil {
		r.conn.server.streams.end(r.conn, s)
		r.fail(s.err)
		return
	}
	m := &protocol.Rows{Metadata: protocol.RowsMetadata{Columns: streamColumns}}
	if more {
		s.idle.Reset(streamIdle)
		m.Count = 1
		m.Cells = append(binary.BigEndian.AppendUint32(nil, uint32(len(element))), element...)
		m.Metadata.PagingState = []byte(name)
	} else {
		r.conn.server.streams.end(r.conn, s)
	}
	r.answer(m)
}

// streamColumns are the columns of a stream.
var streamColumns = protocol.NewColumnSpecs([]protocol.ColumnSpec{
	{Keyspace: "system", Table: "local", Name: StreamKey, Type: types.Blob},
})

// stream returns the stream of the connection: the one under way if the client goes on with it, or a new one.
func (c *conn) stream(name string) (*stream, error) {
	name, goesOn := strings.CutSuffix(name, "+")
	all := &c.server.streams
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.all[c]
	if goesOn {
		if s == nil || s.name != name {
			return nil, cqlerr.Invalidf("The connection has no stream %s under way", name)
		}
		return s, nil
	}
	produce := map[string]func(context.Context, *Server, func([]byte) error) error{
		SnapshotStream: streamSnapshot, VerifyStream: streamVerify,
	}[name]
	switch {
	case produce == nil:
		return nil, cqlerr.Invalidf("There is no stream %s", name)
	case s != nil:
		s.cancel()
	case len(all.all) >= maxStreams:
		return nil, cqlerr.Overloadedf("Too many snapshots and verifications are under way")
	}
	ctx, cancel := context.WithCancel(c.ctx)
	s = &stream{name: name, elements: make(chan []byte), cancel: cancel}
	s.idle = time.AfterFunc(streamIdle, cancel)
	if all.all == nil {
		all.all = map[*conn]*stream{}
	}
	all.all[c] = s
	c.server.running.Add(1)
	panics.Go(&c.log, func() {
		defer c.server.running.Done()
		defer all.end(c, s)
		err := panics.Call(func() error {
			return produce(ctx, c.server, func(element []byte) error {
				select {
				case s.elements <- bytes.Clone(element):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		})
		if err != nil {
			s.err = err
			if errors.Is(err, context.Canceled) {
				s.err = cqlerr.Serverf("The stream was given up: its client has not asked for more in time")
			}
		}
		close(s.elements)
		<-ctx.Done() // until the client has been told
	})
	return s, nil
}

// end forgets a stream.
func (a *streams) end(c *conn, s *stream) {
	s.idle.Stop()
	s.cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[c] == s {
		delete(a.all, c)
	}
}

func streamSnapshot(ctx context.Context, s *Server, fn func([]byte) error) error {
	return s.store.Snapshot(ctx, fn)
}

// streamVerify sends the findings of a verification.
func streamVerify(ctx context.Context, s *Server, fn func([]byte) error) error {
	var failed error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	send := func(v StreamedVerification) {
		b, err := json.Marshal(v)
		if err == nil && failed == nil {
			err = fn(b)
		}
		if err != nil && failed == nil {
			failed = err
			cancel()
		}
	}
	done, err := s.store.Verify(ctx, store.Verifier{
		Fault:    func(f store.Fault) { send(StreamedVerification{Fault: &f}) },
		Progress: func(p store.VerifyProgress) { send(StreamedVerification{Progress: &p}) },
	})
	if err == nil {
		send(StreamedVerification{Done: &done})
	}
	if failed != nil {
		return failed
	}
	return err
}
