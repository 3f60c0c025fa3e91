package exec

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/replicas"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// conditional is one execution of modifications with conditions, alone or in a batch: it compares rows of their
// partition with the conditions, and writes only if all conditions hold. It is reused with its buffers.
type conditional struct {
	*writing
	ctx        context.Context
	done       func(Result, error)
	table      *schema.Table
	key        []byte
	replicas   replicas.Set // of the partition
	statements []conditionalWrite
	rows       storedRows
	anyRow     bool // statements name rows, so that all their columns are read
	everyRow   bool // all columns are shown, not only columns with conditions
	batch      bool
	shown      []*schema.Column

	costly   bool // statements have values that may take long to compute
	computed bool // they are computed, and kept

	until   time.Time // the deadline of the decision
	applied bool
	warned  int // warnings of guardrails before the decision

	kept    values // bound values
	columns []planner.ResultColumn
	answer  Rows

	onDecide func(*store.Snapshot) ([]*store.Mutation, error) // methods as values that are made once
	onDone   func(error)
	onStep   func() error
}

// conditionalWrite is one of the modifications, with its values.
type conditionalWrite struct {
	plan   *planner.Modification
	values []types.Value
	kept   *expr.Kept // nil: it calls no function
}

var conditionals = sync.Pool{New: func() any { return new(conditional) }}

// startConditional begins a write with conditions. The caller adds its statements.
func (e *Executor) startConditional(ctx context.Context, o *Options, batch bool, done func(Result, error)) *conditional {
	c := conditionals.Get().(*conditional)
	if c.onDecide == nil {
		c.onDecide, c.onDone, c.onStep = c.decide, c.finish, c.step
		c.rows.step, c.rows.onRow = c.onStep, c.rows.takeRow
	}
	c.writing, c.ctx, c.batch, c.done = e.startWriting(o), ctx, batch, done
	c.stored, c.kind, c.x.Step = &c.rows, Conditional, c.onStep
	return c
}

// release ends the write, and keeps the buffers.
func (c *conditional) release() {
	c.writing.release()
	if cap(c.answer.Cells) > maxKeptCells {
		c.answer.Cells = nil
	}
	c.kept.clear()
	c.rows.clear()
	clear(c.statements)
	clear(c.shown)
	*c = conditional{
		key: c.key[:0], statements: c.statements[:0], rows: c.rows, shown: c.shown[:0], kept: c.kept,
		columns: c.columns[:0], answer: Rows{Cells: c.answer.Cells[:0]},
		onDecide: c.onDecide, onDone: c.onDone, onStep: c.onStep,
	}
	conditionals.Put(c)
}

// execute decides and answers. It waits for the decision only if the request has a turn.
func (c *conditional) execute() {
	if err := c.prepare(); err != nil {
		c.fail(err)
		return
	}
	c.options.Touched.hit(c.table, c.key)
	if c.options.Turn == nil && !c.costly {
		c.e.store.Decide(c.ctx, c.table, c.key, c.onDecide, c.onDone)
		return
	}
	err := c.decideAndWait()
	if errors.Is(err, errNotComputed) {
		if err = c.compute(); err == nil {
			err = c.decideAndWait()
		}
	}
	c.finish(err)
}

// decideAndWait has the store decide, and waits for the outcome.
func (c *conditional) decideAndWait() error {
	outcome := make(chan error, 1)
	c.e.store.Decide(c.ctx, c.table, c.key, c.onDecide, func(err error) { outcome <- err })
	return <-outcome
}

// errNotComputed ends a decision whose conditions hold, but whose values would take long to compute while other writes
// wait.
var errNotComputed = errors.New("the values are not computed")

