package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// consistency is the level of every request.
const consistency = cqlerr.One

// answerTime is how long one answer may take.
const answerTime = 30 * time.Second

// maxPages ends the reading of a result that does not end.
const maxPages = 60

// answer is one message of a server, with the fields before it.
type answer struct {
	response protocol.Response
	err      *cqlerr.Error // the error in response, if it is one
	lost     string        // why there is no response
	late     bool          // it is lost because it took too long
	warnings []string
	rows     [][][]byte
}

// failed reports whether the answer is an error or lost.
func (a *answer) failed() bool { return a.err != nil || a.lost != "" }

// send sends a step and collects the answers: to PREPARE, if any, and for each page.
func (s *step) send(ctx context.Context, conn *client.Conn, table string) []*answer {
	text, bound := s.cql(table)
	if s.mode == batchMessage {
		return []*answer{ask(ctx, conn, s.batch(table))}
	}
	var all []*answer
	var p *protocol.Prepared
	if s.mode == prepared {
		a := ask(ctx, conn, &protocol.Prepare{Query: text})
		all = append(all, a)
		var ok bool
		if p, ok = a.response.(*protocol.Prepared); !ok {
			return all
		}
	}
	var state []byte
	for range maxPages {
		params := parameters(values(bound), s.page, state)
		var m protocol.Request = &protocol.Query{Query: text, Parameters: params}
		if p != nil {
			m = &protocol.Execute{ID: p.ID, ResultMetadataID: p.ResultMetadataID, Parameters: params}
		}
		a := ask(ctx, conn, m)
		if a.err != nil && a.err.Code == cqlerr.Unprepared { // a full cache may evict the newest statement
			a = ask(ctx, conn, &protocol.Query{Query: text, Parameters: params})
		}
		all = append(all, a)
		rows, ok := a.response.(*protocol.Rows)
		if !ok || rows.Metadata.PagingState == nil {
			break
		}
		state = rows.Metadata.PagingState
	}
	return all
}

// ask sends one request. It closes the connection if no answer comes: a late answer must not be taken for the answer to
// another request.
func ask(ctx context.Context, conn *client.Conn, m protocol.Request) *answer {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	got, err := conn.Do(ctx, m)
	if _, told := cqlerr.As(err); err != nil && (!told || got == nil) {
		return &answer{lost: errors.Join(err, conn.Close()).Error(), late: timedOut(err)}
	}
	a := &answer{response: got.Response, warnings: got.Prefix.Warnings}
	switch m := got.Response.(type) {
	case *protocol.Error:
		a.err = m.Err
	case *protocol.Rows:
		if a.rows, err = m.Split(); err != nil {
			a.lost = err.Error()
		}
	}
	return a
}

// timedOut reports whether an error is an expired deadline, of a context or of a socket.
func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// String is the answer in a few words.
func (a *answer) String() string {
	switch {
	case a.lost != "":
		return "no answer: " + a.lost
	case a.err != nil:
		return fmt.Sprintf("error %#04x: %s", uint32(a.err.Code), a.err.Message)
	case a.rows != nil:
		columns := a.response.(*protocol.Rows).Metadata.Columns.Columns()
		lines := []string{fmt.Sprintf("%d rows", len(a.rows))}
		for _, row := range a.rows[:min(len(a.rows), 5)] {
			lines = append(lines, formatRow(columns, row))
		}
		return strings.Join(lines, "\n")
	}
	return a.response.String()
}

// formatRow prints a row as a script has it.
func formatRow(columns []protocol.ColumnSpec, row [][]byte) string {
	cells := make([]string, len(row))
	for i, v := range row {
		switch {
		case v == nil:
			cells[i] = "null"
		case i < len(columns) && columns[i].Type.Validate(v) == nil:
			cells[i] = columns[i].Type.Format(v)
		default:
			cells[i] = fmt.Sprintf("0x%x", v)
		}
	}
	return strings.Join(cells, " | ")
}
