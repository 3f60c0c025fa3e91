package server

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/store/pace"
)

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
	if _, err := s.planOn(&turn, nil, text, "", true, time.Now()); err != nil {
		t.Fatal(err)
	}
	leave()
	if _, err := s.planOn(&turn, nil, text, "", true, time.Now()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
