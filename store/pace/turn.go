package pace

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// ErrTimeout ends work whose time is over.
var ErrTimeout = errors.New("the time for it is over")

// ErrRefused is for work that had not begun when the scheduler was told to refuse such, or not ended when it was told
// to stop.
var ErrRefused = errors.New("no more work is done")

// ErrBudget ends work that has spent the budget with which it began.
var ErrBudget = errors.New("the budget of the work is spent")

// Turn is one piece of long work. It belongs to one goroutine, and lives no longer than the call that it serves.
type Turn struct {
	s        *Scheduler
	party    *Party
	ctx      context.Context
	deadline time.Time     // zero: never
	given    time.Duration // from when it began until the deadline
	yield    time.Time     // when others of this processor may run
	pause    time.Time     // when the slice is over
	granted  chan struct{} // told when running is set
	held     int64
	budgeted bool
	left     int // steps in the budget

	// Of the scheduler, under its lock.
	begun   bool // it counts as under way
	running bool
}

// Begin waits until work of a party may run. Without an error the turn has to be ended, and may begin again
// afterwards. A zero deadline is none.
func (t *Turn) Begin(ctx context.Context, s *Scheduler, p *Party, deadline time.Time) error {
	granted := t.granted
	if granted == nil {
		granted = make(chan struct{}, 1)
	}
	*t = Turn{s: s, party: p, ctx: ctx, deadline: deadline, granted: granted}
	if !deadline.IsZero() {
		t.given = time.Until(deadline)
	}
	err := t.over(time.Now())
	if err == nil {
		err = t.queue(&s.fresh)
	}
	if err != nil {
		t.End()
	}
	return err
}

// BeginWithBudget begins work without waiting for the scheduler. Step ends it with ErrBudget after that many steps or
// after that time, and Hold where it would have to wait for memory. Then the work may begin again with Begin.
func (t *Turn) BeginWithBudget(ctx context.Context, s *Scheduler, steps int, until time.Time) {
	*t = Turn{s: s, ctx: ctx, budgeted: true, left: steps, deadline: until, granted: t.granted}
}

// HasBudget reports whether the work was begun by BeginWithBudget.
func (t *Turn) HasBudget() bool { return t != nil && t.budgeted }

// Begun reports whether the turn has begun and not ended.
func (t *Turn) Begun() bool { return t != nil && t.s != nil && !t.budgeted }

// End gives back the right to run and the memory that the turn holds. It may be called again.
func (t *Turn) End() {
	if t == nil || t.s == nil {
		return
	}
	if t.budgeted {
		t.Drop()
		*t = Turn{granted: t.granted}
		return
	}
	s := t.s
	s.mu.Lock()
	t.stop()
	if t.begun {
		t.begun = false
		t.party.started--
		s.started--
		s.ended++
	}
	s.grant()
	s.mu.Unlock()
	select {
	case <-t.granted: // while it gave up waiting
	default:
	}
	t.Drop()
	*t = Turn{granted: t.granted}
}

// Drop gives back the memory that the turn holds.
func (t *Turn) Drop() {
	if t != nil && t.held > 0 {
		t.s.Room.Leave(t, t.held)
		t.held = 0
	}
}

// Step is called often by the work. It lets others run when the slice is over. An error ends the work.
func (t *Turn) Step() error {
	if t == nil {
		return nil
	}
	if t.budgeted {
		if t.left--; t.left < 0 || time.Now().After(t.deadline) {
			return ErrBudget
		}
		return t.ctx.Err()
	}
	now := time.Now()
	if now.Before(t.yield) {
		return nil
	}
	if err := t.over(now); err != nil {
		return err
	}
	if now.Before(t.pause) {
		runtime.Gosched()
		t.yield = time.Now().Add(yieldEvery)
		return nil
	}
	time.Sleep(breath)
	if t.s.waiting.Load() > 0 {
		return t.queue(&t.s.paused)
	}
	t.slice()
	return nil
}

// Sleep waits for a time or until ctx ends, whose error it returns. Others run meanwhile, and the time does not count.
func (t *Turn) Sleep(ctx context.Context, d time.Duration) error {
	if !t.Begun() {
		return Sleep(ctx, d)
	}
	t.s.mu.Lock()
	t.stop()
	t.s.grant()
	t.s.mu.Unlock()
	err := Sleep(ctx, d)
	if !t.deadline.IsZero() {
		t.Extend(t.deadline.Add(d))
	}
	if err != nil {
		return err
	}
	return t.queue(&t.s.paused)
}

