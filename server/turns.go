package server

import (
	"errors"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/store/pace"
)

// readSlice is how long something that takes long runs before it lets others run.
const readSlice = 2 * time.Millisecond

// servesHere reports whether the goroutine that reads may execute a statement. Where memory for answers is scarce, it may
// not: the row of a quick read can be a large one, and has to wait for its turn.
func (s *Server) servesHere(st *statement) bool {
	return st.quick && (!st.reads || !s.memory.answers.Short())
}

// takeTurn waits for a turn of the request, which has to be ended.
func (r *request) takeTurn(timeout time.Duration) (*pace.Turn, error) {
	err := r.turn.Begin(r.context(), r.conn.server.scheduler, &r.conn.reads, time.Now().Add(timeout))
	return &r.turn, err
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

// Texts that are longer than longText are planned in turns, as far as there is memory for what that may take: planningCost
// bytes for each of theirs.
const (
	longText     = 64 << 10
	planningCost = 40
)

// planning calls plan, which parses and plans a text, when there is memory for it.
func (r *request) planning(text string, plan func() error) error {
	if len(text) <= longText {
		return plan()
	}
	s := r.conn.server
	n := int64(len(text)) * planningCost
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
	return plan()
}
