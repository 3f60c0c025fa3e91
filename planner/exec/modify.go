package exec

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/replicas"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// writing is one execution of a write: of a statement or of a batch. It is reused with its buffers as soon as the store
// has taken over the mutations.
type writing struct {
	e         *Executor
	options   *Options
	x         expr.Context
	mutations []*store.Mutation
	size      size
	kind      string // as errors name it

	began    time.Time
	given    bool // stamp is set
	stamp    int64
	keys     [][]byte
	ranges   []store.Slice
	row      [][]byte
	target   target
	rows     int    // how many are written so far, at most
	bytes    int    // of the mutations, without the last one
	elements int    // how many are written so far
	place    []byte // of an element in a list

	onHold func(int) error // hold, as a value that is made once

	virtual bool // it is to tables made by code

	conditional *conditional // what the write depends on; nil: on nothing

	guard *guardrail.Check // nil: no guardrail of values is on
	terms []term           // that storage-attached indexes get

	unindexed error // why an index refuses a value; nil: none does

	wait replicas.Wait // for the replicas
}

var writings = sync.Pool{New: func() any {
	w := new(writing)
	w.onHold = w.hold
	return w
}}

// startWriting begins a write with the options of its request.
func (e *Executor) startWriting(o *Options) *writing {
	w := writings.Get().(*writing)
	w.e, w.options = e, o
	w.x.Step, w.x.Hold = steps(o.Turn), w.onHold
	w.began = e.store.Now()
	w.x.Now = o.now(w.began)
	w.given, w.stamp = o.HasTimestamp, o.Timestamp
	if o.Guard.Values() {
		w.guard = o.Guard
	}
	return w
}

func (w *writing) release() {
	clear(w.mutations)
	clear(w.keys)
	clear(w.ranges)
	clear(w.row)
	*w = writing{
		mutations: w.mutations[:0], keys: w.keys[:0], ranges: w.ranges[:0], row: w.row[:0], place: w.place[:0],
		onHold: w.onHold,
	}
	writings.Put(w)
}

// turn is what the write runs on, so that others run too. It is nil while other writes wait for this one's decision.
func (w *writing) turn() *pace.Turn {
	if w.conditional != nil && w.conditional.deciding {
		return nil
	}
	return w.options.Turn
}

// modify runs INSERT, UPDATE or DELETE.
func (e *Executor) modify(ctx context.Context, r *Request, m *planner.Modification, done func(Result, error)) {
	if err := guardWrite(&r.Options, m); err != nil {
		done(nil, err)
		return
	}
	if m.If != nil {
		c := e.startConditional(ctx, &r.Options, false, done)
		c.statements = append(c.statements, conditionalWrite{m, r.Values})
		c.run()
		return
	}
	if err := checkWriteLevel(r.Consistency, m.Table); err != nil {
		done(nil, err)
		return
	}
	w := e.startWriting(&r.Options)
	if w.kind = "SIMPLE"; m.Table.Counter {
		w.kind = "COUNTER"
	}
	err := w.guardTimestamp(m, r.Values)
	if err == nil {
		err = w.add(ctx, m, r.Values)
	}
	if err == nil {
		err = w.checkTerms()
	}
	if err == nil {
		err = w.checkReplicas(m.Table)
	}
	w.apply(err, nothing, done)
}

// nothing is the answer of a write without warnings.
var nothing = &Void{}

// apply hands the mutations over, unless there was an error, and answers when they are written.
func (w *writing) apply(err error, answer *Void, done func(Result, error)) {
	if err != nil {
		if errors.Is(err, pace.ErrTimeout) {
			err = cqlerr.WriteUnknown(w.options.Consistency, w.kind)
		}
		w.release()
		done(nil, err)
		return
	}
	if w.virtual {
		w.applyVirtual(answer, done)
		return
	}
	level, kind := w.options.Consistency, w.kind
	if w.wait.Late != nil {
		w.applyLate(done)
		return
	} else if w.wait.Time > 0 {
		_ = w.wait.Sleep(w.options.Sleep) // the write is done, also if the client has gone
	}
	w.e.store.Apply(w.mutations, func(err error) {
		switch {
		case err == nil:
			done(answer, nil)
		case errors.Is(err, store.ErrUnknown):
			done(nil, cqlerr.WriteUnknown(level, kind))
		default:
			done(nil, err)
		}
	})
	w.release()
}

