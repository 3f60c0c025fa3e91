package exec

import (
	"context"
	"sync"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/filter"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// reading is one execution of a SELECT. It is reused with its buffers: a read of one row whose values are
// bound allocates next to nothing here.
type reading struct {
	e          *Executor
	plan       *planner.Select
	x          expr.Context
	partitions partitions
	slices     []store.Slice
	filters    []filter.Condition
	level      cqlerr.Consistency // at which rows are read
	guard      *guardrail.Check   // nil: no guardrail of reads is on

	read     store.Read
	position store.Position // that read.After points to
	page     page
	skipped  int // rows since the partition had given all that it may

	meta   []store.CellMeta // of the current row
	static staticRow
	groups *grouping // makes one row of each group; nil: there are no groups
	gather gatherer  // takes the rows, instead of encoding them at once; nil: none
	out    answer
	kept   holding // what is kept besides the result: keys, ranges and the static row

	tombstones     store.TombstonesRead
	aggregatedRows int // on the current page of them

	onRow  func(*store.Row) (bool, error) // row, as a value that is made once
	onCell func(int) expr.Cell            // cell, likewise
	onHold func(int) error                // hold, likewise
	onStep func() error                   // step, likewise
}

// gatherer takes the rows of a query whose result is known only when all have been read.
type gatherer interface {
	add(r *reading, row [][]byte) error
	finish(r *reading) error
}

var readings = sync.Pool{New: func() any {
	r := new(reading)
	r.onRow, r.onCell, r.onHold, r.onStep = r.row, r.cell, r.hold, r.step
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
	err := r.begin(req)
	if err == nil {
		err = r.run(ctx, req)
	}
	if w := req.Work; w != nil && r.read.Tombstones != nil {
		w.Read = true
		w.Rows, w.Tombstones = r.tombstones.All()
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

// release forgets what belongs to the request.
func (r *reading) release() {
	cells := r.out.Cells[:0]
	if cap(cells) > maxKeptCells || len(r.out.Before) > 0 {
		cells = nil
	}
	clear(r.partitions.keys)
	clear(r.slices)
	r.tombstones.Reset()
	*r = reading{
		onRow: r.onRow, onCell: r.onCell, onHold: r.onHold, onStep: r.onStep,
		partitions: partitions{keys: r.partitions.keys[:0]}, slices: r.slices[:0],
		out: answer{Rows: Rows{Cells: cells}}, page: page{partition: r.page.partition[:0]}, static: r.static.reuse(),
		tombstones: r.tombstones,
	}
	readings.Put(r)
}

// begin evaluates what the read depends on.
func (r *reading) begin(req *Request) error {
	p := r.plan
	if req.Guard.Reads() {
		r.guard = req.Guard
		if err := guardFiltering(r.guard, p); err != nil {
			return err
		}
	}
	if err := checkReadLevel(req.Consistency); err != nil {
		return err
	}
	if r.guard != nil {
		if err := r.guard.ReadLevel(req.Consistency); err != nil {
			return err
		}
	}
	r.x.Values, r.x.Now, r.x.Cell, r.x.Hold = req.Values, r.e.now(&req.Options), r.onCell, r.onHold
	if r.read.Turn = req.Turn; req.Turn != nil {
		r.x.Step = r.onStep
	}
	if !p.Plain {
		r.x.Env = r.e.env()
		r.x.Env.Step = r.x.Step
	}
	if err := r.page.begin(&r.x, p, &req.Options); err != nil {
		return err
	}
	for _, e := range p.Selection.Beforehand {
		if _, err := e.Eval(&r.x); err != nil {
			return err
		}
	}
	if p.Grouping != nil {
		r.groups = newGrouping(p)
		if err := r.groups.check(&r.x, p.Grouping); err != nil {
			return err
		}
	}
	r.level = req.Consistency
	r.read = store.Read{
		Table: p.Table, Reverse: p.Reverse, Now: r.x.Now, Meta: p.Selection.Meta, Session: req.Session, Turn: req.Turn,
	}
	r.out.Columns = p.Selection.Columns
	r.out.selection, r.out.turn = p.Selection, req.Turn
	switch {
	case p.Nearest != nil:
		if err := r.beginNearest(&req.Options); err != nil {
			return err
		}
	case p.AggregatesAll():
		r.gather = newAggregation(p.Selection)
	case p.Sorts != nil:
		r.gather = newMerging(r.page.limit)
		r.page.limit = noLimit
	}
	if err := r.restrict(); err != nil {
		return err
	}
	if p.Intersects && req.Guard != nil && !r.page.nothing {
		if err := r.guardIntersection(req); err != nil {
			return err
		}
	}
	// Cassandra reads nothing in pages as well: for aggregates and groups, and for the static row of a partition.
	summed := len(p.Selection.Aggregates) > 0 || p.Grouping != nil
	if r.guard != nil && (!r.page.nothing || r.page.guarded || summed || r.page.names) && r.page.pages(p) {
		if err := r.guard.PageSize(p.Table.Name, req.PageSize); err != nil {
			return err
		}
	}
	if p.Nearest == nil {
		r.out.Warnings = p.Warnings // about aggregates
	}
	if err := r.hold(listedSize(len(r.partitions.keys), len(r.slices))); err != nil {
		return err
	}
	if p.Sorts != nil && req.PageSize > 0 && (len(r.partitions.keys) > 0 && !r.page.nothing || summed) {
		return errSortedPages()
	}
	return nil
}

// hold takes memory for what the WHERE clause lists.
func (r *reading) hold(n int) error { return r.kept.grow(r.read.Turn, n) }

// step is what the execution calls often on its turn.
func (r *reading) step() error { return step(r.read.Turn) }

// restrict evaluates the WHERE clause in Cassandra's order: filters, the values of keys, and the clusterings. It checks
// keys and tokens only if there can be something to read.
func (r *reading) restrict() (err error) {
	w := r.plan.Where
	if r.guard != nil {
		if err := r.guardIndex(); err != nil {
			return err
		}
	}
	if len(w.Filters) > 0 {
		if r.filters, err = filter.Conditions(&r.x, w.Filters); err != nil {
			return err
		}
		if err := r.lookUp(w.Filters); err != nil {
			return err
		}
	}
	if w.Partition != nil {
		if err = r.evaluateKeys(); err != nil {
			return err
		}
		r.read.Keys = r.partitions.keys
		r.page.single = !r.partitions.several() && len(r.read.Keys) == 1
		r.page.nothing = len(r.read.Keys) == 0
	}
	if !r.page.nothing && (len(w.Clustering) > 0 || w.Slice != nil) {
		if err := r.restrictClustering(w); err != nil {
			return err
		}
	}
	switch {
	case r.page.nothing:
		if r.page.guarded && w.Token != nil {
			tokens, err := restriction.TokenRange(&r.x, w.Token)
			r.page.guarded = err != nil || !restriction.Contradict(w.Token, tokens)
		}
		return nil
	case w.Partition != nil:
		err = r.partitions.check()
	case w.Token != nil:
		var tokens store.TokenRange
		tokens, err = restriction.TokenRange(&r.x, w.Token)
		r.read.Tokens, r.page.nothing = restriction.ScannedTokens(tokens)
		r.page.guarded = r.page.nothing && !restriction.Contradict(w.Token, tokens)
	}
	r.page.nothing = r.page.nothing || r.read.Ranges == nil && r.read.Slices != nil && len(r.read.Slices) == 0
	return err
}

// lookUp says what indexes have of the rows.
func (r *reading) lookUp(filters []*where.Filter) error {
	for _, f := range filters {
		l, ok, err := filter.Lookup(&r.x, f)
		if err != nil {
			return err
		}
		if ok {
			r.read.Lookups = append(r.read.Lookups, l)
		}
	}
	return nil
}

// restrictClustering evaluates the restrictions of clustering columns. A range that ends with null selects nothing, but
// keys are checked as if it did; so are those of a read of static columns where an IN of whole rows is empty.
func (r *reading) restrictClustering(w *where.Clause) error {
	names := namesRows(w, r.plan.Table)
	if names {
		if err := guardProduct(r.guard, &r.x, w.Clustering, clusteringKey); err != nil {
			return err
		}
	}
	slices, many, null, err := restriction.AppendSlices(r.slices, &r.x, w, restriction.MaxListed)
	if err != nil {
		return err
	}
	if many == nil && w.Slice != nil && w.Slice.MixedOrder() {
		exact, tooMany, err := restriction.AppendMixedSlices(nil, &r.x, w, 1)
		if err == nil && !tooMany && len(exact) == 0 {
			slices = slices[:0] // the bounds exclude each other
		}
	}
	if many != nil {
		r.read.Ranges = many
	} else if slices == nil {
		slices = []store.Slice{} // no rows: nil would be all of them
	}
	r.slices, r.read.Slices = slices, slices
	none := many == nil && len(slices) == 0 && !null
	statics := len(r.plan.Table.Static) > 0 && (r.plan.Asked == nil || r.plan.Statics)
	r.page.names = none && statics && names
	r.page.nothing = none && !r.page.names
	r.page.guarded = r.page.nothing && w.Partition == nil && r.plan.SelectsStatics && !names
	if w.Slice != nil && w.Slice.MixedOrder() {
		inside, err := filter.InRange(&r.x, w.Slice)
		if err != nil {
			return err
		}
		r.filters = append(r.filters, inside)
	}
	return nil
}

// namesRows reports whether a WHERE clause has values for all clustering columns.
func namesRows(w *where.Clause, t *schema.Table) bool {
	n := 0
	for _, c := range w.Clustering {
		n += len(c.Columns)
	}
	return w.Slice == nil && n == len(t.Clustering)
}

// run reads the rows of a page.
func (r *reading) run(ctx context.Context, req *Request) error {
	if !r.page.nothing {
		serial := req.Consistency.IsSerial() && !r.plan.Table.Virtual
		if serial && r.partitions.several() && !r.page.pages(r.plan) {
			return errSerialPartitions()
		}
		if err := r.checkReplicas(&req.Options); err != nil {
			return err
		}
		if err := r.resume(); err != nil {
			return err
		}
		r.countTombstones()
		if n := min(r.page.size, r.page.limit); n != noLimit && r.gather == nil && r.groups == nil {
			r.read.Want = n
		}
	}
	onRow := r.onRow
	if req.Touched != nil {
		onRow = req.Touched.counting(onRow)
		r.read.Indexed = &req.Touched.Indexed
		defer func() { _, req.Touched.Tombstones = r.tombstones.All() }()
	}
	for !r.page.nothing {
		r.page.again = false
		req.Touched.read(&r.read)
		err := r.e.store.Read(ctx, &r.read, onRow)
		if err == nil && r.page.again {
			r.read.After = &r.position
			continue
		}
		if n, ok := r.gather.(*nearest); ok && err == nil && n.widen() {
			continue
		}
		if err == nil && r.partitions.rest != nil && !r.page.full {
			var more bool
			more, err = r.partitions.next()
			r.read.Keys, r.read.After = r.partitions.keys, nil
			if more && req.View != nil {
				err = r.checkReplicas(&req.Options)
			}
			if more && err == nil {
				continue
			}
		}
		r.warnOfTombstones()
		if err != nil {
			return err
		}
		break
	}
	if !r.page.full {
		if _, err := r.showStatic(); err != nil {
			return err
		}
	}
	if r.groups != nil && !r.page.full {
		if err := r.groups.finish(r); err != nil {
			return err
		}
	}
	if r.gather != nil {
		return r.gather.finish(r)
	}
	var err error
	r.out.PagingState, err = r.pagingState(req.Version)
	return err
}
