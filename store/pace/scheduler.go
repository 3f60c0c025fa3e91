package pace

import (
	"sync"
	"sync/atomic"
	"time"
)

// Options limit how much runs at a time. Every field must be set.
type Options struct {
	Running  int           // turns that run at a time
	Started  int           // turns under way, of all parties; more only for parties that have none
	PerParty int           // turns under way of one party
	Slice    time.Duration // how long a turn runs before it yields
	Room     *Room         // the memory that turns hold
}

// Scheduler shares the processors fairly between parties.
type Scheduler struct {
	Options
	waiting atomic.Int64 // turns in the queues below

	refuse, stop     sync.Once
	refusing, ending chan struct{} // closed by Refuse and by Stop

	mu      sync.Mutex
	running int
	started int
	fresh   ring // parties with turns that have not run yet
	paused  ring // parties with turns that have
	inRow   int  // fresh turns that ran since a paused one did
	ended   int64
}

// freshInRow is how many turns that begin may go before one that has had a slice.
const freshInRow = 8

// NewScheduler returns a scheduler without turns.
func NewScheduler(o Options) *Scheduler {
	s := &Scheduler{Options: o, refusing: make(chan struct{}), ending: make(chan struct{})}
	s.fresh.queue = func(p *Party) *queue { return &p.fresh }
	s.paused.queue = func(p *Party) *queue { return &p.paused }
	return s
}

// Party has a fair share of the turns; it is a connection, for example. Its zero value is ready.
type Party struct {
	// Behind reports that the party is slow to read its results (backpressure). It gets no further turn until Resume is
	// called. nil: never.
	Behind func() bool

	started       int
	fresh, paused queue
}

// queue is the turns of a party that wait for one thing.
type queue struct {
	turns []*Turn
}

// ring is the parties with turns in a queue of one kind, the next one first.
type ring struct {
	parties []*Party
	queue   func(*Party) *queue
}

func (r *ring) add(p *Party, t *Turn) {
	q := r.queue(p)
	if q.turns = append(q.turns, t); len(q.turns) == 1 {
		r.parties = append(r.parties, p)
	}
}

// remove removes t and reports whether it was there.
func (r *ring) remove(p *Party, t *Turn) bool {
	q := r.queue(p)
	for i, other := range q.turns {
		if other == t {
			q.turns = append(q.turns[:i], q.turns[i+1:]...)
			if len(q.turns) == 0 {
				r.drop(p)
			}
			return true
		}
	}
	return false
}

func (r *ring) drop(p *Party) {
	for i, other := range r.parties {
		if other == p {
			r.parties = append(r.parties[:i], r.parties[i+1:]...)
			return
		}
	}
}

// next removes the first turn of the first party for which may holds, and puts the party last.
func (r *ring) next(may func(*Party) bool) *Turn {
	for i, p := range r.parties {
		if !may(p) {
			continue
		}
		q := r.queue(p)
		t := q.turns[0]
		q.turns = append(q.turns[:0], q.turns[1:]...)
		r.parties = append(r.parties[:i], r.parties[i+1:]...)
		if len(q.turns) > 0 {
			r.parties = append(r.parties, p)
		}
		return t
	}
	return nil
}

// Refuse ends the waiting of turns that have not begun, now and later, with ErrRefused.
func (s *Scheduler) Refuse() { s.refuse.Do(func() { close(s.refusing) }) }

// Stop is Refuse, and also ends the turns that have begun with ErrRefused, when they next step or wait.
func (s *Scheduler) Stop() {
	s.Refuse()
	s.stop.Do(func() { close(s.ending) })
}

// Refusing is closed by Refuse.
func (s *Scheduler) Refusing() <-chan struct{} { return s.refusing }

// Turns returns the number of turns under way, and of turns that have ended.
func (s *Scheduler) Turns() (underWay int, ended int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started, s.ended
}

// Resume lets a party's turns begin again when Behind reports false.
func (s *Scheduler) Resume() {
	if s.waiting.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grant()
}

// overcommit is how many times Started turns may be under way in all. Beyond Started, only parties without a turn
// begin one.
const overcommit = 4

// mayBegin reports whether a party may begin one more turn. The lock is held.
func (s *Scheduler) mayBegin(p *Party) bool {
	limit := s.PerParty
	if s.Room.Short() {
		limit = 1
	}
	room := s.started < s.Started || p.started == 0 && s.started < overcommit*s.Started
	return room && p.started < limit && (p.Behind == nil || !p.Behind())
}

// grant lets turns run, as many as may. The lock is held.
func (s *Scheduler) grant() {
	for s.running < s.Running {
		t := s.pick()
		if t == nil {
			return
		}
		s.waiting.Add(-1)
		s.running++
		t.running = true
		t.granted <- struct{}{}
	}
}

// pick removes the turn that runs next from the queues.
func (s *Scheduler) pick() *Turn {
	always := func(*Party) bool { return true }
	if s.inRow >= freshInRow {
		s.inRow = 0
		if t := s.paused.next(always); t != nil {
			return t
		}
	}
	if t := s.fresh.next(s.mayBegin); t != nil {
		s.inRow++
		s.begin(t)
		return t
	}
	return s.paused.next(always)
}

// begin counts a turn as under way. The lock is held.
func (s *Scheduler) begin(t *Turn) {
	t.begun = true
	t.party.started++
	s.started++
}

// Waiting is how many turns wait to run.
func (s *Scheduler) Waiting() int64 { return s.waiting.Load() }