// applyLate applies the mutations, which some replicas take and others get too late, and answers when the time of the
// write is over.
func (w *writing) applyLate(done func(Result, error)) {
	wait, sleep := w.wait, w.options.Sleep
	applied := make(chan error, 1)
	w.e.store.Apply(w.mutations, func(err error) { applied <- err })
	w.release()
	late := wait.Sleep(sleep)
	if err := <-applied; err != nil && !errors.Is(err, store.ErrUnknown) {
		late = err
	}
	done(nil, late)
}

// applyVirtual hands the mutations over to the code that makes their tables.
func (w *writing) applyVirtual(answer *Void, done func(Result, error)) {
	err := w.e.store.WriteVirtual(w.mutations)
	w.release()
	if err != nil {
		done(nil, err)
		return
	}
	done(answer, nil)
}

// add makes the mutations of one statement.
func (w *writing) add(ctx context.Context, m *planner.Modification, values []types.Value) (err error) {
	if err := w.bind(m, values); err != nil {
		return err
	}
	if err := w.guardRows(m); err != nil {
		return err
	}
	most := w.e.store.MaxRows()
	switch more, err := w.evaluateKeys(m, most-w.rows); {
	case err != nil:
		return err
	case more:
		return errTooManyRows(most)
	}
	simple := m.OneRow && len(m.Where.Clustering) == len(m.Table.Clustering)
	null := false
	if simple {
		err = w.oneRow(m)
	} else {
		null, err = w.manyRows(m, most)
	}
	if err != nil {
		return err
	}
	w.rows += len(w.keys) * max(1, len(w.ranges))
	ts, expiry, err := w.using(m)
	if err != nil {
		return err
	}
	if !simple && (m.Where.Slice != nil || len(m.Where.Clustering) > 0) && len(w.ranges) == 0 && !null {
		return nil // no row can match the restrictions, and then static columns are not written either
	}
	if m.Where.Slice != nil && len(w.keys) > 0 {
		if err := checkBounds(&w.x, m.Where.Slice); err != nil {
			return err
		}
	}
	if !simple && m.Verb == planner.Delete && len(m.Sets) > 0 && len(w.keys) > 0 {
		if err := w.checkRows(m); err != nil {
			return err
		}
	}
	w.virtual = m.Table.TakenByCode()
	for i, key := range w.keys {
		if i%64 == 63 {
			if err := restriction.Step(&w.x); err != nil {
				return err
			}
		}
		if n := len(w.mutations); n > 0 {
			w.bytes += w.mutations[n-1].Size()
		}
		mutation := store.NewMutation(m.Table, key)
		mutation.At(w.x.Now)
		w.mutations = append(w.mutations, mutation)
		w.size.partition(m.Table, key)
		w.options.Touched.hit(m.Table, key)
		if m.Removes {
			if err := w.remove(m, mutation, simple, ts); err != nil {
				return err
			}
			continue
		}
		w.target = target{plan: m, to: mutation, key: key, ts: ts, expiry: expiry}
		if err := w.set(ctx, simple); err != nil {
			return err
		}
	}
	return nil
}

// bind sets the values that the expressions of a statement are evaluated with.
func (w *writing) bind(m *planner.Modification, values []types.Value) (err error) {
	w.x.Values = values
	if w.x.Env == nil && !m.Plain {
		w.x.Env = w.e.env()
		w.x.Env.Step = w.x.Step
	}
	if m.JSON != nil {
		w.x.JSON, err = m.JSON.Read(&w.x)
	}
	return err
}

// evaluateKeys evaluates the keys of the partitions that a statement names, up to most of them, and reports whether
// there are more.
func (w *writing) evaluateKeys(m *planner.Modification, most int) (more bool, err error) {
	var rest *restriction.KeyWalk
	if w.keys, rest, err = restriction.AppendKeys(w.keys[:0], &w.x, m.Where, most); err != nil {
		return false, err
	}
	if err := restriction.CheckKeys(w.keys); err != nil {
		return false, err
	}
	return rest != nil, restriction.CheckKeyValues(m.Table, w.keys)
}

