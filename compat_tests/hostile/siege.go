package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// siege is one run of an attack: its connections, and the answers over them.
type siege struct {
	addr       string
	size       sizes
	connecting chan struct{} // a semaphore of connections that are being opened

	mu      sync.Mutex
	left    bool
	sockets []net.Conn
	peers   map[*peer]bool // the clients that read
	report  report
}

func newSiege(addr string, size sizes) *siege {
	return &siege{addr: addr, size: size, connecting: make(chan struct{}, maxConnecting), report: report{Tally: map[string]int{}}, peers: map[*peer]bool{}}
}

// connectTime is how long an attacker waits for a connection. maxConnecting bounds how many wait at a time: with more,
// the attack would measure the system's accept queue.
const (
	connectTime   = 5 * time.Second
	maxConnecting = 256
)

// count counts an answer or a failure by its kind.
func (s *siege) count(answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.left {
		s.report.Tally[answer]++
	}
}

// keep closes a socket when the attackers leave.
func (s *siege) keep(sock net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		_ = sock.Close()
		return
	}
	s.sockets = append(s.sockets, sock)
}

// leave closes all connections, and records how long the clients that read have waited.
func (s *siege) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
	for p := range s.peers {
		waited, n := p.waiting()
		s.report.Slowest = max(s.report.Slowest, waited)
		if n > 0 {
			s.report.Tally["unanswered"] += n
		}
	}
	for _, sock := range s.sockets {
		_ = sock.Close()
	}
}

// watchArrivals records when answers arrive at clients that do not read, until ctx ends. The server cannot tell that
// they do not read as long as their socket buffers have room.
func (s *siege) watchArrivals(ctx context.Context) {
	before := map[net.Conn]int{}
	for ctx.Err() == nil {
		s.mu.Lock()
		sockets := s.sockets[:len(s.sockets):len(s.sockets)]
		s.mu.Unlock()
		more := false
		for _, sock := range sockets {
			n := arrived(sock)
			more = more || n > before[sock]
			before[sock] = n
		}
		if more {
			s.mu.Lock()
			s.report.LastAnswer = time.Now()
			s.mu.Unlock()
		}
		wait(ctx, arrivalsEvery)
	}
}

// arrivalsEvery is the polling interval of watchArrivals.
const arrivalsEvery = 50 * time.Millisecond

// socket opens a connection and sends nothing; nil if that fails.
func (s *siege) socket(ctx context.Context) net.Conn {
	s.connecting <- struct{}{}
	defer func() { <-s.connecting }()
	d := net.Dialer{Timeout: connectTime}
	sock, err := d.DialContext(ctx, "tcp", s.addr)
	if err != nil {
		s.count("no connection:" + brief(err))
		return nil
	}
	s.keep(sock)
	return sock
}

// each runs do for n clients at the same time, each with a connection after STARTUP, and waits for all.
func (s *siege) each(ctx context.Context, n int, o client.Options, do func(i int, p *peer)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			if p := s.connect(ctx, o); p != nil {
				do(i, p)
			}
		})
	}
	wait.Wait()
}

// eachSocket is each without STARTUP.
func (s *siege) eachSocket(ctx context.Context, n int, do func(i int, sock net.Conn)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			if sock := s.socket(ctx); sock != nil {
				do(i, sock)
			}
		})
	}
	wait.Wait()
}

// connect opens a connection and starts the protocol; nil if the server refuses.
func (s *siege) connect(ctx context.Context, o client.Options) *peer {
	s.connecting <- struct{}{}
	defer func() { <-s.connecting }()
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := client.Dial(ctx, s.addr, o)
	if err != nil {
		s.count("no connection:" + brief(err))
		return nil
	}
	s.keep(conn.NetConn())
	_ = conn.NetConn().SetDeadline(time.Time{}) // the one of ctx; fails if the connection is closed, as writes will
	return &peer{
		siege: s, conn: conn, sent: map[int16]time.Time{},
		enc: protocol.Encoder{Version: o.Version, Compression: o.Compression, Segments: o.Version.HasSegments()},
	}
}

