package server

import (
	"time"

	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/guardrail"
)

// A read of some rows of a partition is mostly over sooner than a goroutine for it would have begun. So the reader
// begins such reads itself. One that turns out to be long begins again in a goroutine, and the next ones of its
// statement begin there, until these have been small for a while.

const (
	// briefSteps is how many steps such a read has: one for every 32 rows, dead ones included.
	briefSteps = 16
	briefRows  = 32 * briefSteps

	// briefRequest is how long the request of such a read may be: it takes time to find out what long values mean.
	briefRequest = 16 << 10

	// briefTime is a time that such a read takes only if it goes over much that it does not count. Others may have had
	// the processor for a few milliseconds.
	briefTime = 10 * time.Millisecond

	// briefConnections is how many connections may begin such reads at a time, for each processor. A burst of them takes
	// up to a millisecond, for which others wait. The reads of further connections wait for turns.
	briefConnections = 8

	// messageTime is about what one of giveWayAfter messages takes.
	messageTime = 8 * time.Microsecond
)

// mayBeBrief reports whether the reader may begin the request's statement, which is brief. What is traced happens once.
func (r *request) mayBeBrief() bool {
	return r.trace == nil && r.size <= briefRequest && r.conn.mayBegin()
}

// mayBegin reports whether the reader may begin reads, and counts the connection until beginsNoMore is called.
func (c *conn) mayBegin() bool {
	if !c.begins {
		if c.server.beginning.Add(1) > briefConnections*int64(c.server.scheduler.Running) {
			c.server.beginning.Add(-1)
			return false
		}
		c.begins = true
	}
	return true
}

// beginsNoMore is called before the reader waits.
func (c *conn) beginsNoMore() {
	if c.begins {
		c.begins = false
		c.server.beginning.Add(-1)
	}
}

// serveBrief has the reader serve a request that may be a read that is brief. Such a read begins again in a goroutine
// if it turns out to be long.
func (c *conn) serveBrief(r *request, body []byte, serve func(*request)) error {
	began := monotonic()
	r.holders.Add(1) // to look at it afterwards
	r.briefUntil = began + briefTime
	r.run(serve)
	st := r.statement
	if st == nil || !st.brief {
		r.release()
		return nil
	}
	took := monotonic() - began
	c.stretch.messages += int(took / messageTime)
	c.stretch.bytes += int64(len(r.rows.Cells))
	if took > briefTime || r.long {
		st.rows.noteLarge()
	}
	if !r.long {
		r.release()
		return nil
	}
	r.long, r.guard, r.work, r.single = false, guardrail.Check{}, exec.Work{}, exec.Request{}
	return c.serveDetached(r, body, serve)
}

// noteSize takes down how large a quick or brief read was.
func (r *request) noteSize(rows *exec.Rows) {
	st := r.statement
	switch {
	case st == nil || !st.quick && !st.brief:
	case len(rows.Before) > 0 || r.work.Rows+r.work.Tombstones > briefRows:
		st.rows.noteLarge()
	default:
		st.rows.note(len(rows.Cells))
	}
}