// checkRows refuses to delete cells of rows that are not named one by one.
func (w *writing) checkRows(m *planner.Modification) error {
	for _, s := range w.ranges {
		if m.Where.Slice != nil || len(s.Start) != len(m.Table.Clustering) {
			return cqlerr.Invalidf("Range deletions are not supported for specific columns")
		}
	}
	return nil
}

// checkBounds refuses to delete a range that begins or ends with null, where Cassandra fails.
func checkBounds(x *expr.Context, r *where.Range) error {
	for _, b := range [...]*where.Bound{r.Lower, r.Upper} {
		if b == nil {
			continue
		}
		if _, err := restriction.AppendPoint(nil, x, b.Point, b.Columns); err != nil {
			return err
		}
	}
	return nil
}

// manyRows evaluates the ranges of rows that a statement names. null says that a range ends with null.
func (w *writing) manyRows(m *planner.Modification, most int) (null bool, err error) {
	tooMany, mostRanges := false, (most-w.rows)/max(1, len(w.keys))
	if m.Where.Slice != nil && m.Where.Slice.MixedOrder() {
		w.ranges, tooMany, err = restriction.AppendMixedSlices(w.ranges[:0], &w.x, m.Where, mostRanges)
	} else {
		var many *restriction.Ranges
		w.ranges, many, null, err = restriction.AppendSlices(w.ranges[:0], &w.x, m.Where, mostRanges)
		tooMany = many != nil
	}
	if tooMany {
		err = errTooManyRows(most)
	}
	return null, err
}

// oneRow evaluates the clustering of the only row that a statement names.
func (w *writing) oneRow(m *planner.Modification) (err error) {
	w.row = w.row[:0]
	for _, c := range m.Where.Clustering {
		if w.row, err = restriction.AppendPoint(w.row, &w.x, c.Points[0], c.Columns); err != nil {
			return err
		}
	}
	return restriction.CheckClustering(w.row)
}

// remove deletes a partition, rows or ranges of rows.
//
// What a conditional batch writes stays though it deletes the partition or the range as well.
func (w *writing) remove(m *planner.Modification, from *store.Mutation, simple bool, ts int64) error {
	hiding := ts
	if w.conditional != nil {
		hiding--
	}
	switch {
	case len(m.Where.Clustering) == 0 && m.Where.Slice == nil:
		from.DeletePartition(hiding)
	case simple:
		return w.removeRow(m.Table, from, w.row, ts)
	default:
		for _, s := range w.ranges {
			if len(s.Start) == len(m.Table.Clustering) && m.Where.Slice == nil {
				if err := w.removeRow(m.Table, from, s.Start, ts); err != nil {
					return err
				}
			} else {
				from.DeleteRange(s, hiding)
				w.size.deletedRange(s.Start, s.End)
			}
		}
	}
	return nil
}

// removeRow deletes a row. In a table WITH COMPACT STORAGE it deletes the cell that makes the row exist.
func (w *writing) removeRow(t *schema.Table, from *store.Mutation, row [][]byte, ts int64) error {
	if err := checkCompactRow(t, row); err != nil {
		return err
	}
	from.Row(row)
	w.guardClustering(t, row)
	w.size.row(row, false)
	c := t.KeepsRows()
	if c == nil {
		from.DeleteRow(ts)
		return nil
	}
	w.size.cell(nil)
	if t.Counter {
		from.DeleteCounter(c, ts)
	} else {
		from.Set(c, nil, ts, store.Expiry{})
	}
	return nil
}

// checkCompactRow refuses rows without a value in the only clustering column of a table WITH COMPACT STORAGE.
func checkCompactRow(t *schema.Table, row [][]byte) error {
	if t.Compact == schema.CompactDense && len(t.Clustering) == 1 && len(row[0]) == 0 {
		return cqlerr.Invalidf("Invalid empty or null value for column %s", t.Clustering[0].Name)
	}
	return nil
}
