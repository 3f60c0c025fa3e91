package server

import (
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/server/trace"
)

// RecentStatements keeps the last statements that clients have run on a server, to show what led to a failure. Methods
// may be called concurrently.
type RecentStatements struct {
	values bool
	size   int

	mu    sync.Mutex
	kept  []RecentStatement // a ring buffer
	total int               // statements since the start
}

// RecentStatement is one of RecentStatements.
type RecentStatement struct {
	Opcode   string // QUERY, PREPARE, EXECUTE or BATCH
	Text     string // shortened
	Values   string // bound values as literals, if they are wanted
	Keyspace string // of the session
	Took     time.Duration
	Error    string // "": it succeeded
}

// maxRecent is how many bytes are kept of a text.
const maxRecent = 1 << 10

// NewRecentStatements keeps up to size statements. They have their bound values only if values is set: values may be
// secret.
func NewRecentStatements(size int, values bool) *RecentStatements {
	return &RecentStatements{kept: make([]RecentStatement, 0, size), size: size, values: values}
}

// List returns the statements, the oldest first, and how many there were before them.
func (l *RecentStatements) List() (all []RecentStatement, before int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.kept); n > 0 && l.total > n {
		first := l.total % n
		all = append(all, l.kept[first:]...)
		return append(all, l.kept[:first]...), l.total - n
	}
	return append(all, l.kept...), 0
}

// add keeps a request that is about to be answered.
func (l *RecentStatements) add(r *request, answer protocol.Response) {
	if !r.header.Opcode.Traceable() || l.size == 0 {
		return
	}
	s := RecentStatement{
		Opcode: r.header.Opcode.String(), Text: r.recentText(), Keyspace: r.conn.session.currentKeyspace(),
		Values: r.recent.values, Took: monotonic() - r.began,
	}
	if e, ok := answer.(*protocol.Error); ok {
		s.Error = e.Err.Message
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) < l.size {
		l.kept = append(l.kept, s)
	} else {
		l.kept[l.total%len(l.kept)] = s
	}
	l.total++
}

// recentText is the text of a request, or the texts of a BATCH.
func (r *request) recentText() string {
	switch m := r.message.(type) {
	case *protocol.Query:
		return shorten(m.Query)
	case *protocol.Prepare:
		return shorten(m.Query)
	case *protocol.Execute:
		if r.statement != nil {
			return shorten(r.statement.Text)
		}
	case *protocol.Batch:
		return r.recent.texts
	}
	return ""
}

// shorten copies a text without passwords, and truncates it.
func shorten(text string) string {
	return observe.Truncate(secret.Hide(text), maxRecent)
}

// recentParts are texts of a request for RecentStatements that are not available any more when it is answered.
type recentParts struct{ texts, values string }

// note keeps these texts before r is executed, and the values that an inspector wants. l may be nil.
func (l *RecentStatements) note(r *request) {
	if i := r.inspection; i != nil && i.seen.WantsValues {
		i.seen.Values = r.boundValues()
	}
	if l == nil {
		return
	}
	if len(r.batch.Children) > 0 {
		r.recent.texts = shorten(strings.Join(r.texts(), "; "))
	}
	if l.values {
		r.recent.values = shorten(strings.Join(r.boundValues(), ", "))
	}
}

// boundValues are the values of a request as literals, in the order of its markers.
func (r *request) boundValues() (parts []string) {
	add := func(p *planner.Prepared, values []types.Value) {
		for i, v := range values {
			parts = append(parts, trace.Literal(&p.Markers[i], v))
		}
	}
	if r.single.Prepared != nil {
		add(r.single.Prepared, r.single.Values)
	}
	for i := range r.batch.Children {
		add(r.batch.Children[i].Prepared, r.batch.Children[i].Values)
	}
	return parts
}
