package exec

import (
	"context"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/replicas"
)

// batch runs BEGIN BATCH ... APPLY BATCH.
func (e *Executor) batch(ctx context.Context, r *Request, b *planner.Batch, done func(Result, error)) {
	err := guardWrite(&r.Options, b.Statements...)
	if err == nil {
		err = checkLevel(r.Consistency)
	}
	if err != nil {
		done(nil, err)
		return
	}
	e.applyBatch(ctx, &r.Options, b, func(int) []types.Value { return r.Values }, done)
}

// ExecuteBatch applies the modifications of a batch together, and calls done as Execute does.
func (e *Executor) ExecuteBatch(ctx context.Context, r *BatchRequest, done func(Result, error)) {
	b := &planner.Batch{Kind: planner.BatchKind(r.Kind)}
	err := checkLevel(r.Consistency)
	if err == nil {
		b.Statements, err = checkBatch(r)
	}
	if err == nil {
		err = guardWrite(&r.Options, b.Statements...)
	}
	if err != nil {
		done(nil, err)
		return
	}
	e.applyBatch(ctx, &r.Options, b, func(i int) []types.Value { return r.Children[i].Values }, done)
}

// applyBatch writes the statements of a batch with the values of each.
func (e *Executor) applyBatch(
	ctx context.Context, o *Options, b *planner.Batch, values func(i int) []types.Value, done func(Result, error),
) {
	if planner.IsConditional(b.Statements) {
		c := e.startConditional(ctx, o, true, done)
		for i, m := range b.Statements {
			c.statements = append(c.statements, conditionalWrite{plan: m, values: values(i)})
		}
		c.execute()
		return
	}
	w := e.startWriting(o)
	w.size = size{updates: map[string]bool{}, keys: map[string]bool{}}
	var err error
	if b.Timestamp != nil {
		w.x.Values = values(0)
		w.timestamp, err = w.timestampOf(b.Timestamp)
		w.timestamped = true
	}
	if err == nil {
		err = w.addAll(ctx, b.Statements, values)
	}
	w.finishBatch(err, BatchKind(b.Kind), done)
}

// addAll adds the statements of a batch. As in Cassandra, errors of keys in any of them come before other errors: keys
// are checked first if guardrails look at written values, and otherwise when a statement fails.
func (w *writing) addAll(ctx context.Context, statements []*planner.Modification, values func(i int) []types.Value) error {
	if w.guard != nil {
		if err := w.checkBatchKeys(statements, values); err != nil {
			return err
		}
	}
	for i, m := range statements {
		if err := w.options.Turn.Step(); err != nil {
			return err
		}
		if err := w.addStatement(ctx, m, values(i)); err != nil {
			if wrong := w.checkBatchKeys(statements, values); wrong != nil {
				return wrong
			}
			return err
		}
	}
	return nil
}

// checkBatchKeys refuses wrong keys of any statement.
func (w *writing) checkBatchKeys(statements []*planner.Modification, values func(i int) []types.Value) error {
	for i, m := range statements {
		if err := w.options.Turn.Step(); err != nil {
			return err
		}
		if err := w.bind(m, values(i)); err != nil {
			return err
		}
		if _, err := w.evaluateKeys(m, w.e.store.MaxRows()); err != nil {
			return err
		}
	}
	return nil
}

// checkBatch returns the statements. It refuses statements that a batch of the kind cannot have, or not in one batch.
func checkBatch(r *BatchRequest) ([]*planner.Modification, error) {
	statements := make([]*planner.Modification, len(r.Children))
	for i := range r.Children {
		m, ok := r.Children[i].Prepared.Plan.(*planner.Modification)
		if !ok {
			return nil, planner.ErrNotInBatch()
		}
		statements[i] = m
	}
	return statements, planner.CheckBatch(planner.BatchKind(r.Kind), statements)
}

// WriteType is the name that errors have for a batch of the kind.
func (k BatchKind) WriteType() string {
	switch k {
	case Unlogged:
		return "UNLOGGED_BATCH"
	case Counter:
		return "COUNTER"
	}
	return "BATCH"
}

// finishBatch checks the size and the replicas of a batch, and writes it.
func (w *writing) finishBatch(err error, kind BatchKind, done func(Result, error)) {
	var answer Void
	w.kind = kind.WriteType()
	if len(w.size.keys) == 1 && kind != Counter {
		w.kind = "SIMPLE"
	}
	if err == nil {
		err = w.checkTerms()
	}
	if err == nil {
		answer.Warnings, err = w.size.check(kind, w.e.settings, w.mutations)
	}
	if err == nil && w.options.View != nil && kind == Logged && len(w.size.keys) > 1 {
		var wait replicas.Wait
		if wait, err = replicas.BatchLog(w.options.View, w.options.Consistency, w.options.Timeout); wait.Late != nil {
			err = wait.Sleep(w.options.Sleep) // nothing is applied
		}
		w.wait.Add(wait)
	}
	if err == nil {
		err = w.checkReplicas(w.size.tables...)
	}
	if work := w.options.Work; work != nil && err == nil {
		work.Batch, work.Partitions = kind, len(w.size.keys)
	}
	w.apply(err, &answer, done)
}

// WriteType is the name that errors have for the writes of a plan; "": the plan writes nothing.
func WriteType(p planner.Plan) string {
	switch p := p.(type) {
	case *planner.Modification:
		if p.If != nil {
			return Conditional
		}
		if p.Table.Counter {
			return Counter.WriteType()
		}
		return "SIMPLE"
	case *planner.Batch:
		if planner.IsConditional(p.Statements) {
			return Conditional
		}
		return BatchKind(p.Kind).WriteType()
	}
	return ""
}
