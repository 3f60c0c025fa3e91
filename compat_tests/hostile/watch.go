package main

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// state is the memory, goroutines and descriptors of a process.
type state struct {
	memory      process.Memory
	goroutines  int
	descriptors int
}

// watch observes a process from outside, and kills it when it uses too much memory.
type watch struct {
	process *process.Process

	mu     sync.Mutex
	safety int64 // the most that it may take
	peak   state
	ended  bool
	killed bool
}

// How often memory is measured, and goroutines and descriptors, which cost the server some CPU time.
const (
	memoryEvery = 20 * time.Millisecond
	countEvery  = time.Second
)

// run watches until ctx or the process ends.
func (w *watch) run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() {
		for wait(ctx, memoryEvery) && w.lookAtMemory() {
		}
	})
	both.Go(func() {
		for wait(ctx, countEvery) && !w.gone() {
			w.lookAtCounts(ctx)
		}
	})
	both.Wait()
}

// lookAtMemory returns false when the process is gone.
func (w *watch) lookAtMemory() bool {
	m, err := w.process.Memory()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.ended = true
		return false
	}
	w.peak.memory.RSS = max(w.peak.memory.RSS, m.RSS)
	w.peak.memory.Anon = max(w.peak.memory.Anon, m.Anon)
	if m.Anon > w.safety && !w.killed {
		w.killed = true
		_ = w.process.Signal(os.Kill) // fails if it has ended
	}
	return true
}

func (w *watch) lookAtCounts(ctx context.Context) {
	descriptors, _ := w.process.Descriptors() // fails when the process is gone, which the other loop sees
	goroutines, _ := w.process.Metric(ctx, "cqld_goroutines")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peak.descriptors = max(w.peak.descriptors, descriptors)
	w.peak.goroutines = max(w.peak.goroutines, int(goroutines))
}

// gone reports whether the process ended.
func (w *watch) gone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// fate reports whether the process ended, and whether it was killed for its memory.
func (w *watch) fate() (ended, killed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended, w.killed
}

// takePeak returns the peak since the last call.
func (w *watch) takePeak() state {
	w.mu.Lock()
	defer w.mu.Unlock()
	peak := w.peak
	w.peak = state{}
	return peak
}

// look measures everything now.
func look(ctx context.Context, p *process.Process) (s state, err error) {
	if s.memory, err = p.Memory(); err != nil {
		return s, err
	}
	if s.descriptors, err = p.Descriptors(); err != nil {
		return s, err
	}
	n, err := p.Metric(ctx, "cqld_goroutines")
	s.goroutines = int(n)
	return s, err
}
