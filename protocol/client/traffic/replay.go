package traffic

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Replay replays a recording against a server. It sends the requests one by one in the recorded order, each on the
// connection for its recorded one.
type Replay struct {
	Against            string      // the server's address
	Username, Password string      // if it asks
	TLS                *tls.Config // nil: connections are not encrypted
	Timeout            time.Duration
	Dial               func(ctx context.Context, addr string) (net.Conn, error) // nil: over TCP
	Out                io.Writer                                                // for differences
}

// Outcome counts the requests of a recording by result.
type Outcome struct {
	Requests   int // QUERY, PREPARE, EXECUTE and BATCH
	Compared   int
	LeftOut    int // not sent: the recording lacks them or the PREPARE of their statement
	System     int // with rows of system tables, which are not compared
	Unanswered int // without a response in the recording
	Different  int
}

// String is the outcome in one line.
func (o Outcome) String() string {
	return fmt.Sprintf("%d requests: %d compared, %d different; "+
		"not compared: %d of system tables, %d left out, %d without an answer",
		o.Requests, o.Compared, o.Different, o.System, o.LeftOut, o.Unanswered)
}

// statement is a prepared statement of the recording.
type statement struct {
	text           string
	recorded, ours *protocol.Prepared // ours is nil: the server refuses it
}

// replaying is the state of a Replay.
type replaying struct {
	*Replay
	outcome  Outcome
	began    time.Time
	first    time.Time // of the recording
	answers  map[int]*line
	conns    map[int]*client.Conn
	prepared map[string]*statement // by the recorded id
	pages    map[string][]byte     // our paging states by recorded ones
}

// Run replays a recording. It fails if the recording cannot be read or the server cannot be reached; differences are
// counted in the outcome and printed to Out.
func (r *Replay) Run(ctx context.Context, recording io.Reader) (Outcome, error) {
	lines, err := readLines(recording)
	if err != nil {
		return Outcome{}, err
	}
	p := &replaying{
		Replay: r, began: time.Now(), answers: matchAnswers(lines), conns: map[int]*client.Conn{},
		prepared: map[string]*statement{}, pages: map[string][]byte{},
	}
	defer func() {
		for _, c := range p.conns {
			_ = c.Close() // everything is answered
		}
	}()
	for _, l := range lines {
		if p.first.IsZero() {
			p.first = l.at
		}
		if err := p.line(ctx, l); err != nil {
			return p.outcome, fmt.Errorf("line %d: %w", l.number, err)
		}
	}
	return p.outcome, nil
}

// readLines reads the lines of a recording without comments.
func readLines(from io.Reader) ([]*line, error) {
	in := bufio.NewReaderSize(from, 1<<20)
	var all []*line
	for number := 1; ; number++ {
		text, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if errors.Is(err, io.EOF) && text != "" {
			return all, nil // the recorder was stopped within a line
		}
		l, wrong := parseLine(text, number)
		if wrong != nil {
			return nil, wrong
		}
		if l != nil {
			all = append(all, l)
		}
		if err != nil {
			return all, nil
		}
	}
}

// matchAnswers finds the response to each request: the next one on its stream. Keys are line numbers of requests.
func matchAnswers(lines []*line) map[int]*line {
	type place struct {
		conn   int
		stream int16
	}
	waiting, answers := map[place]int{}, map[int]*line{}
	for _, l := range lines {
		at := place{l.conn, l.header.Stream}
		switch l.mark {
		case markRequest:
			waiting[at] = l.number
		case markAnswer:
			if number, ok := waiting[at]; ok {
				answers[number] = l
				delete(waiting, at)
			}
		}
	}
	return answers
}