// compute computes the values that take long, in the order of the decision: the first error is kept for the decision,
// so that `SET l[9] = 1, v = f(1)` answers as it does in Cassandra if l has no element 9 and f fails.
func (c *conditional) compute() error {
	c.rows.deciding, c.computed = false, true
	err := c.inOrder(func(s *conditionalWrite) error {
		m := s.plan
		if !m.Costly {
			return nil
		}
		if err := c.bind(m, s.values); err != nil {
			return err
		}
		if _, err := c.evaluateKeys(m, 1); err != nil {
			return err
		}
		if _, err := c.evaluateRows(m, namesOneRow(m), c.e.store.MaxRows()); err != nil {
			return err
		}
		for _, sets := range [...][]planner.SetColumn{m.Sets, m.Statics} {
			for i := range sets {
				for _, e := range [...]expr.Expr{sets[i].Part, sets[i].Value} {
					if !expr.Costly(e) {
						continue
					}
					if _, err := e.Eval(&c.x); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if expr.IsEnded(err) {
		return err
	}
	return nil
}

// prepare takes the statements, and makes all checks that do not depend on stored rows.
func (c *conditional) prepare() error {
	c.table = c.statements[0].plan.Table
	c.rows.table = c.table
	c.rows.fetched = slices.Grow(c.rows.fetched, len(c.table.Columns))[:len(c.table.Columns)]
	clear(c.rows.fetched)
	for i := range c.statements {
		if i%64 == 63 {
			if err := restriction.Step(&c.x); err != nil {
				return err
			}
		}
		if err := c.takeStatement(&c.statements[i]); err != nil {
			return err
		}
	}
	if err := c.rows.conditions.Check(); err != nil {
		return err
	}
	c.finishColumns()
	if g := c.options.Guard; g != nil {
		c.warned = len(g.Warnings)
	}
	return c.checkLevels()
}

// finish answers when the outcome of the write is known.
func (c *conditional) finish(err error) {
	switch {
	case errors.Is(err, store.ErrUnknown):
		c.fail(cqlerr.CASUnknown(c.options.serial()))
	case err != nil:
		c.fail(err)
	case c.applied && c.wait != replicas.Wait{}:
		panics.Go(&c.e.log, c.finishLate)
	default:
		c.makeAnswer()
		c.done(&c.answer, nil)
		c.release()
	}
}

// finishLate answers when the replicas have taken the mutations, or when the time for that is over.
func (c *conditional) finishLate() {
	err := panics.Call(func() error {
		wait := c.wait
		if err := wait.Sleep(c.options.Sleep); wait.Late != nil {
			return err
		}
		c.makeAnswer()
		return nil
	})
	if err != nil {
		c.fail(err)
		return
	}
	c.done(&c.answer, nil)
	c.release()
}

// fail answers with an error. Nothing is written.
func (c *conditional) fail(err error) {
	done := c.done
	if errors.Is(err, pace.ErrTimeout) {
		err = cqlerr.CASTimedOut(c.options.serial(), c.options.Decision.contentions())
	}
	failed := failure(c.x.Env)
	c.release()
	done(failed, err)
}

// step ends the write when its time is over. It lets other work run, but not while other writes wait for the decision:
// the work that then runs may itself wait for a write.
func (c *conditional) step() (err error) {
	switch {
	case !c.rows.deciding:
		err = c.options.Turn.Step()
	case time.Now().After(c.until):
		err = pace.ErrTimeout
	default:
		err = c.ctx.Err()
	}
	if err != nil {
		return &expr.Ended{Cause: err}
	}
	return nil
}

// Conditional is the protocol's name for the kind of a conditional write.
const Conditional = "CAS"

// serial is the level that conditions are compared at.
func (o *Options) serial() cqlerr.Consistency {
	if o.SerialConsistency == cqlerr.LocalSerial {
		return cqlerr.LocalSerial
	}
	return cqlerr.Serial
}

// takeStatement adds a modification: its partition, and its conditions with their values.
func (c *conditional) takeStatement(s *conditionalWrite) error {
	m := s.plan
	if c.costly = c.costly || m.Costly; !m.Plain {
		s.kept = new(expr.Kept)
	}
	c.x.Kept = s.kept
	if err := c.bind(m, s.values); err != nil {
		return err
	}
	if err := c.takeKey(m); err != nil {
		return err
	}
	c.noteColumns(m)
	if m.If == nil && m.Where.Slice != nil {
		_, err := c.evaluateRows(m, false, c.e.store.MaxRows()) // Cassandra has the bounds before it compares rows
		return err
	}
	row, err := c.rowOf(m)
	if err != nil || m.If == nil {
		return err
	}
	return c.rows.conditions.Add(&c.x, m, row)
}

// takeKey finds the partition that a modification names, which must be that of the others.
func (c *conditional) takeKey(m *planner.Modification) error {
	more, err := c.evaluateKeys(m, 1)
	if err != nil {
		return err
	}
	if m.Where.MultiPartition() || more || len(c.keys) != 1 {
		if c.batch {
			return cqlerr.Invalidf("Batch with conditions cannot span multiple partitions (you cannot use IN on the partition key)")
		}
		return m.CheckNoIn()
	}
	switch {
	case len(c.key) == 0:
		c.key = append(c.key[:0], c.keys[0]...)
	case !bytes.Equal(c.key, c.keys[0]):
		return cqlerr.Invalidf("Batch with conditions cannot span multiple partitions")
	}
	return m.CheckNoClusteringIn()
}

// rowOf is the clustering of the row that a modification names, with null for the columns that a table WITH COMPACT
// STORAGE lets it leave out. It is nil if the modification is about static columns alone.
func (c *conditional) rowOf(m *planner.Modification) ([][]byte, error) {
	if !m.ChecksRow() {
		return nil, nil
	}
	if err := c.evaluateRow(m); err != nil {
		return nil, err
	}
	row := c.kept.row(len(c.table.Clustering))
	for i, v := range c.writing.row {
		row[i] = c.kept.copy(v)
	}
	return row, nil
}

// noteColumns notes the columns that have to be fetched for a modification.
func (c *conditional) noteColumns(m *planner.Modification) {
	c.anyRow = c.anyRow || m.ChecksRow()
	if m.If == nil {
		return
	}
	if m.If.Exists || m.If.NotExists {
		c.everyRow = true
	}
	for _, conditions := range [...][]*planner.Condition{m.If.Rows, m.If.Statics} {
		for _, condition := range conditions {
			c.rows.fetched[condition.Column.Index] = true
			if !slices.Contains(c.shown, condition.Column) {
				c.shown = append(c.shown, condition.Column)
			}
		}
	}
	for _, sets := range [...][]planner.SetColumn{m.Statics, m.Sets} {
		for i := range sets {
			if sets[i].ReadsRow() {
				c.rows.fetched[sets[i].Column.Index] = true
			}
		}
	}
	if len(m.Statics) > 0 {
		for _, column := range c.table.Static {
			c.rows.fetched[column.Index] = true
		}
	}
}

// finishColumns completes the columns that are fetched, copied and shown.
func (c *conditional) finishColumns() {
	for _, key := range [...][]*schema.Column{c.table.PartitionKey, c.table.Clustering} {
		for _, column := range key {
			c.rows.fetched[column.Index] = true
		}
	}
	c.rows.copied = append(c.rows.copied[:0], c.rows.fetched...)
	if c.anyRow {
		for _, column := range c.table.Regular {
			c.rows.fetched[column.Index] = true
			c.rows.copied[column.Index] = c.rows.copied[column.Index] || c.everyRow
		}
	}
	for i := range c.statements {
		sets := c.statements[i].plan.Sets
		for j := range sets {
			if sets[j].ReadsRow() {
				c.rows.copied[sets[j].Column.Index] = c.rows.fetched[sets[j].Column.Index]
			}
		}
	}
	switch {
	case c.everyRow:
		c.shown = append(c.shown[:0], c.table.Shown()...)
	case c.batch:
		c.shown = slices.Concat(c.table.PartitionKey, c.table.Clustering, c.shown)
	}
	c.hideMasked()
}

// hideMasked removes masked columns from the response to a user without the permission UNMASK.
func (c *conditional) hideMasked() {
	for i := range c.statements {
		conditions := c.statements[i].plan.If
		if conditions == nil || len(conditions.Masked) == 0 ||
			c.options.User.Has(auth.Unmask, auth.Table(c.table.Keyspace, c.table.Name)) {
			continue
		}
		c.shown = slices.DeleteFunc(c.shown, func(column *schema.Column) bool {
			return slices.ContainsFunc(conditions.Masked, func(masked *schema.Column) bool { return masked.Name == column.Name })
		})
	}
}

// decide reads and compares the rows, and makes the mutations if all conditions hold. It may be called again.
func (c *conditional) decide(s *store.Snapshot) ([]*store.Mutation, error) {
	until, err := c.options.Decision.begin()
	if err != nil {
		return nil, err
	}
	c.rows.snapshot, c.applied, c.rows.deciding, c.until = s, false, true, until
	if g := c.options.Guard; g != nil {
		g.Warnings = g.Warnings[:c.warned]
	}
	if err := c.rows.read(c.ctx, c.key, c.x.Now); err != nil {
		return nil, err
	}
	if holds, err := c.rows.conditions.Hold(&c.x, c.rows.rows, c.rows.static); !holds || err != nil {
		return nil, err
	}
	if c.costly && !c.computed {
		c.options.Decision.putOff()
		return nil, errNotComputed
	}
	if c.wait, err = c.replicas.Commit(c.options.Consistency, c.options.Timeout); err != nil {
		return nil, err
	}
	c.mutations, c.terms, c.writing.rows, c.bytes = c.mutations[:0], c.terms[:0], 0, 0
	if c.timestamp, err = s.Timestamp(); err != nil {
		return nil, err
	}
	c.timestamped, c.placed = true, 0
	err = c.inOrder(func(s *conditionalWrite) error { return c.addStatement(c.ctx, s.plan, s.values) })
	if err != nil {
		return nil, err
	}
	if err := c.checkTerms(); err != nil {
		return nil, err
	}
	c.applied = true
	return c.mutations, c.options.Decision.end()
}

// inOrder calls fn for the statements with what is kept of them: those that delete ranges of rows come last. Cassandra
// writes rows first, and so errors about their values come first.
func (c *conditional) inOrder(fn func(*conditionalWrite) error) error {
	for _, ranges := range [...]bool{false, true} {
		for i := range c.statements {
			s := &c.statements[i]
			if deletesRange(s.plan) != ranges {
				continue
			}
			if i%64 == 63 {
				if err := c.step(); err != nil {
					return err
				}
			}
			c.x.Kept = s.kept
			if err := fn(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// deletesRange reports whether a modification deletes rows that it does not name one by one, inside a partition.
func deletesRange(m *planner.Modification) bool {
	return m.Verb == planner.Delete && (m.Where.Slice != nil || len(m.Where.Clustering) > 0) && !namesOneRow(m)
}

// makeAnswer makes the response. If the write was not applied, it has the rows that the conditions refused.
func (c *conditional) makeAnswer() {
	out := &c.answer
	out.Conditional = true
	if c.x.Env != nil {
		out.Warnings = c.x.Env.Warnings
	}
	c.columns = append(c.columns[:0], planner.ResultColumn{
		Keyspace: c.table.Keyspace, Table: c.table.Name, Name: "[applied]", Type: types.Boolean,
	})
	verdict := [1]byte{}
	if c.applied {
		verdict[0] = 1
	}
	rows := c.stored.existing()
	if c.applied || len(rows) == 0 {
		out.Count, out.Cells, out.Columns = 1, appendCell(out.Cells[:0], verdict[:]), c.columns
		return
	}
	for _, column := range c.shown {
		c.columns = append(c.columns, planner.ResultColumn{
			Keyspace: c.table.Keyspace, Table: c.table.Name, Name: column.Name, Type: column.Type, Desc: column.Desc,
		})
	}
	out.Columns = c.columns
	out.Cells = slices.Grow(out.Cells, c.shownSize(rows))
	for _, values := range rows {
		out.Count++
		out.Cells = appendCell(out.Cells, verdict[:])
		for _, column := range c.shown {
			out.Cells = appendCell(out.Cells, values[column.Index])
		}
	}
}

// shownSize is the size of the cells of the rows that are shown, each row after the verdict.
func (c *conditional) shownSize(rows [][][]byte) (n int) {
	for _, values := range rows {
		n += 5
		for _, column := range c.shown {
			n += 4 + len(values[column.Index])
		}
	}
	return n
}

// checkLevels refuses levels that conditional writes cannot have, or that the replicas cannot reach. It waits for
// replicas that are slow to agree.
func (c *conditional) checkLevels() error {
	o := c.options
	switch {
	case !o.SerialConsistency.IsSerial():
		return cqlerr.Invalidf("Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL")
	case o.Consistency.IsSerial():
		return cqlerr.Invalidf("%s is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it "+
			"is accepted but I don't care how many replicas commit it for non-SERIAL reads\"", o.Consistency)
	}
	if err := checkLevel(o.Consistency); err != nil {
		return err
	}
	c.replicas = c.e.replicasOf(o, c.table, c.key)
	if k := c.replicas.Keyspace(); k != nil && o.Consistency == cqlerr.EachQuorum && k.ByDatacenter() == nil {
		return cqlerr.Invalidf("consistency level %s not compatible with replication strategy (%s)",
			o.Consistency, k.Replication["class"])
	}
	wait, err := c.replicas.Agree(o.SerialConsistency, Conditional, o.Timeout)
	if err != nil {
		return err
	}
	return wait.Sleep(o.Sleep)
}
