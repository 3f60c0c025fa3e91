package server

import (
	"time"

	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/store"
)

// To hand a read to a goroutine that waits for a turn often takes longer than to read a few rows. So the reader begins
// reads that are likely to be short, on a turn that is brief. When that is over, the read begins again in a goroutine.
// Then the next reads of the statement begin there, until they have been small for a while.

const (
	// briefSteps is how many steps a brief turn has, and briefRows how many rows a small read goes over, dead ones
	// included.
	briefSteps = 16
	briefRows  = briefSteps * store.RowsPerStep

	// briefTime is how long a brief turn is. Its steps take less, unless the engine goes over much to find a row or
	// others had the processor.
	briefTime = 10 * time.Millisecond

	// briefRequest is how long the request of such a read may be: values of any length take time to be compared.
	briefRequest = 16 << 10

	// briefConnections is how many connections may begin reads at a time, for each processor. A burst of reads takes up
	// to a millisecond, for which others wait. Reads of further connections wait for turns.
	briefConnections = 8

	// messageTime is about what one of giveWayAfter messages takes.
	messageTime = 8 * time.Microsecond
)

// mayBeBrief reports whether the reader may begin the request's read. What is traced must not happen twice.
func (r *request) mayBeBrief() bool {
	return r.trace == nil && r.size <= briefRequest && r.conn.mayBegin()
}

// mayBegin reports whether the reader may begin reads in this burst.
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

// beginNoMore ends what mayBegin has allowed: the burst is over.
func (c *conn) beginNoMore() {
	if c.begins {
		c.begins = false
		c.server.beginning.Add(-1)
	}
}

// serveBrief has the reader begin a read on a brief turn, and a goroutine begin it again if the turn is over too soon.
func (c *conn) serveBrief(r *request, body []byte, serve func(*request)) error {
	began, rows := monotonic(), &r.statement.rows
	r.briefUntil = began + briefTime
	r.holders.Add(1) // r is looked at when it has been answered
	r.run(serve)
	took := monotonic() - began
	c.stretch.messages += int(took / messageTime)
	c.stretch.bytes += int64(len(r.rows.Cells))
	if r.long || took > briefTime {
		rows.noteLarge()
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
