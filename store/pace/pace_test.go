package pace_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/store/pace"
)

func scheduler(running, started, perParty int, room int64) *pace.Scheduler {
	return pace.NewScheduler(pace.Options{
		Running: running, Started: started, PerParty: perParty, Slice: time.Microsecond, Room: pace.NewRoom(room),
	})
}

// turn is one that has begun.
func turn(t *testing.T, s *pace.Scheduler, p *pace.Party) *pace.Turn {
	t.Helper()
	var turn pace.Turn
	if err := turn.Begin(t.Context(), s, p, time.Time{}); err != nil {
		t.Fatal(err)
	}
	return &turn
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// A party that asks for a hundred pieces of work gets as many slices as one that asks for one.
func TestPartiesShareEqually(t *testing.T) {
	s := scheduler(1, 100, 4, 1)
	var greedy, modest pace.Party
	var slices [2]atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	work := func(p *pace.Party, i int) {
		var turn pace.Turn
		if turn.Begin(t.Context(), s, p, time.Time{}) != nil {
			return
		}
		defer turn.End()
		for {
			select {
			case <-stop:
				return
			default:
			}
			time.Sleep(2 * time.Microsecond) // a slice is over
			if turn.Step() != nil {
				return
			}
			slices[i].Add(1)
		}
	}
	for range 100 {
		all.Go(func() { work(&greedy, 0) })
	}
	all.Go(func() { work(&modest, 1) })
	waitFor(t, "both have run", func() bool { return slices[0].Load() > 0 && slices[1].Load() > 0 })
	a, b := slices[0].Load(), slices[1].Load()
	waitFor(t, "the modest party has 200 slices more", func() bool { return slices[1].Load() > b+200 })
	a, b = slices[0].Load()-a, slices[1].Load()-b
	close(stop)
	all.Wait()
	if a > 2*b {
		t.Errorf("the greedy party had %d slices, the modest one %d", a, b)
	}
}

// No more run at a time than may, and no party has more under way than it may.
func TestBounds(t *testing.T) {
	s := scheduler(2, 5, 3, 1)
	var parties [3]pace.Party
	var under, most atomic.Int64
	var all sync.WaitGroup
	for i := range 300 {
		all.Go(func() {
			var turn pace.Turn
			if err := turn.Begin(t.Context(), s, &parties[i%3], time.Time{}); err != nil {
				t.Error(err)
				return
			}
			defer turn.End()
			n := under.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			for range 10 {
				time.Sleep(2 * time.Microsecond)
				if err := turn.Step(); err != nil {
					t.Error(err)
				}
			}
			under.Add(-1)
		})
	}
	all.Wait()
	if most.Load() > 7 { // one more for each party that has none
		t.Errorf("%d turns were under way, want at most 7", most.Load())
	}
}

// Work ends when its context or its time does: while it waits to begin, between slices, and while it waits for room.
func TestEnds(t *testing.T) {
	s := scheduler(1, 10, 10, 100)
	var p pace.Party
	running := turn(t, s, &p)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var other pace.Turn
	if err := other.Begin(ctx, s, &p, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("begin: %v, want context.Canceled", err)
	}
	if err := other.Begin(t.Context(), s, &p, time.Now().Add(time.Millisecond)); !errors.Is(err, pace.ErrTimeout) {
		t.Errorf("begin: %v, want ErrTimeout", err)
	}
	running.End()

	late := new(pace.Turn)
	if err := late.Begin(t.Context(), s, &p, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	late.Extend(time.Now())
	waitFor(t, "the time is over", func() bool { return errors.Is(late.Step(), pace.ErrTimeout) })
	late.End()

	leader := turn(t, s, &p)
	if err := errors.Join(leader.Hold(90), leader.Hold(90)); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() {
		var turn pace.Turn
		err := turn.Begin(t.Context(), s, &p, time.Now().Add(20*time.Millisecond))
		if err == nil {
			err = turn.Hold(1)
			turn.End()
		}
		waiting <- err
	}()
	for err := error(nil); ; time.Sleep(time.Millisecond) {
		select {
		case err = <-waiting:
			if !errors.Is(err, pace.ErrTimeout) {
				t.Errorf("hold: %v, want ErrTimeout", err)
			}
			leader.End()
			if used := s.Room.Used(); used != 0 {
				t.Errorf("%d bytes are held by nobody", used)
			}
			return
		default:
			if err := leader.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Refuse ends the waiting of what has not begun, also of what comes later; what has begun goes on.
func TestRefuse(t *testing.T) {
	s := scheduler(1, 10, 10, 1)
	var p pace.Party
	running := turn(t, s, &p)
	begun := make(chan error)
	begin := func() {
		var turn pace.Turn
		begun <- turn.Begin(t.Context(), s, &p, time.Time{})
	}
	go begin()
	waitFor(t, "a turn waits", func() bool { return s.Waiting() == 1 })
	s.Refuse()
	if err := <-begun; !errors.Is(err, pace.ErrRefused) {
		t.Errorf("waiting: %v, want ErrRefused", err)
	}
	s.Refuse()
	go begin()
	if err := <-begun; !errors.Is(err, pace.ErrRefused) {
		t.Errorf("later: %v, want ErrRefused", err)
	}
	for range 10 {
		if err := running.Step(); err != nil {
			t.Errorf("what has begun: %v", err)
		}
	}
	running.End()
	if n := s.Waiting(); n != 0 {
		t.Errorf("%d turns wait", n)
	}
}

// Stop ends what has begun, when it steps and while it waits for room.
func TestStop(t *testing.T) {
	s := scheduler(1, 10, 10, 100)
	var p, other pace.Party
	running := turn(t, s, &p)
	if err := errors.Join(running.Hold(90), running.Hold(90)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		var turn pace.Turn
		err := turn.Begin(t.Context(), s, &other, time.Time{})
		if err == nil {
			err = turn.Hold(1)
			turn.End()
		}
		ended <- err
	}()
	waitFor(t, "both have begun", func() bool {
		if err := running.Step(); err != nil {
			t.Fatal(err)
		}
		underWay, _ := s.Turns()
		return underWay == 2
	})
	s.Stop()
	if err := <-ended; !errors.Is(err, pace.ErrRefused) {
		t.Errorf("waiting: %v, want ErrRefused", err)
	}
	waitFor(t, "what runs ends", func() bool { return errors.Is(running.Step(), pace.ErrRefused) })
	running.End()
	if used := s.Room.Used(); used != 0 {
		t.Errorf("%d bytes are held by nobody", used)
	}
}

// Turns that all want more than there is come to an end, one after the other.
func TestRoomIsNeverStuck(t *testing.T) {
	s := scheduler(4, 50, 50, 1000)
	var p pace.Party
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			var turn pace.Turn
			if err := turn.Begin(t.Context(), s, &p, time.Time{}); err != nil {
				t.Error(err)
				return
			}
			defer turn.End()
			for range 40 {
				if err := errors.Join(turn.Hold(100), turn.Step()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if used := s.Room.Used(); used != 0 {
		t.Errorf("%d bytes are held by nobody", used)
	}
}

// A party that does not take its results gets no turn until it does.
func TestBehind(t *testing.T) {
	s := scheduler(1, 10, 10, 1)
	var behind atomic.Bool
	behind.Store(true)
	p := pace.Party{Behind: behind.Load}
	begun := make(chan *pace.Turn, 1)
	go func() {
		turn := new(pace.Turn)
		if err := turn.Begin(t.Context(), s, &p, time.Time{}); err != nil {
			t.Error(err)
		}
		begun <- turn
	}()
	waitFor(t, "it waits", func() bool { return s.Waiting() == 1 })
	var q pace.Party
	turn(t, s, &q).End()
	select {
	case <-begun:
		t.Fatal("it began")
	default:
	}
	behind.Store(false)
	s.Resume()
	(<-begun).End()
}

// Work that is given its time again goes on beyond the first deadline, and not beyond the second.
func TestAgain(t *testing.T) {
	s := scheduler(1, 10, 10, 100)
	var p pace.Party
	var turn pace.Turn
	first := time.Now().Add(50 * time.Millisecond)
	if err := turn.Begin(t.Context(), s, &p, first); err != nil {
		t.Fatal(err)
	}
	defer turn.End()
	for time.Now().Before(first.Add(20 * time.Millisecond)) {
		turn.Again()
		if err := turn.Step(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	waitFor(t, "the time is over", func() bool { return errors.Is(turn.Step(), pace.ErrTimeout) })
}

// What is given back is another's, and nothing more than was held.
func TestGive(t *testing.T) {
	s := scheduler(1, 10, 10, 100)
	var p pace.Party
	held := turn(t, s, &p)
	defer held.End()
	if err := held.Hold(60); err != nil {
		t.Fatal(err)
	}
	if held.Give(20); s.Room.Used() != 40 {
		t.Errorf("%d bytes are held, want 40", s.Room.Used())
	}
	if held.Give(100); s.Room.Used() != 0 {
		t.Errorf("%d bytes are held, want none", s.Room.Used())
	}
}

func TestRoom(t *testing.T) {
	b := pace.NewRoom(10)
	if !b.TryTake(25) {
		t.Error("the first one does not get more than there is")
	}
	if b.TryTake(1) {
		t.Error("there was none left")
	}
	b.Give(25)
	if !b.TryTake(10) || b.TryTake(1) {
		t.Error("10 of 10 are not 10")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.Take(ctx, nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("take with an ended context: %v", err)
	}
	b.Give(10)
	if used := b.Used(); used != 0 {
		t.Errorf("%d used", used)
	}
}

// Whoever waits gets its share when others give back, and there is never more in use than the limit.
func TestRoomWaits(t *testing.T) {
	b := pace.NewRoom(3)
	var inUse, highest atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if err := b.Take(context.Background(), nil, 1); err != nil {
					t.Error(err)
					return
				}
				highest.Store(max(highest.Load(), inUse.Add(1)))
				inUse.Add(-1)
				b.Give(1)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("somebody waits for ever")
	}
	if highest.Load() > 3 || b.Used() != 0 {
		t.Errorf("up to %d in use, %d at the end", highest.Load(), b.Used())
	}
}

// Work with a budget ends when it has had its steps, when its time is over, and when there is no room. It never waits,
// and gives back what it holds.
func TestBudget(t *testing.T) {
	s := scheduler(1, 10, 10, 100)
	var p pace.Party
	running := turn(t, s, &p)
	soon := time.Now().Add(time.Hour)

	var budgeted pace.Turn
	budgeted.BeginWithBudget(t.Context(), s, 2, soon)
	if err := errors.Join(budgeted.Hold(60), budgeted.Step(), budgeted.Step()); err != nil {
		t.Error(err)
	}
	if !budgeted.HasBudget() || budgeted.Begun() {
		t.Error("it waits for the scheduler, or has no budget")
	}
	if err := budgeted.Step(); !errors.Is(err, pace.ErrBudget) {
		t.Errorf("the third of two steps: %v, want ErrBudget", err)
	}
	if err := running.Hold(40); err != nil {
		t.Fatal(err)
	}
	if err := budgeted.Hold(1); !errors.Is(err, pace.ErrBudget) {
		t.Errorf("no room: %v, want ErrBudget", err)
	}
	budgeted.End()
	if used := s.Room.Used(); used != 40 {
		t.Errorf("%d bytes are held, want 40", used)
	}

	budgeted.BeginWithBudget(t.Context(), s, 2, time.Now())
	waitFor(t, "the time is over", func() bool { return errors.Is(budgeted.Step(), pace.ErrBudget) })
	budgeted.End()
	ctx, cancel := context.WithCancel(t.Context())
	budgeted.BeginWithBudget(ctx, s, 2, soon)
	cancel()
	if err := budgeted.Step(); !errors.Is(err, context.Canceled) {
		t.Errorf("step: %v, want context.Canceled", err)
	}
	budgeted.End()
	running.End()
	if err := budgeted.Begin(t.Context(), s, &p, time.Time{}); err != nil || budgeted.HasBudget() {
		t.Error(err, budgeted.HasBudget())
	}
	budgeted.End()
}

func TestNilTurn(t *testing.T) {
	var turn *pace.Turn
	turn.Again()
	turn.Give(1)
	if turn.HasBudget() {
		t.Error("it has a budget")
	}
	if err := errors.Join(turn.Step(), turn.Hold(1<<40)); err != nil || turn.Short() {
		t.Error(err, turn.Short())
	}
	turn.End()
}
