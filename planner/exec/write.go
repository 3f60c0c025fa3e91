package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// modify runs INSERT, UPDATE or DELETE.
func (e *Executor) modify(ctx context.Context, r *Request, m *planner.Modification, done func(Result, error)) {
	if err := guardWrite(&r.Options, m); err != nil {
		done(nil, err)
		return
	}
	if m.If != nil {
		c := e.startConditional(ctx, &r.Options, false, done)
		c.statements = append(c.statements, conditionalWrite{plan: m, values: r.Values})
		c.execute()
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
		err = w.addStatement(ctx, m, r.Values)
	}
	if err == nil {
		err = w.checkTerms()
	}
	if err == nil {
		err = w.checkReplicas(m.Table)
	}
	w.apply(err, withoutWarnings, done)
}

// withoutWarnings is the answer of a write without warnings.
var withoutWarnings = &Void{}

// apply gives the mutations to the store, unless there was an error, and answers when they are written.
func (w *writing) apply(err error, answer *Void, done func(Result, error)) {
	if w.x.Env != nil && len(w.x.Env.Warnings) > 0 {
		answer = &Void{Warnings: append(slices.Clip(answer.Warnings), w.x.Env.Warnings...)}
	}
	switch {
	case err != nil:
		if errors.Is(err, pace.ErrTimeout) {
			err = cqlerr.WriteUnknown(w.options.Consistency, w.kind)
		}
		failed := failure(w.x.Env)
		w.release()
		done(failed, err)
		return
	case w.virtual:
		err := w.e.store.WriteVirtual(w.mutations)
		w.release()
		if err != nil {
			done(nil, err)
			return
		}
		done(answer, nil)
		return
	case w.wait.Late != nil:
		w.applyLate(done)
		return
	case w.wait.Time > 0:
		_ = w.wait.Sleep(w.options.Sleep) // the write is done, also if the client has gone
	}
	level, kind := w.options.Consistency, w.kind
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

// applyLate applies mutations that some replicas get too late, and answers when the time of the write is over.
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
