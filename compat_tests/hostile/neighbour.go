package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// neighbour is the well-behaved client: over one connection it reads and writes rows by their key, one request every
// neighbourEvery, whether or not the last is answered. A second loop connects, sends one request and disconnects.
type neighbour struct {
	addr string

	mu         sync.Mutex
	seen       experience
	pending    map[int16]asked
	lastAnswer time.Time
}

// Rates of the neighbour, and the timeout of the visiting client.
const (
	neighbourEvery = 5 * time.Millisecond
	newcomerEvery  = 500 * time.Millisecond
	newcomerTime   = 5 * time.Second
)

// experience holds the measurements of the neighbour over some time.
type experience struct {
	reads, writes latencies
	newcomers     latencies
	late          latencies // how late the neighbour sent its requests: the machine's load
	errors        map[string]int
}

// latencies are times in the order of measuring.
type latencies []time.Duration

// at is the time that a share of the latencies does not exceed.
func (l latencies) at(share float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(l))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// asked is a request without an answer.
type asked struct {
	row   int
	write bool
	sent  time.Time
}

func newNeighbour(addr string) *neighbour {
	return &neighbour{addr: addr, pending: map[int16]asked{}}
}

// run asks until ctx ends.
func (n *neighbour) run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() {
		for ctx.Err() == nil {
			n.fail(ctx, n.converse(ctx))
			wait(ctx, neighbourEvery)
		}
	})
	both.Go(func() {
		for wait(ctx, newcomerEvery) {
			n.fail(ctx, n.visit(ctx))
		}
	})
	both.Wait()
}

// wait returns false when ctx ends before.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// fail records an error unless ctx has ended.
func (n *neighbour) fail(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen.errors == nil {
		n.seen.errors = map[string]int{}
	}
	n.seen.errors[fmt.Sprintf("%.100s", err)]++
}

// take returns the measurements since the last call. Requests that have waited long count as if they were answered
// now.
func (n *neighbour) take() experience {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.pending {
		if waited := time.Since(a.sent); waited > boundLatency {
			n.seen.add(a, waited)
		}
	}
	seen := n.seen
	n.seen = experience{}
	return seen
}

func (e *experience) add(a asked, took time.Duration) {
	if a.write {
		e.writes = append(e.writes, took)
	} else {
		e.reads = append(e.reads, took)
	}
}

// visit connects, sends one request and disconnects.
func (n *neighbour) visit(ctx context.Context) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, newcomerTime)
	defer cancel()
	conn, err := client.Dial(ctx, n.addr, v4)
	if err == nil {
		defer conn.Close()
		_, err = conn.Query(ctx, "SELECT key FROM system.local", nil, nil)
	}
	n.mu.Lock()
	n.seen.newcomers = append(n.seen.newcomers, time.Since(began))
	n.mu.Unlock()
	if err != nil {
		return fmt.Errorf("a client that comes: %w", err)
	}
	return nil
}

// converse sends and receives over one connection until it or ctx ends.
func (n *neighbour) converse(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dialling, stop := context.WithTimeout(ctx, newcomerTime)
	defer stop()
	conn, err := client.Dial(dialling, n.addr, v4)
	if err != nil {
		return err
	}
	defer conn.Close()
	read, err := conn.Prepare(dialling, "SELECT v FROM hostile.neighbour WHERE k = ?", "")
	if err != nil {
		return err
	}
	write, err := conn.Prepare(dialling, "INSERT INTO hostile.neighbour (k, v) VALUES (?, ?)", "")
	if err != nil {
		return err
	}
	received := make(chan error, 1)
	go func() { received <- n.receive(ctx, conn) }()
	err = n.ask(ctx, conn, read, write)
	cancel()
	err = errors.Join(err, <-received)
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.pending) > 0 {
		err = fmt.Errorf("%d requests are not answered: %w", len(n.pending), err)
	}
	clear(n.pending)
	return err
}

// ask sends requests at their times until the connection or ctx ends.
func (n *neighbour) ask(ctx context.Context, conn *client.Conn, read, write *client.Prepared) error {
	enc := protocol.Encoder{Version: protocol.V4}
	var buf []byte
	due := time.Now()
	for stream := int16(0); ; stream = (stream + 1) & 0x7fff {
		due = due.Add(neighbourEvery)
		if !wait(ctx, time.Until(due)) {
			return nil
		}
		a := asked{row: int(stream) % neighbourRows, write: stream%2 > 0, sent: time.Now()}
		m := execute(read, 0, intValue(a.row))
		if a.write {
			m = execute(write, 0, intValue(a.row), neighbourCell(a.row))
		}
		n.mu.Lock()
		n.seen.late = append(n.seen.late, time.Since(due))
		n.pending[stream] = a
		n.mu.Unlock()
		buf = enc.AppendRequest(buf[:0], stream, 0, nil, m)
		if _, err := conn.NetConn().Write(buf); err != nil {
			return err
		}
	}
}

// receive takes answers until the connection or ctx ends.
func (n *neighbour) receive(ctx context.Context, conn *client.Conn) error {
	defer conn.Close() // ends ask, too
	for {
		h, body, err := conn.ReceiveEnvelope(ctx)
		if err != nil {
			return err
		}
		now := time.Now()
		n.mu.Lock()
		a, known := n.pending[h.Stream]
		delete(n.pending, h.Stream)
		n.seen.add(a, now.Sub(a.sent))
		n.lastAnswer = now
		n.mu.Unlock()
		if !known {
			return fmt.Errorf("an answer on stream %d, which nobody waits for", h.Stream)
		}
		n.fail(ctx, a.check(h, body))
	}
}

// check judges an answer.
func (a asked) check(h protocol.Header, body []byte) error {
	m, _, err := protocol.DecodeResponse(h, body)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *protocol.Error:
		return m.Err
	case *protocol.Void:
		if a.write {
			return nil
		}
	case *protocol.Rows:
		if !a.write && m.Count == 1 && bytes.HasSuffix(m.Cells, neighbourCell(a.row)) {
			return nil
		}
	}
	return fmt.Errorf("not the answer to what was asked: %.50s", m)
}
