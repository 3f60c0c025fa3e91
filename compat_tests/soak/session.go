package main

import (
	"context"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// epoch is the lifetime of one process of the server.
type epoch struct {
	addr   string
	ending chan struct{} // closed before the server is killed or stopped, which explains requests without an answer
	over   chan struct{} // closed when the workers must return
}

func newEpoch(addr string) *epoch {
	return &epoch{addr: addr, ending: make(chan struct{}), over: make(chan struct{})}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// session is a connection with the statements that were prepared on it.
type session struct {
	conn     *client.Conn
	prepared map[string]*client.Prepared
	epoch    *epoch
	report   *report
}

func connect(ctx context.Context, e *epoch, r *report) (*session, error) {
	conn, err := client.Dial(ctx, e.addr, client.Options{})
	return &session{conn: conn, prepared: map[string]*client.Prepared{}, epoch: e, report: r}, err
}

// maxWait is how long an answer may take: far longer than any of the server's timeouts.
const maxWait = 30 * time.Second

// pageSize is how many rows a read asks for at a time.
const pageSize = 500

// execute runs a statement, and prepares it the first time. During the load its latency is reported under name.
func (s *session) execute(ctx context.Context, name, text string, values []types.Value, paging []byte) (*client.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	p := s.prepared[text]
	if p == nil {
		var err error
		if p, err = s.conn.Prepare(ctx, text, ""); err != nil {
			return nil, err
		}
		s.prepared[text] = p
	}
	loaded := !closed(s.epoch.over)
	began := time.Now()
	result, err := s.conn.Execute(ctx, p, values, &client.QueryOptions{PageSize: pageSize, PagingState: paging})
	if err == nil && loaded && !closed(s.epoch.ending) {
		s.report.answered(name, time.Since(began))
	}
	return result, err
}

// read runs a SELECT and calls each with its rows.
func (s *session) read(ctx context.Context, name, text string, values []types.Value, each func(row [][]byte)) error {
	var paging []byte
	for {
		result, err := s.execute(ctx, name, text, values, paging)
		if err != nil {
			return err
		}
		for _, row := range result.Rows {
			each(row)
		}
		if paging = result.PagingState; paging == nil {
			return nil
		}
	}
}
