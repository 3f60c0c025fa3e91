package exec

import (
	"context"
	"slices"
	"sync"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/filter"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/store"
)

// reading is one execution of a SELECT. Rows pass these stages:
//
//	source      read_where.go   the store reads partitions by key, ranges of tokens, or entries of an index
//	static rows rows.go         a static row is shown only if its partition has no other row
//	filters     rows.go         conditions that neither keys nor ranges answer
//	collector   page.go, aggregation.go, order.go
//	answer      answer.go       selected columns, encoded as the protocol has them
//
// The plan decides the collector: rows go to the page one by one, or are aggregated, grouped, or sorted first. A
// reading is reused with its buffers: a read of one row whose values are bound allocates next to nothing here.
type reading struct {
	e     *Executor
	plan  *planner.Select
	x     expr.Context
	level cqlerr.Consistency // of the replicas that are read
	guard *guardrail.Check   // nil: no guardrail of reads is on

	source
	static    staticRow
	filters   []filter.Condition
	collector collector
	page      page
	out       answer

	meta       []store.CellMeta // of the current row
	held       holding          // memory besides the result: keys, ranges, the static row and what functions return
	tombstones store.TombstonesRead
	aggregated int // rows since Cassandra would have begun another page of them

	// Method values, which are made once.
	onRow  func(*store.Row) (bool, error)
	onCell func(int) expr.Cell
	onHold func(int) error
	onStep func() error
}

// collector makes the result of the rows that pass the filters.
type collector interface {
	// collect takes a row, which is valid until it returns, and reports whether more are wanted.
	collect(r *reading, partition []byte, row [][]byte, static bool) (more bool, err error)

	// finish is called after the last row.
	finish(r *reading) error
}

var readings = sync.Pool{New: func() any {
	r := new(reading)
	r.onRow, r.onCell, r.onHold, r.onStep = r.storeRow, r.cell, r.hold, r.step
	return r
}}

// maxKeptCells is the largest buffer of cells that is kept for the next read.
const maxKeptCells = 4 << 20

// read runs a SELECT.
func (e *Executor) read(ctx context.Context, req *Request, p *planner.Select, done func(Result, error)) {
	if p.Masked != nil || p.MaskRefused != nil {
		if !req.User.Has(auth.Unmask, auth.Table(p.Table.Keyspace, p.Table.Name)) {
			if p.MaskRefused != nil {
				done(nil, p.MaskRefused)
				return
			}
			p = p.Masked
		}
	}
	r := readings.Get().(*reading)
	r.e, r.plan = e, p
	err := r.prepare(req)
	if err == nil {
		err = r.readRows(ctx, req)
	}
	if err == nil {
		err = r.finish(req)
	}
	r.report(req)
	if r.x.Env != nil && len(r.x.Env.Warnings) > 0 {
		r.out.Warnings = append(slices.Clip(r.out.Warnings), r.x.Env.Warnings...)
	}
	switch {
	case err == nil:
		done(&r.out.Rows, nil)
	case len(r.out.Warnings) > 0:
		done(&Void{Warnings: r.out.Warnings}, readFailure(err, req))
	default:
		done(nil, readFailure(err, req))
	}
	r.release()
}

// report tells the caller how many rows and tombstones were read.
func (r *reading) report(req *Request) {
	rows, tombstones := r.tombstones.Rows, r.tombstones.Tombstones
	if w := req.Work; w != nil && r.read.Tombstones != nil {
		w.Read, w.Rows, w.Tombstones = true, rows, tombstones
	}
	if req.Touched != nil {
		req.Touched.Tombstones = tombstones
	}
}

// release drops everything that belongs to the request, and keeps the buffers.
func (r *reading) release() {
	cells := r.out.Cells[:0]
	if cap(cells) > maxKeptCells || len(r.out.Before) > 0 {
		cells = nil
	}
	clear(r.partitions.keys)
	clear(r.slices)
	*r = reading{
		onRow: r.onRow, onCell: r.onCell, onHold: r.onHold, onStep: r.onStep,
		source: source{partitions: partitions{keys: r.partitions.keys[:0]}, slices: r.slices[:0]},
		out:    answer{Rows: Rows{Cells: cells}}, page: page{buffer: r.page.buffer}, static: r.static.reuse(),
	}
	readings.Put(r)
}

// prepare evaluates everything that the read depends on, in Cassandra's order: it decides which error a client sees
// first.
func (r *reading) prepare(req *Request) error {
	if err := r.checkLevel(req); err != nil {
		return err
	}
	r.setContext(req)
	if err := r.evaluateLimits(&req.Options); err != nil {
		return err
	}
	if err := r.chooseCollector(&req.Options); err != nil {
		return err
	}
	if err := r.restrict(); err != nil {
		return err
	}
	if err := r.guardSource(req); err != nil {
		return err
	}
	if r.plan.Nearest == nil {
		r.out.Warnings = r.plan.Warnings // about aggregates
	}
	if err := r.hold(restriction.PointSize * (len(r.partitions.keys) + len(r.slices))); err != nil {
		return err
	}
	if r.plan.Sorts != nil && req.PageSize > 0 && (len(r.partitions.keys) > 0 && !r.empty || r.plan.Summarizes()) {
		return errSortedPages()
	}
	return nil
}

// checkLevel refuses consistency levels that reads cannot have.
func (r *reading) checkLevel(req *Request) error {
	if req.Guard.Reads() {
		r.guard = req.Guard
		if err := guardFiltering(r.guard, r.plan); err != nil {
			return err
		}
	}
	if err := checkReadLevel(req.Consistency); err != nil {
		return err
	}
	r.level = req.Consistency
	if r.guard == nil {
		return nil
	}
	return r.guard.ReadLevel(req.Consistency)
}

