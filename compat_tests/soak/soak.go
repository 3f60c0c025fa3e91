package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"github.com/cqld/cqld/protocol/client"
)

// soak is one run: a server, the workers that write to it, and its findings.
type soak struct {
	options
	random  *rand.Rand // of the kills
	server  *server
	workers []*worker
	dropper *dropper // nil: no tables are dropped
	report  *report
}

func newSoak(o options) *soak {
	r := &report{began: time.Now()}
	s := &soak{
		options: o, report: r, random: rand.New(rand.NewPCG(o.seed, math.MaxUint64)),
		server: &server{binary: o.binary, data: filepath.Join(o.folder, "data"), arguments: o.arguments, report: r},
	}
	p := &pace{rate: o.rate * 1e6}
	for i := range o.workers {
		s.workers = append(s.workers, newWorker(i, o.seed, o.rows/o.workers/len(tables), r, p))
	}
	if o.dropped > 0 {
		s.dropper = newDropper(o.seed, o.dropped<<20, r, p)
	}
	return s
}

// progressTime is the time between lines of progress.
const progressTime = 10 * time.Second

// run writes the load, compares everything, restarts the server and compares everything again.
func (s *soak) run(ctx context.Context) error {
	ended := make(chan struct{})
	var progress sync.WaitGroup
	progress.Go(func() { s.showProgress(ended) })
	defer progress.Wait()
	defer close(ended)
	if err := s.load(ctx); err != nil {
		return err
	}
	if err := s.compareAll(ctx, "before the last restart"); err != nil {
		return err
	}
	if err := s.server.stop(); err != nil {
		return err
	}
	s.server.verify()
	if err := s.server.start(); err != nil {
		return err
	}
	if err := s.epoch(ctx, time.Now()); err != nil { // reads the partitions in doubt
		return err
	}
	if err := s.compareAll(ctx, "after the last restart"); err != nil {
		return err
	}
	return s.server.stop()
}

func (s *soak) showProgress(ended chan struct{}) {
	ticks := time.NewTicker(progressTime)
	defer ticks.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticks.C:
			s.report.note("%s", s.report.progress())
		}
	}
}

// create makes the tables.
func (s *soak) create(ctx context.Context) error {
	conn, err := client.Dial(ctx, s.server.process.Addr, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	all := []string{"CREATE KEYSPACE soak WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"}
	for _, t := range tables {
		all = append(all, t.definitions()...)
	}
	for _, text := range all {
		if _, err := conn.Query(ctx, text, nil, nil); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// load writes for the time of the run, with kills and stops in between. The server runs afterwards.
func (s *soak) load(ctx context.Context) error {
	if err := s.server.start(); err != nil {
		return err
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	end := time.Now().Add(s.duration)
	for {
		until := end
		if s.kill > 0 {
			until = time.Now().Add(s.lifetime())
		}
		if !until.Before(end) {
			return s.epoch(ctx, end)
		}
		if err := s.epochWithKill(ctx, until); err != nil {
			return err
		}
	}
}

// lifetime draws how long the server runs until it is killed. The distribution is exponential: some processes live for
// a moment, and some long enough to compact the tables they flush.
func (s *soak) lifetime() time.Duration {
	return max(s.kill/10, time.Duration(s.random.ExpFloat64()*float64(s.kill)))
}

// epoch lets all workers write until a point in time. The server keeps running.
func (s *soak) epoch(ctx context.Context, until time.Time) error {
	e := newEpoch(s.server.process.Addr)
	t := s.startWorkers(ctx, e)
	err := t.waitUntil(ctx, until)
	close(e.over)
	return s.explain(errors.Join(err, t.wait()))
}

// epochWithKill lets all workers write until the server is killed or stopped, and restarts it.
func (s *soak) epochWithKill(ctx context.Context, until time.Time) error {
	e := newEpoch(s.server.process.Addr)
	t := s.startWorkers(ctx, e)
	if err := t.waitUntil(ctx, until); err != nil {
		close(e.over)
		return s.explain(errors.Join(err, t.wait()))
	}
	close(e.ending)
	end := s.server.kill
	if s.random.IntN(3) == 0 {
		end = s.server.stop
	}
	err := errors.Join(end(), t.wait())
	if err == nil && s.random.IntN(4) == 0 {
		err = s.server.interrupt(s.random)
	}
	if err != nil {
		return err
	}
	return s.server.start()
}

// team are the workers while they work.
type team struct {
	wg     sync.WaitGroup
	failed chan error // has room for all
}

func (s *soak) startWorkers(ctx context.Context, e *epoch) *team {
	t := &team{failed: make(chan error, len(s.workers)+1)}
	if s.dropper != nil {
		t.wg.Go(func() {
			if err := s.dropper.run(ctx, e); err != nil {
				t.failed <- fmt.Errorf("dropper: %w", err)
			}
		})
	}
	for _, w := range s.workers {
		t.wg.Go(func() {
			if err := w.run(ctx, e); err != nil {
				t.failed <- fmt.Errorf("worker %d: %w", w.id, err)
			}
		})
	}
	return t
}

// waitUntil waits until a point in time, or until a worker fails.
func (t *team) waitUntil(ctx context.Context, until time.Time) error {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case err := <-t.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// wait waits until all workers have ended.
func (t *team) wait() error {
	t.wg.Wait()
	close(t.failed)
	var all []error
	for err := range t.failed {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// explain adds the server's log to an error: it may have the cause.
func (s *soak) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w\nthe server's log:\n%s", err, s.server.process.Log())
}
