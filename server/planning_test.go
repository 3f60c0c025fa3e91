package server

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	engines "github.com/cqld/cqld/store/engine/memory"
	"github.com/cqld/cqld/store/pace"
)

// planningServer is a server that is not reached.
func planningServer(t testing.TB) *Server {
	t.Helper()
	data, err := store.Open(store.Options{
		Engine: func(fold engine.Fold) (engine.Engine, error) { return engines.Open(fold), nil },
		System: SystemKeyspaces(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := New(Options{Store: data})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPlanningOnTurn ends the planning of a long text when its client leaves.
func TestPlanningOnTurn(t *testing.T) {
	s := planningServer(t)
	scheduler := pace.NewScheduler(pace.Options{Running: 1, Started: 1, PerParty: 1, Slice: time.Nanosecond, Room: pace.NewRoom(1)})
	ctx, leave := context.WithCancel(t.Context())
	var turn pace.Turn
	var party pace.Party
	if err := turn.Begin(ctx, scheduler, &party, time.Time{}); err != nil {
		t.Fatal(err)
	}
	defer turn.End()
	text := "SELECT * FROM system.local WHERE key IN ('a'" + strings.Repeat(",'a'", 20_000) + ")"
	if _, err := s.planner.Plan(&turn, nil, text, "", true, time.Now()); err != nil {
		t.Fatal(err)
	}
	leave()
	if _, err := s.planner.Plan(&turn, nil, text, "", true, time.Now()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPlanningWithoutClient ends the planning of a very long text when its client leaves, but not of others: these may
// be writes, which their clients need not wait for.
func TestPlanningWithoutClient(t *testing.T) {
	s := planningServer(t)
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	c := newConn(s.allNodes()[0], far, 1)
	r := newRequest(c, protocol.Header{}, nil)
	err := r.whenPlannable(strings.Repeat(" ", veryLongText+1), func(turn *pace.Turn) (err error) {
		for c.cancel(); err == nil; {
			err = turn.Step()
		}
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := c.planningContext(veryLongText).Err(); err != nil {
		t.Errorf("a shorter text: %v", err)
	}
}

// TestPlanningRefused refuses a long text that there is no memory to plan in when the server stops.
func TestPlanningRefused(t *testing.T) {
	s := planningServer(t)
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	r := newRequest(newConn(s.allNodes()[0], far, 1), protocol.Header{}, nil)
	const much = 1 << 40
	for owner := range 2 { // an empty room takes anything, and then one owner may hold more than there is room for
		if err := s.memory.planning.Take(t.Context(), owner, much); err != nil {
			t.Fatal(err)
		}
		defer s.memory.planning.Leave(owner, much)
	}
	s.scheduler.Refuse()
	plan := func(*pace.Turn) error { return errors.New("it was planned") }
	if err := r.whenPlannable(strings.Repeat(" ", longText+1), plan); !errors.Is(err, pace.ErrRefused) {
		t.Error(err)
	}
	if used := s.memory.planning.Used(); used != 2*much {
		t.Errorf("%d bytes are taken", used)
	}
}

// TestRefusedWork tells the client of work that had not begun that it may ask another node.
func TestRefusedWork(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	c := newConn(planningServer(t).allNodes()[0], far, 1)
	if e := c.errorMessage(pace.ErrRefused).Err; e.Code != cqlerr.Overloaded {
		t.Errorf("%+v", e)
	}
}
