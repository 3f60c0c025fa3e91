package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// compareAll compares all stored rows with the model. Nothing may be written meanwhile.
func (s *soak) compareAll(ctx context.Context, when string) error {
	began := time.Now()
	e := newEpoch(s.server.process.Addr)
	close(e.over)
	err := errors.Join(s.scanAll(ctx, e, when), s.readAll(ctx, e, when))
	s.report.note("everything compared %s within %.1f s", when, time.Since(began).Seconds())
	return s.explain(err)
}

// scanAll scans every table and every view. One goroutine per table owns the partitions of the model.
func (s *soak) scanAll(ctx context.Context, e *epoch, when string) error {
	failed := make([]error, len(tables))
	var wait sync.WaitGroup
	for i, t := range tables {
		wait.Go(func() {
			conn, err := connect(ctx, e, s.report)
			if err != nil {
				failed[i] = err
				return
			}
			defer conn.conn.Close()
			failed[i] = s.scan(ctx, conn, i, t.name, nil, "by a scan "+when)
			if t.view != "" && failed[i] == nil {
				failed[i] = s.scan(ctx, conn, i, t.view, &match{column: columnN}, "by a scan of its view "+when)
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// scan reads a table or its view and compares all partitions.
func (s *soak) scan(ctx context.Context, conn *session, table int, from string, by *match, how string) error {
	t := tables[table]
	rows := map[int64][]observed{}
	began := time.Now()
	err := conn.read(ctx, "scan of "+from, t.selection(from), nil, func(row [][]byte) {
		key, o := parseRow(t, row)
		rows[key] = append(rows[key], o)
	})
	if err != nil {
		return fmt.Errorf("scan of %s: %w", from, err)
	}
	if by != nil { // a view has the rows of a partition in another order
		for _, all := range rows {
			byKey(all)
		}
	}
	for _, w := range s.workers {
		s.report.compareGathered(w.tables[table], rows, by, windowOf(began, time.Now()), how)
	}
	s.report.strangers(t, rows, how)
	return nil
}

// readAll reads every row by its key, and every value by indexes and views. Each worker reads its partitions.
func (s *soak) readAll(ctx context.Context, e *epoch, when string) error {
	failed := make([]error, len(s.workers))
	var wait sync.WaitGroup
	for i, w := range s.workers {
		wait.Go(func() { failed[i] = w.readAll(ctx, e, when) })
	}
	wait.Wait()
	return errors.Join(failed...)
}

// readAll reads all rows of the worker.
func (w *worker) readAll(ctx context.Context, e *epoch, when string) error {
	s, err := connect(ctx, e, w.report)
	if err != nil {
		return err
	}
	defer s.conn.Close()
	for _, o := range w.tables {
		for _, p := range o.partitions {
			for c := range p.rows {
				if !p.touched(c) {
					continue
				}
				if err := w.readRow(ctx, s, place{o, p, c}, "by its key "+when); err != nil {
					return fmt.Errorf("read of %s p=%d c=%d: %w", o.name, p.key, c, err)
				}
			}
		}
		for _, l := range o.lookups {
			for g := range groups {
				if err := w.readGroup(ctx, s, o, l, g, when); err != nil {
					return fmt.Errorf("read of %s by %s: %w", l.from, o.columns[l.column].name, err)
				}
			}
		}
	}
	return nil
}
