package server

import (
	"context"
	"errors"
	"net/netip"

	"github.com/cqld/cqld/protocol"
)

// ErrHangUp returned by an Interceptor closes the connection without an answer.
var ErrHangUp = errors.New("server: hang up")

// Interceptor lets a test that embeds a server intercept requests. It is called concurrently, for every QUERY, PREPARE,
// EXECUTE and BATCH before it is served, and may
//
//   - return nil: the request is served,
//   - wait, but not longer than ctx: the request is served late,
//   - return an error: the client gets it. Errors of package cqlerr become the errors that drivers have classes for,
//   - return ErrHangUp.
type Interceptor func(ctx context.Context, r Intercepted) error

// Intercepted is a request as an Interceptor sees it.
type Intercepted struct {
	Opcode     string   // QUERY, PREPARE, EXECUTE or BATCH
	Statements []string // the text, or all texts of a BATCH; "" for an unknown prepared statement
	Keyspace   string   // of the session
	Client     netip.AddrPort
	Options    map[string]string // of the connection's STARTUP, not to be changed
}

// intercept calls the interceptor and the inspector, if there are any.
func (r *request) intercept() error {
	if intercept := r.conn.server.intercept; intercept != nil {
		if err := intercept(r.conn.ctx, r.intercepted()); err != nil {
			return err
		}
	}
	return r.inspect()
}

// intercepted is the request as an Interceptor sees it.
func (r *request) intercepted() Intercepted {
	return Intercepted{
		Opcode:     r.header.Opcode.String(),
		Statements: r.statements(),
		Keyspace:   r.conn.session.currentKeyspace(),
		Client:     r.conn.remote,
		Options:    r.conn.session.options,
	}
}

// statements are the texts of a request.
func (r *request) statements() []string {
	switch m := r.message.(type) {
	case *protocol.Query:
		return []string{m.Query}
	case *protocol.Prepare:
		return []string{m.Query}
	case *protocol.Execute:
		return []string{r.conn.node.preparedText(m.ID)}
	case *protocol.Batch:
		texts := make([]string, len(m.Children))
		for i, child := range m.Children {
			texts[i] = child.Query
			if child.Prepared {
				texts[i] = r.conn.node.preparedText(child.ID)
			}
		}
		return texts
	}
	return nil
}

// preparedText is the text of a prepared statement, or "".
func (n *node) preparedText(id []byte) string {
	if len(id) != len(preparedID{}) {
		return ""
	}
	if st := n.prepared.get(preparedID(id)); st != nil {
		return st.text
	}
	return ""
}
