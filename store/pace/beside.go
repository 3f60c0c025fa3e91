package pace

import "context"

// Spare reports whether a processor is idle, on which a further turn could run.
func (t *Turn) Spare() bool {
	if !t.Begun() {
		return false
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.s.spare(t.party)
}

// spare reports whether a turn of a party would run at once, without delaying one that waits. The lock is held.
func (s *Scheduler) spare(p *Party) bool {
	return s.running < s.Running && s.waiting.Load() == 0 && s.mayBegin(p)
}

// BeginBeside begins a turn of the same party as another one, which is running, and with the same deadline, if a
// processor is idle. Otherwise it reports false.
func (t *Turn) BeginBeside(ctx context.Context, other *Turn) bool {
	s := other.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.spare(other.party) {
		return false
	}
	*t = Turn{
		s: s, party: other.party, ctx: ctx, deadline: other.deadline, given: other.given, granted: make(chan struct{}, 1),
	}
	s.begin(t)
	s.running++
	t.running = true
	t.Again()
	t.slice()
	return true
}

// Await yields until done is closed, by work with its own deadline. Then the turn's deadline is as far away as when it
// began. An error ends the work.
func (t *Turn) Await(done <-chan struct{}) error {
	t.s.mu.Lock()
	t.stop()
	t.s.grant()
	t.s.mu.Unlock()
	select {
	case <-done:
	case <-t.ctx.Done():
		return t.ctx.Err()
	case <-t.s.ending:
		return ErrRefused
	}
	t.Again()
	return t.queue(&t.s.paused)
}