// line plays a line.
func (p *replaying) line(ctx context.Context, l *line) error {
	if l.mark == markConnection && l.state == "closed" {
		if c := p.conns[l.conn]; c != nil {
			_ = c.Close() // everything is answered
			delete(p.conns, l.conn)
		}
	}
	if l.mark != markRequest {
		return nil
	}
	switch l.header.Opcode {
	case protocol.OpQuery, protocol.OpPrepare, protocol.OpExecute, protocol.OpBatch:
	default:
		return nil // dial does the handshake for this server
	}
	p.outcome.Requests++
	if l.secret {
		p.outcome.LeftOut++
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	conn, err := p.connection(ctx, l)
	if err != nil {
		return err
	}
	var requests protocol.Requests
	m, err := requests.Decode(l.header, l.body)
	if err != nil {
		p.outcome.LeftOut++ // the server has refused it too
		return nil
	}
	text, ids, ok := p.translate(m)
	if !ok {
		p.outcome.LeftOut++
		return nil
	}
	const stream = 1
	if err := conn.Send(ctx, stream, 0, requests.Payload, m); err != nil {
		return err
	}
	got, err := conn.Receive(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return p.compare(l, text, ids, got)
}

// connection returns the connection for a recorded one.
func (p *replaying) connection(ctx context.Context, l *line) (*client.Conn, error) {
	if c := p.conns[l.conn]; c != nil {
		return c, nil
	}
	c, err := client.Dial(ctx, p.Against, client.Options{
		Version: l.header.Version, Username: p.Username, Password: p.Password, TLS: p.TLS, Dial: p.Dial,
	})
	if err == nil {
		p.conns[l.conn] = c
	}
	return c, err
}

// translate replaces recorded ids and paging states by the ids and paging states of this server. It returns the
// statement texts and the prepared statements; false if the recording lacks a PREPARE.
func (p *replaying) translate(m protocol.Request) (text string, used []*statement, ok bool) {
	page := func(q *protocol.QueryParameters) {
		if ours, known := p.pages[string(q.PagingState)]; known && q.PagingState != nil {
			q.PagingState = ours
		}
	}
	find := func(id []byte) *statement {
		if s := p.prepared[string(id)]; s != nil && s.ours != nil {
			used = append(used, s)
			return s
		}
		return nil
	}
	switch m := m.(type) {
	case *protocol.Query:
		page(&m.Parameters)
		return m.Query, nil, true
	case *protocol.Prepare:
		return m.Query, nil, true
	case *protocol.Execute:
		s := find(m.ID)
		if s == nil {
			return "", nil, false
		}
		m.ID, m.ResultMetadataID = s.ours.ID, s.ours.ResultMetadataID
		page(&m.Parameters)
		return s.text, used, true
	case *protocol.Batch:
		var texts []string
		for i := range m.Children {
			child := &m.Children[i]
			if !child.Prepared {
				texts = append(texts, child.Query)
				continue
			}
			s := find(child.ID)
			if s == nil {
				return "", nil, false
			}
			child.ID = s.ours.ID
			texts = append(texts, s.text)
		}
		return strings.Join(texts, "; "), used, true
	}
	return "", nil, false
}

// compare compares a response with the recorded one, and keeps ids and paging states for later requests.
func (p *replaying) compare(l *line, text string, used []*statement, got *client.Answer) error {
	recorded := p.answers[l.number]
	if recorded == nil || recorded.secret {
		p.outcome.Unanswered++
		return nil
	}
	want, prefix, err := protocol.DecodeResponse(recorded.header, recorded.body)
	if err != nil {
		return fmt.Errorf("the answer in line %d: %w", recorded.number, err)
	}
	c := comparison{recorded: period{p.first, recorded.at}, replayed: period{p.began, time.Now()}}
	if len(used) == 1 {
		c.wantColumns, c.gotColumns = used[0].recorded.Result.Columns(), used[0].ours.Result.Columns()
	}
	if e, ok := want.(*protocol.Error); ok && e.Err.Code == cqlerr.Unprepared {
		p.outcome.Unanswered++ // the driver has prepared the statement again, and repeated the request
		return nil
	}
	switch m := want.(type) {
	case *protocol.Prepared:
		s := &statement{text: text, recorded: m}
		s.ours, _ = got.Response.(*protocol.Prepared)
		p.prepared[string(m.ID)] = s
	case *protocol.Rows:
		if ours, ok := got.Response.(*protocol.Rows); ok && m.Metadata.PagingState != nil {
			p.pages[string(m.Metadata.PagingState)] = ours.Metadata.PagingState
		}
		columns := m.Metadata.Columns.Columns()
		if m.Metadata.Skip {
			columns = c.wantColumns
		}
		if isSystem(columns) {
			p.outcome.System++
			return nil
		}
	}
	p.outcome.Compared++
	c.answers(want, got.Response)
	if w, g := strings.Join(prefix.Warnings, "\n"), strings.Join(got.Prefix.Warnings, "\n"); w != g {
		c.differ("the warnings are %q, recorded are %q", g, w)
	}
	if len(c.differences) == 0 {
		return nil
	}
	p.outcome.Different++
	_, err = fmt.Fprintf(p.Out, "line %d: %s\n  %s\n", l.number, strings.Join(strings.Fields(text), " "),
		strings.Join(c.differences, "\n  "))
	return err
}