// prepare prepares a statement over a separate connection.
func (s *siege) prepare(ctx context.Context, v protocol.Version, cql string) (*client.Prepared, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := client.Dial(ctx, s.addr, client.Options{Version: v})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	p, err := conn.Prepare(ctx, cql, "")
	if err != nil {
		return nil, fmt.Errorf("prepare %.100s: %w", cql, err)
	}
	return p, nil
}

// peer is an attacker's connection after STARTUP. It writes to the client's socket directly, so that requests are sent
// whether or not answers are read.
type peer struct {
	siege *siege
	conn  *client.Conn
	enc   protocol.Encoder
	last  int16

	mu   sync.Mutex
	sent map[int16]time.Time // the requests without an answer
}

// send sends a request n times, each on a different stream, and returns false when it cannot.
func (p *peer) send(n int, m protocol.Request) bool { return p.sendFlags(n, 0, m) }

// sendBytes is the size of a write.
const sendBytes = 256 << 10

func (p *peer) sendFlags(n int, f protocol.Flags, m protocol.Request) bool {
	var buf []byte
	for i := range n {
		p.last = (p.last + 1) & 0x7fff
		p.mu.Lock()
		p.sent[p.last] = time.Now()
		p.mu.Unlock()
		buf = p.enc.AppendRequest(buf, p.last, f, nil, m)
		if len(buf) < sendBytes && i < n-1 {
			continue
		}
		if !p.write(p.enc.Flush(buf)) {
			return false
		}
		buf = buf[:0]
	}
	return true
}

// sendFrame sends an encoded request.
func (p *peer) sendFrame(stream int16, frame []byte) bool {
	p.mu.Lock()
	p.sent[stream] = time.Now()
	p.mu.Unlock()
	return p.write(frame)
}

// write writes bytes as they are.
func (p *peer) write(b []byte) bool { return p.siege.write(p.conn.NetConn(), b) }

func (s *siege) write(sock net.Conn, b []byte) bool {
	if _, err := sock.Write(b); err != nil {
		s.count("closed:" + brief(err))
		return false
	}
	return true
}

// brief is the text of a socket error without addresses.
func brief(err error) string {
	text := err.Error()
	return text[strings.LastIndex(text, ": ")+1:]
}

// read reads n answers and counts them by their kind; it returns false when the connection ends before.
func (p *peer) read(n int) bool {
	p.siege.reads(p)
	for range n {
		h, body, err := p.conn.ReceiveEnvelope(context.Background()) // until the attackers leave
		if err != nil {
			p.siege.count("closed:" + brief(err))
			return false
		}
		p.mu.Lock()
		sent, known := p.sent[h.Stream]
		delete(p.sent, h.Stream)
		p.mu.Unlock()
		if !known {
			p.siege.count("an answer on a stream that nobody waits for")
			return false
		}
		p.siege.answered(kindOf(h, body), time.Since(sent))
	}
	return true
}

// reads registers a peer as a client that reads, so that leave checks its unanswered requests.
func (s *siege) reads(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[p] = true
}

func (s *siege) answered(kind string, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return
	}
	s.report.Tally[kind]++
	s.report.Slowest = max(s.report.Slowest, took)
	s.report.LastAnswer = time.Now()
}

// waiting returns the age of the oldest unanswered request, and their number.
func (p *peer) waiting() (oldest time.Duration, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.sent {
		oldest = max(oldest, time.Since(t))
	}
	return oldest, len(p.sent)
}

// kindOf names an answer: its opcode, or the code of its error.
func kindOf(h protocol.Header, body []byte) string {
	if h.Opcode != protocol.OpError {
		return h.Opcode.String()
	}
	m, _, err := protocol.DecodeResponse(h, body)
	if err != nil {
		return "ERROR that cannot be read"
	}
	e := m.(*protocol.Error).Err
	return fmt.Sprintf("ERROR %04x %.60s", uint32(e.Code), e.Message)
}

// hold waits for the end of the attack.
func hold(ctx context.Context) { <-ctx.Done() }
