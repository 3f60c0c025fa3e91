package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
)

// owned are the partitions of one worker in one table.
type owned struct {
	*table
	partitions []*partition
}

// place is a partition of a table.
type place struct {
	owned     *owned
	partition *partition
	row       int // the row that was written; unused in doubts
}

// worker sends one write at a time over one connection, to partitions that no other worker writes to. It outlives the
// server's processes.
type worker struct {
	id     int
	random *rand.Rand
	report *report
	pace   *pace
	tables []*owned
	doubts []place // partitions with unanswered writes, to be read once the server runs again
	recent []place // written a moment ago
	last   int64   // the last timestamp that was in order
	seeds  uint64
}

func newWorker(id int, seed uint64, rows int, r *report, p *pace) *worker {
	w := &worker{id: id, random: rand.New(rand.NewPCG(seed, uint64(id))), report: r, pace: p}
	for _, t := range tables {
		w.tables = append(w.tables, &owned{t, makePartitions(id, rows)})
	}
	return w
}

// readEvery: one in so many requests is a read.
const readEvery = 8

// run reads the partitions in doubt, and then reads and writes until the epoch is over or its server is gone.
func (w *worker) run(ctx context.Context, e *epoch) error {
	s, err := connect(ctx, e, w.report)
	if err != nil {
		return unlessEnding(e, err)
	}
	defer s.conn.Close()
	err = w.resolve(ctx, s)
	for err == nil && !closed(e.over) {
		if w.random.IntN(readEvery) == 0 {
			err = w.sample(ctx, s)
		} else {
			err = w.write(ctx, s)
		}
	}
	return unlessEnding(e, err)
}

// unlessEnding returns nil for an error that the end of the server explains.
func unlessEnding(e *epoch, err error) error {
	if closed(e.ending) {
		return nil
	}
	return err
}

// resolve reads each partition in doubt, which drops the states that the read contradicts.
func (w *worker) resolve(ctx context.Context, s *session) error {
	for len(w.doubts) > 0 {
		d := w.doubts[0]
		d.partition.waiting = false // the server that may have applied the write late has ended
		if err := w.readPartition(ctx, s, d, "after a restart"); err != nil {
			return w.unlessRefused(s.epoch, "read", err)
		}
		w.doubts = w.doubts[1:]
	}
	return nil
}

// unlessRefused counts an error that the server answered, and returns others.
func (w *worker) unlessRefused(e *epoch, text string, err error) error {
	if answer, ok := cqlerr.As(err); ok && !closed(e.ending) {
		w.report.refuse(fmt.Sprintf("%s: %s", text, answer.Message))
		return nil
	}
	return err
}

// write sends a random write, and applies its result to the model.
func (w *worker) write(ctx context.Context, s *session) error {
	o, p, c := w.choose()
	if !p.writable() {
		return nil
	}
	d := w.draw(o.table, p, c)
	text, values := d.statement()
	w.pace.wait(d.size(), s.epoch)
	sent := time.Now()
	result, err := s.execute(ctx, "write to "+d.table.name, text, values, nil)
	if d.ttl > 0 {
		d.expires, d.slack = uint32(sent.Unix())+d.ttl, uint32(time.Now().Unix()-sent.Unix())
	}
	if err != nil {
		p.unanswered(d)
		w.doubts = append(w.doubts, place{o, p, c})
		w.report.unanswer()
		if err = w.unlessRefused(s.epoch, d.String(), err); err == nil {
			p.waiting = true
		}
		return err
	}
	applied := d.condition == always || len(result.Rows) == 1 && slices.Equal(result.Rows[0][0], []byte{1})
	if !p.acknowledge(d, applied) {
		p.broken = true
		w.report.differ(o.table, p.key, "the answer to "+text, []string{
			fmt.Sprintf("c=%d: [applied] is %t; the model has %s", c, applied, p.states[0][c].text(o.table)),
		})
		return nil
	}
	w.report.acknowledge(d.size())
	w.remember(place{o, p, c})
	return nil
}

// maxRecent is how many of the last written rows are read more often than others.
const maxRecent = 32

func (w *worker) remember(p place) {
	if len(w.recent) < maxRecent {
		w.recent = append(w.recent, p)
		return
	}
	w.recent[w.random.IntN(maxRecent)] = p
}

// pace limits the write rate of all workers together.
type pace struct {
	mu   sync.Mutex
	rate float64 // bytes a second; 0: any
	next time.Time
}

// wait waits until so many bytes may be written. It returns early when the epoch ends.
func (p *pace) wait(size int, e *epoch) {
	if p.rate == 0 {
		return
	}
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now // writes missed while the server was down are not caught up
	}
	wait := p.next.Sub(now)
	p.next = p.next.Add(time.Duration(float64(size) / p.rate * float64(time.Second)))
	p.mu.Unlock()
	if wait < time.Millisecond {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.ending:
	case <-e.over:
	}
}
