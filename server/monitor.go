package server

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/system"
)

// countWork counts what the request's execution went over.
func (r *request) countWork() {
	switch {
	case r.work.Read:
		if r.statement != nil && r.statement.amounts != nil {
			r.statement.amounts.rows.observe(r.work.Rows)
			r.statement.amounts.tombstones.observe(r.work.Tombstones)
		}
	case r.work.Partitions > 0:
		r.conn.server.batches[r.work.Batch].observe(r.work.Partitions)
	}
}

// monitor shows virtual tables the server at work.
type monitor struct{ *Server }

// Table returns what statements of a table took and read.
func (m monitor) Table(t *schema.Table) system.TableActivity { return m.latencies.activity(t) }

// Batches returns how many partitions batches write to.
func (m monitor) Batches() system.Batches {
	return system.Batches{
		Logged: m.batches[exec.Logged].distribution(), Unlogged: m.batches[exec.Unlogged].distribution(),
		Counter: m.batches[exec.Counter].distribution(),
	}
}

// Statements returns what is prepared and how much was executed.
func (m monitor) Statements() system.Statements {
	prepared, _, evicted := m.preparedUsage()
	return system.Statements{
		Prepared: int64(prepared), Evicted: int64(evicted),
		Executes: int64(m.metrics.requests[protocol.OpExecute].Load()),
		Queries:  int64(m.metrics.requests[protocol.OpQuery].Load()),
	}
}

// Pools returns what bounds requests and long reads. Requests that the reader of a connection serves itself take no
// place.
func (m monitor) Pools() []system.Pool {
	var requests uint64
	for op := range m.metrics.requests {
		requests += m.metrics.requests[op].Load()
	}
	active, blocked := int(m.memory.goroutines.Load()), 0
	for _, c := range m.connections() {
		if c.waiting.Load() {
			blocked++
		}
	}
	turns, ended := m.scheduler.Turns()
	return []system.Pool{
		{
			Name: "Native-Transport-Requests", Active: active, Limit: m.limits.Requests, Blocked: blocked,
			BlockedAllTime: int64(m.metrics.waits.Load()), Completed: int64(requests) - int64(active),
		},
		{
			Name: "Turns", Active: turns, Limit: m.limits.Reads, Pending: int(m.scheduler.Waiting()), Completed: ended,
		},
	}
}

// connections returns the open connections.
func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	return all
}

// detachedRequests are the requests of a connection that have or had a goroutine, until they are answered.
type detachedRequests struct {
	mu    sync.Mutex
	first *request
}

// detachedRequest is the place of a request among them.
type detachedRequest struct {
	listed     bool
	prev, next *request
}

// add adds a request, whose message does not change any more.
func (l *detachedRequests) add(r *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.place = detachedRequest{listed: true, next: l.first}
	if l.first != nil {
		l.first.place.prev = r
	}
	l.first = r
}

// remove takes out a request before its message is reused.
func (l *detachedRequests) remove(r *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	prev, next := r.place.prev, r.place.next
	if prev == nil {
		l.first = next
	} else {
		prev.place.next = next
	}
	if next != nil {
		next.place.prev = prev
	}
	r.place = detachedRequest{}
}

// Queries returns the requests that are being served, but those that take so little that the reader serves them.
func (m monitor) Queries() (all []system.Query) {
	for _, c := range m.connections() {
		c.detached.mu.Lock()
		for r := c.detached.first; r != nil; r = r.place.next {
			all = append(all, system.Query{
				ID:      fmt.Sprintf("%s/%d", c.remote, r.header.Stream),
				Running: monotonic() - r.began,
				Task:    task(r.message),
			})
		}
		c.detached.mu.Unlock()
	}
	return all
}

// longestTask is how much of a request's text is shown.
const longestTask = 4 << 10

// task describes a request as Cassandra does.
func task(m protocol.Request) string {
	switch m := m.(type) {
	case *protocol.Query:
		return fmt.Sprintf("QUERY %s [pageSize = %d] at consistency %s", shortened(m.Query), pageSize(&m.Parameters),
			m.Parameters.Consistency)
	case *protocol.Execute:
		return fmt.Sprintf("EXECUTE %x with %d values at consistency %s", m.ID, len(m.Parameters.Values),
			m.Parameters.Consistency)
	case *protocol.Prepare:
		return "PREPARE " + shortened(m.Query)
	case *protocol.Batch:
		var b strings.Builder
		b.WriteString("BATCH of [")
		for i := range m.Children {
			if b.Len() > longestTask {
				b.WriteString(", ...")
				break
			}
			if i > 0 {
				b.WriteString(", ")
			}
			if child := &m.Children[i]; child.Prepared {
				fmt.Fprintf(&b, "%x with %d values", child.ID, len(child.Values))
			} else {
				fmt.Fprintf(&b, "%s with %d values", shortened(child.Query), len(child.Values))
			}
		}
		fmt.Fprintf(&b, "] at consistency %s", m.Parameters.Consistency)
		return b.String()
	}
	return m.Opcode().String()
}

// pageSize is the size of pages that a request asks for; -1: it asks for none.
func pageSize(p *protocol.QueryParameters) int32 {
	if !p.Flags.Has(protocol.WithPageSize) {
		return -1
	}
	return p.PageSize
}

// shortened is a copy of the beginning of a text.
func shortened(text string) string {
	return strings.Clone(cutShort(secret.Hide(text), longestTask))
}
