package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestBudget(t *testing.T) {
	b := budget{limit: 10}
	if !b.tryTake(25) {
		t.Error("the first one does not get more than there is")
	}
	if b.tryTake(1) {
		t.Error("there was none left")
	}
	b.give(25)
	if !b.tryTake(10) || b.tryTake(1) {
		t.Error("10 of 10 are not 10")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.take(ctx, nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("take with an ended context: %v", err)
	}
	b.give(10)
	if used := b.used.Load(); used != 0 {
		t.Errorf("%d used", used)
	}
}

// Whoever waits gets its share when others give back, and there is never more in use than the limit.
func TestBudgetWaits(t *testing.T) {
	b := budget{limit: 3}
	var inUse, highest atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if err := b.take(context.Background(), nil, 1); err != nil {
					t.Error(err)
					return
				}
				highest.Store(max(highest.Load(), inUse.Add(1)))
				inUse.Add(-1)
				b.give(1)
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
	if highest.Load() > 3 || b.used.Load() != 0 {
		t.Errorf("up to %d in use, %d at the end", highest.Load(), b.used.Load())
	}
}

func TestLimitsDefaults(t *testing.T) {
	l := Limits{Frame: 100, Connections: 7}.withDefaults()
	if l.Frame != 100 || l.Connections != 7 || l.ConnectionsPerIP != 0 || l.Handshake != time.Minute {
		t.Errorf("%+v", l)
	}
}