// Sleep waits for a time or until ctx ends, whose error it returns.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// slice begins a slice.
func (t *Turn) slice() {
	now := time.Now()
	t.pause, t.yield = now.Add(t.s.Slice), now.Add(min(t.s.Slice, yieldEvery))
}

// Short work has no turn. A goroutine that is ready to run waits for its processor: a turn yields to it each
// yieldEvery. A goroutine that waits for the network becomes ready only when Go's scheduler polls the network, which
// it does when a processor is idle: so a turn sleeps for a breath after each slice.
const (
	yieldEvery = 500 * time.Microsecond
	breath     = 10 * time.Microsecond
)

// Extend moves the deadline of the work, if it has one.
func (t *Turn) Extend(deadline time.Time) {
	if t != nil && !t.deadline.IsZero() {
		t.deadline = deadline
	}
}

// Again gives the work as much time from here on as it had when it began.
func (t *Turn) Again() {
	if t != nil && !t.budgeted {
		t.Extend(time.Now().Add(t.given))
	}
}

// Hold takes n bytes for the work, and waits while there is no room. An error ends the work.
func (t *Turn) Hold(n int64) error {
	if t == nil || n <= 0 {
		return nil
	}
	if err := t.Take(t.s.Room, t, n); err != nil {
		return err
	}
	t.held += n
	return nil
}

// Take is Room.Take, but lets others run while it waits. An error ends the work.
func (t *Turn) Take(r *Room, owner any, n int64) error {
	switch {
	case r.TryTake(n):
		return nil
	case t.budgeted:
		return ErrBudget
	}
	return t.waitForRoom(r, owner, n)
}

// Held is how many bytes the turn holds.
func (t *Turn) Held() int64 {
	if t == nil {
		return 0
	}
	return t.held
}

// Give gives back n of the bytes that the turn holds.
func (t *Turn) Give(n int64) {
	if t == nil {
		return
	}
	if n = min(n, t.held); n > 0 {
		t.held -= n
		t.s.Room.Give(n)
	}
}

// Short reports whether room is scarce: work that can end early should.
func (t *Turn) Short() bool { return t != nil && t.s.Room.Short() }

// waitForRoom lets others run until n bytes are taken.
func (t *Turn) waitForRoom(r *Room, owner any, n int64) error {
	c := r.claim(owner, n)
	select {
	case <-c.taken:
		return nil
	default:
	}
	t.s.mu.Lock()
	t.stop()
	t.s.grant()
	t.s.mu.Unlock()
	err := t.wait(c.taken, nil)
	if err == nil {
		err = t.queue(&t.s.paused)
	}
	if err != nil {
		r.withdraw(c)
	}
	return err
}

// queue gives up the right to run and waits for it in a queue.
func (t *Turn) queue(r *ring) error {
	s := t.s
	s.mu.Lock()
	t.stop()
	s.waiting.Add(1)
	r.add(t.party, t)
	s.grant()
	running := t.running
	s.mu.Unlock()
	var refused <-chan struct{}
	if r == &s.fresh {
		refused = s.refusing
	}
	if running {
		<-t.granted
	} else if err := t.wait(t.granted, refused); err != nil {
		s.mu.Lock()
		if r.remove(t.party, t) {
			s.waiting.Add(-1)
		}
		s.mu.Unlock()
		return err
	}
	t.slice()
	return nil
}

// stop gives up the right to run. The scheduler's lock is held.
func (t *Turn) stop() {
	if t.running {
		t.running = false
		t.s.running--
	}
}

// wait returns when a channel is written to, or when the work has to end: also when refused is closed.
func (t *Turn) wait(told, refused <-chan struct{}) error {
	var late <-chan time.Time
	if !t.deadline.IsZero() {
		timer := time.NewTimer(time.Until(t.deadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-told:
		return nil
	case <-t.ctx.Done():
		return t.ctx.Err()
	case <-late:
		return ErrTimeout
	case <-refused:
		return ErrRefused
	case <-t.s.ending:
		return ErrRefused
	}
}

// over says why the work has to end. It is nil if it need not.
func (t *Turn) over(now time.Time) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if !t.deadline.IsZero() && now.After(t.deadline) {
		return ErrTimeout
	}
	select {
	case <-t.s.ending:
		return ErrRefused
	default:
		return nil
	}
}
