package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// The raw client sends frames that cost next to nothing to build and checks only the opcode of each answer, so that the
// server has the processors.
const (
	rawConnections = 4
	rawInFlight    = 32 // unanswered requests of a connection
)

// rawClient has connections to one server, and the ids of the statements that were prepared there.
type rawClient struct {
	name        string
	pid         int
	warm        time.Duration // how long each kind of request runs before it is measured
	patient     bool          // a write that times out is sent again
	connections []*client.Conn
	ids         map[string][]byte // by the statement
	answers     map[string][]byte // of a null server: the prepared id that selects the answer to a work
}

// dialRaw connects to a server.
func dialRaw(ctx context.Context, name, addr string, pid int) (*rawClient, error) {
	c := &rawClient{name: name, pid: pid, ids: map[string][]byte{}}
	for range rawConnections {
		conn, err := client.Dial(ctx, addr, client.Options{Version: protocol.V4})
		if err != nil {
			return nil, err
		}
		c.connections = append(c.connections, conn)
	}
	return c, nil
}

func (c *rawClient) close() {
	for _, conn := range c.connections {
		_ = conn.Close() // no answer is due
	}
}

// id returns the prepared id of a statement. It prepares the statement the first time.
func (c *rawClient) id(ctx context.Context, cql string) ([]byte, error) {
	if id := c.ids[cql]; id != nil {
		return id, nil
	}
	p, err := c.connections[0].Prepare(ctx, cql, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cql, err)
	}
	c.ids[cql] = p.ID
	return p.ID, nil
}

// bodyOf appends the body of the n-th request.
type bodyOf func(b []byte, n int64) []byte

// run sends requests until stop says so and returns how many ms each took. Each connection keeps depth requests in
// flight.
func (c *rawClient) run(
	opcode byte, depth int, body bodyOf, numbers *atomic.Int64, enough func() bool,
) (took []float32, err error) {
	var mu sync.Mutex
	var failed atomic.Pointer[error]
	var running sync.WaitGroup
	for _, conn := range c.connections {
		running.Go(func() {
			p := pipeline{opcode: opcode, body: body, numbers: numbers, sent: make([]time.Time, depth), took: []float32{}}
			if c.patient {
				p.asked = make([]int64, depth)
			}
			stop := func() bool { return failed.Load() != nil || enough() }
			if err := p.run(conn.NetConn(), depth, stop); err != nil {
				failed.Store(&err)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, p.took...)
		})
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	return took, nil
}

// until returns a function that is true once d has passed.
func until(d time.Duration) func() bool {
	end := time.Now().Add(d)
	return func() bool { return time.Now().After(end) }
}

// pipeline keeps a number of requests in flight on a connection.
type pipeline struct {
	opcode   byte
	body     bodyOf
	numbers  *atomic.Int64
	out      []byte
	answered int64
	sent     []time.Time // by stream, of the unanswered requests
	took     []float32   // ms, of each request; nil: not recorded
	asked    []int64     // by stream, the number of the request, to retry writes that time out; nil: no retries
	last     []byte      // the last answer; kept for the first connection only
}

// run sends until stop says so, and waits for all answers.
func (p *pipeline) run(conn io.ReadWriter, depth int, stop func() bool) error {
	in := bufio.NewReaderSize(conn, 256<<10)
	for stream := range depth {
		p.add(uint16(stream))
	}
	under, stopped := depth, false
	header := make([]byte, 9)
	for under > 0 {
		if in.Buffered() == 0 && len(p.out) > 0 {
			if _, err := conn.Write(p.out); err != nil {
				return err
			}
			p.out = p.out[:0]
			stopped = stopped || stop()
		}
		if _, err := io.ReadFull(in, header); err != nil {
			return err
		}
		n := int(binary.BigEndian.Uint32(header[5:]))
		if header[4] != opResult {
			body := make([]byte, n)
			_, err := io.ReadFull(in, body)
			if stream := binary.BigEndian.Uint16(header[2:]); p.asked != nil && err == nil && isWriteTimeout(header[4], body) {
				p.send(stream, p.asked[stream])
				continue
			}
			return fmt.Errorf("an answer of kind %d: %q, %v", header[4], body, err)
		}
		if p.last == nil {
			p.last = make([]byte, n)
			if _, err := io.ReadFull(in, p.last); err != nil {
				return err
			}
		} else if _, err := in.Discard(n); err != nil {
			return err
		}
		p.answered++
		stream := binary.BigEndian.Uint16(header[2:])
		if p.took != nil {
			p.took = append(p.took, float32(ms(time.Since(p.sent[stream]))))
		}
		if stopped {
			under--
			continue
		}
		p.add(stream)
	}
	return nil
}

// codeWriteTimeout is the code of the error of a write that has timed out.
const codeWriteTimeout = 0x1100

// isWriteTimeout reports whether an answer of a kind is that error.
func isWriteTimeout(kind byte, body []byte) bool {
	return kind == opError && len(body) >= 4 && binary.BigEndian.Uint32(body) == codeWriteTimeout
}

// add appends a request to the output buffer.
func (p *pipeline) add(stream uint16) { p.send(stream, p.numbers.Add(1)-1) }

// send appends the request with a number to the output buffer.
func (p *pipeline) send(stream uint16, number int64) {
	at := len(p.out)
	if p.asked != nil {
		p.asked[stream] = number
	}
	if p.took != nil {
		p.sent[stream] = time.Now()
	}
	p.out = append(p.out, 4, 0, byte(stream>>8), byte(stream), p.opcode, 0, 0, 0, 0)
	p.out = p.body(p.out, number)
	binary.BigEndian.PutUint32(p.out[at+5:], uint32(len(p.out)-at-9))
}

// once sends one request and returns the answer.
func (c *rawClient) once(opcode byte, body bodyOf) ([]byte, error) {
	p := pipeline{opcode: opcode, body: body, numbers: new(atomic.Int64)}
	err := p.run(c.connections[0].NetConn(), 1, func() bool { return true })
	return p.last, err
}
