package transcripts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Runner runs the steps of a session in one version, in a separate keyspace that statements call {ks}.
type Runner struct {
	// Patience is how long to wait for an answer that is due.
	Patience time.Duration

	// Inspect, if set, sees the header, the body and the message of everything that comes.
	Inspect func(h protocol.Header, body []byte, m protocol.Response) error

	addr     string
	version  protocol.Version
	symbols  *symbols
	control  *client.Conn
	conns    map[string]*connection
	metadata map[string][]byte // the result metadata ids of prepared statements
}

// usualPatience is enough for definitions by a Cassandra that has other things to do.
const usualPatience = time.Minute

// second is the name of a second keyspace that a session makes itself: {ks}_b.
const second = "_b"

// Open makes the keyspace anew and runs the session's setup.
func Open(ctx context.Context, addr, keyspace string, s *Session, v protocol.Version) (*Runner, error) {
	control, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		return nil, err
	}
	r := &Runner{
		Patience: usualPatience, addr: addr, version: v, symbols: newSymbols(keyspace, addr), control: control,
		conns: map[string]*connection{}, metadata: map[string][]byte{},
	}
	statements := append([]string{
		"DROP KEYSPACE IF EXISTS " + keyspace,
		"DROP KEYSPACE IF EXISTS " + keyspace + second,
		"CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	}, s.Setup...)
	for _, cql := range statements {
		if err := r.define(ctx, cql); err != nil {
			return nil, errors.Join(err, control.Close())
		}
	}
	return r, nil
}

// Close drops the keyspaces and closes all connections.
func (r *Runner) Close(ctx context.Context) error {
	var errs []error
	for _, c := range r.conns {
		_ = c.Close() // the session may have closed it
	}
	for _, keyspace := range []string{r.symbols.keyspace, r.symbols.keyspace + second} {
		errs = append(errs, r.define(ctx, "DROP KEYSPACE IF EXISTS "+keyspace))
	}
	return errors.Join(append(errs, r.control.Close())...)
}

// define runs a statement that is not a step.
func (r *Runner) define(ctx context.Context, cql string) error {
	ctx, cancel := context.WithTimeout(ctx, usualPatience)
	defer cancel()
	if _, err := r.control.Query(ctx, r.symbols.statement(cql), nil, nil); err != nil {
		return fmt.Errorf("%s: %w", cql, err)
	}
	return nil
}

// Run runs a step and returns the lines of its answer. An error is a step that cannot be run at all.
func (r *Runner) Run(ctx context.Context, st *Step) ([]string, error) {
	if st.Verb == "OPEN" || st.Verb == "CONNECT" {
		return r.open(ctx, st)
	}
	c := r.conns[st.Conn]
	if c == nil {
		return nil, fmt.Errorf("%s is not connected", st.Conn)
	}
	p := &printer{symbols: r.symbols, version: c.Version(), stream: protocol.EventStream}
	switch st.Verb {
	case "CLOSE":
		return nil, c.Close()
	case "EVENT":
		return p.received(c.receive(ctx, r.Patience, true))
	case "NOTHING":
		e, err := c.receive(ctx, silenceTime, true)
		if errors.Is(err, errSilent) && len(c.answers) > 0 {
			e, err = c.receive(ctx, silenceTime, false)
		}
		return p.received(e, err)
	}
	return r.ask(ctx, c, p, st)
}

// open makes a connection; OPEN also sends a STARTUP, which must be answered with READY.
func (r *Runner) open(ctx context.Context, st *Step) ([]string, error) {
	version, options := r.version, "CQL_VERSION=3.0.0"
	for _, word := range strings.Fields(st.Text) {
		if v, ok := strings.CutPrefix(word, "v"); ok {
			var err error
			if version, err = parseVersion(v); err != nil {
				return nil, err
			}
		} else {
			options += " " + protocol.OptionCompression + "=" + word
		}
	}
	conn, err := client.Connect(ctx, r.addr, version)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, keyspace: r.symbols.keyspace, metadata: r.metadata}
	if r.Inspect != nil {
		c.inspect = func(e *envelope) error { return r.Inspect(e.header, e.body, e.message) }
	}
	r.conns[st.Conn] = c
	if st.Verb == "CONNECT" {
		return nil, nil
	}
	lines, err := r.ask(ctx, c, &printer{symbols: r.symbols, version: version}, &Step{Verb: "STARTUP", Text: options})
	if err == nil && lines[0] == "READY" {
		return nil, nil
	}
	return lines, err
}

// ask sends a message and prints the answer.
func (r *Runner) ask(ctx context.Context, c *connection, p *printer, st *Step) ([]string, error) {
	q, err := newRequest(st, r.symbols, c.Version())
	if err != nil {
		return nil, err
	}
	if c.stream++; q.stream != 0 {
		c.stream = q.stream
	}
	p.stream, p.hidden = c.stream, q.hidden
	if err := r.send(ctx, c, q, st); err != nil {
		return p.received(nil, readError(err))
	}
	if q.wait.bytes {
		line, err := c.readBytes(r.Patience)
		return []string{r.symbols.text(line)}, err
	}
	return c.collect(ctx, p, q.wait, r.Patience)
}

// send sends the message of a step.
func (r *Runner) send(ctx context.Context, c *connection, q *request, st *Step) error {
	switch m := q.message.(type) {
	case nil:
		text := strings.ReplaceAll(st.Text, "{v}", fmt.Sprintf("%02x", byte(c.Version())))
		b, err := parseHex(text)
		if err != nil {
			return err
		}
		if st.Verb == "ENVELOPE" {
			return c.SendEnvelope(ctx, b)
		}
		_, err = c.NetConn().Write(b)
		return err
	case *protocol.Startup:
		return c.startup(ctx, q, r.Patience)
	case *protocol.Execute:
		if m.ResultMetadataID == nil {
			m.ResultMetadataID = c.metadata[string(m.ID)]
		}
	}
	return c.Send(ctx, c.stream, q.flags, q.payload, q.message)
}

// collect prints as many answers as are due; of several, in the order of their streams.
func (c *connection) collect(ctx context.Context, p *printer, w wait, patience time.Duration) (
	lines []string, err error,
) {
	var all []*envelope
	wait := patience
	if w.answers == 0 && !w.closed {
		wait, w.answers = silenceTime, 1
	}
	for len(all) < w.answers && err == nil {
		var e *envelope
		if e, err = c.receive(ctx, wait, false); err == nil {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b *envelope) int { return int(a.header.Stream) - int(b.header.Stream) })
	for _, e := range all {
		if m, ok := e.message.(*protocol.Prepared); ok {
			c.metadata[string(m.ID)] = m.ResultMetadataID
		}
		lines = append(lines, p.print(e)...)
	}
	if err == nil && w.closed {
		var e *envelope
		e, err = c.receive(ctx, patience, false)
		if err == nil {
			lines = append(lines, p.print(e)...)
		}
	}
	if err == nil {
		return lines, nil
	}
	last, err := p.received(nil, err)
	return append(lines, last...), err
}

// received prints a message, or that there is none and why.
func (p *printer) received(e *envelope, err error) ([]string, error) {
	switch {
	case err == nil:
		return p.print(e), nil
	case errors.Is(err, errSilent), errors.Is(err, errClosed):
		return []string{err.Error()}, nil
	}
	return nil, err
}
