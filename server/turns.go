package server

import (
	"context"
	"errors"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// readSlice is how long something that takes long runs before it lets others run.
const readSlice = 4 * time.Millisecond

// servesHere reports whether the goroutine that reads may execute the request's statement. Where memory for answers is
// scarce it may not read: the row of a quick read can be a large one, and has to wait for its turn. It has to as well where
// such rows have been read before. Neither may it write much.
func (r *request) servesHere(st *statement) bool {
	if st.reads {
		return st.quick && st.large.Load() <= 0 && !r.conn.server.memory.answers.Short()
	}
	return st.quick && r.size <= heavyWrite
}

// readsBehindLarge is how many reads of a statement take turns behind one that gave much.
const readsBehindLarge = 64

// gave notes how many bytes a read of the statement gave.
func (st *statement) gave(n int) {
	switch {
	case n >= chargeStep:
		st.large.Store(readsBehindLarge)
	case st.large.Load() > 0:
		st.large.Add(-1) // below 0, where two do it at a time, is as good
	}
}

// needsTurn reports whether executing the request's statement may take long. Changes of counters wait for others, and have
// none; nor has what the goroutine that reads executes, which must not wait.
func (r *request) needsTurn() bool {
	st := r.statement
	if !r.aside {
		return false
	}
	if st.writes != "" {
		return (st.manyWrites || !r.servesHere(st)) && st.writes != exec.Counter.WriteType() && st.writes != exec.Conditional
	}
	return st.reads && !r.servesHere(st)
}

// takeTurn waits for a turn of the request, which has to be ended.
func (r *request) takeTurn(timeout time.Duration) (*pace.Turn, error) {
	err := r.turn.Begin(r.context(), r.conn.server.scheduler, &r.conn.reads, time.Now().Add(timeout))
	return &r.turn, err
}

// heavyWrite is the size of a request from which on a write waits until the store has not much to write.
const heavyWrite = 64 << 10

// longWrite is the size of a request from which on a write is made in turns: it may have millions of small parts.
const longWrite = 256 << 10

// takeHeavy waits until the store has not much to write, if the request is large. kind is what errors call it.
func (r *request) takeHeavy(kind string) error {
	s := r.conn.server
	n := r.size
	if s.memory.writes.TryTake(n) {
		r.heavy = n
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.limits.WriteTimeout)
	defer cancel()
	if err := s.memory.writes.Take(ctx, nil, n); err != nil {
		if s.ctx.Err() != nil {
			return err
		}
		return cqlerr.WriteUnknown(r.consistency(), kind)
	}
	r.heavy = n
	return nil
}

// timeout is how long a statement may take.
func (s *Server) timeout(st *statement) time.Duration {
	switch {
	case st.writes != "":
		return s.limits.WriteTimeout
	case st.ranges:
		return s.limits.RangeTimeout
	}
	return s.limits.ReadTimeout
}

// timedOut is what a client is told of a request that could not begin; kind is what errors call a write.
func (r *request) timedOut(err error, kind string) error {
	switch {
	case !errors.Is(err, pace.ErrTimeout):
		return err
	case kind != "":
		return cqlerr.WriteUnknown(r.consistency(), kind)
	}
	return cqlerr.ReadTimedOut(r.consistency())
}

// longText is the length of texts from which on they are planned in turns, as far as there is memory for what that may
// take.
const longText = keptText

// planningCost is how much memory parsing and planning a text may take: what the parser promises for long ones, and more for
// a short one that consists of the shortest words.
func planningCost(length int64) int64 { return 40*length + min(210*length, 8<<20) }

// planning calls plan, which parses and plans a text, when there is memory for it. A long one is planned on a turn, for as long as the
// client waits.
func (r *request) planning(text string, plan func(*pace.Turn) error) error {
	if len(text) <= longText {
		return plan(nil)
	}
	s := r.conn.server
	n := planningCost(int64(len(text)))
	if err := s.memory.planning.Take(r.conn.ctx, r, n); err != nil {
		return err
	}
	defer s.memory.planning.Leave(r, n)
	turn, err := r.takeTurn(s.limits.ReadTimeout)
	if errors.Is(err, pace.ErrTimeout) {
		return cqlerr.Overloadedf("The server is too busy to plan a text of %d bytes", len(text))
	}
	if err != nil {
		return err
	}
	defer turn.End()
	turn.Extend(time.Time{})
	return plan(turn)
}