// setContext sets the context of expressions, and the parts of the store's read that do not depend on values.
func (r *reading) setContext(req *Request) {
	p := r.plan
	r.x.Values, r.x.Now, r.x.Cell, r.x.Hold = req.Values, r.e.now(&req.Options), r.onCell, r.onHold
	if req.Turn != nil {
		r.x.Step = r.onStep
	}
	if !p.Plain {
		r.x.Return = r.onHold
		r.x.Env = r.e.env(context.Background(), req.Turn, r.x.Step)
	}
	r.read = store.Read{
		Table: p.Table, Reverse: p.Reverse, Now: r.x.Now, Meta: p.Selection.Meta, Session: req.Session, Turn: req.Turn,
	}
	r.out.Columns = p.Selection.Columns
	r.out.selection, r.out.turn = p.Selection, req.Turn
}

// evaluateLimits evaluates the limits, and the parts of the selection that no row matters to.
func (r *reading) evaluateLimits(o *Options) error {
	p := r.plan
	if err := r.page.setLimits(&r.x, p, o); err != nil {
		return err
	}
	if err := evaluate(&r.x, p.Selection.Beforehand); err != nil {
		return err
	}
	if p.Grouping == nil {
		return nil
	}
	if err := evaluate(&r.x, p.Grouping.Beforehand); err != nil {
		return err
	}
	return p.Grouping.Refused
}

// evaluate evaluates expressions for their errors.
func evaluate(x *expr.Context, exprs []expr.Expr) error {
	for _, e := range exprs {
		if _, err := e.Eval(x); err != nil {
			return err
		}
	}
	return nil
}

// chooseCollector makes the collector that the plan asks for.
func (r *reading) chooseCollector(o *Options) error {
	p := r.plan
	switch {
	case p.Nearest != nil:
		return r.orderByDistance(o)
	case p.AggregatesAll():
		r.collector = newAggregation(p.Selection)
		return nil
	}
	var sorted *merging
	if p.Sorts != nil {
		sorted = newMerging(p.Sorts, r.page.limit)
		r.page.limit = noLimit
	}
	switch {
	case p.Grouping != nil:
		r.collector = &grouping{aggregation: newAggregation(p.Selection), sorted: sorted}
	case sorted != nil:
		r.collector = sorted
	default:
		r.collector = pageRows{}
	}
	return nil
}

// readRows reads the rows of a page.
func (r *reading) readRows(ctx context.Context, req *Request) error {
	if err := r.findStart(req); err != nil {
		return err
	}
	onRow := r.onRow
	if req.Touched != nil {
		onRow = req.Touched.counting(onRow)
		r.read.Indexed = &req.Touched.Indexed
	}
	var err error
	for more := !r.empty; more && err == nil; {
		r.again = false
		req.Touched.read(&r.read)
		if err = r.e.store.Read(ctx, &r.read, onRow); err == nil {
			more, err = r.nextRead(req)
		}
	}
	r.warnOfTombstones()
	return err
}

// findStart asks the replicas, and finds where the read begins.
func (r *reading) findStart(req *Request) error {
	if r.empty {
		return nil
	}
	serial := req.Consistency.IsSerial() && !r.plan.Table.Virtual
	if serial && r.partitions.many() && !r.page.pages(r.plan) {
		return errSerialPartitions()
	}
	if err := r.checkReplicas(&req.Options); err != nil {
		return err
	}
	if err := r.resume(); err != nil {
		return err
	}
	r.countTombstones()
	if _, plain := r.collector.(pageRows); plain {
		if n := min(r.page.size, r.page.limit); n != noLimit {
			r.read.Want = n
		}
	}
	return nil
}

// nextRead prepares another read of the store, and reports whether it is needed.
func (r *reading) nextRead(req *Request) (more bool, err error) {
	if r.again {
		r.read.After = &r.position
		return true, nil
	}
	if n, ok := r.collector.(*nearest); ok && n.widen() {
		return true, nil
	}
	if r.partitions.rest == nil || r.page.full {
		return false, nil
	}
	more, err = r.partitions.next()
	r.read.Keys, r.read.After = r.partitions.keys, nil
	if more && err == nil && req.View != nil {
		err = r.checkReplicas(&req.Options)
	}
	return more, err
}

// finish completes the result after the last row was read.
func (r *reading) finish(req *Request) error {
	if !r.page.full {
		if _, err := r.showStatic(); err != nil {
			return err
		}
	}
	if err := r.collector.finish(r); err != nil {
		return err
	}
	var err error
	r.out.PagingState, err = r.pagingState(req.Version)
	return err
}

// hold charges the request for memory that expressions and keys take.
func (r *reading) hold(n int) error { return r.held.grow(r.read.Turn, n) }

// step lets other work run.
func (r *reading) step() error { return step(r.read.Turn) }

// cell has the timestamp and the expiry of a cell of the current row, for WRITETIME and TTL.
func (r *reading) cell(column int) expr.Cell {
	m := &r.meta[column]
	c := expr.Cell{Timestamp: m.Timestamp, ExpiresAt: m.ExpiresAt}
	for _, part := range m.Parts {
		c.Parts = append(c.Parts, expr.Cell{
			Timestamp: part.Timestamp, ExpiresAt: part.ExpiresAt, Missing: part.Name == nil,
		})
	}
	return c
}
