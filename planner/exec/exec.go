package exec

import (
	"context"
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec/replicas"
)

// Execute runs one statement and calls done exactly once: before it returns, or later from another
// goroutine. The request, its values and the rows given to done are the caller's again afterwards. Values bound to a
// conditional write stay valid until then; other writes do not use them after Execute returns.
func (e *Executor) Execute(ctx context.Context, r *Request, done func(Result, error)) {
	switch p := r.Prepared.Plan.(type) {
	case *planner.Select:
		e.read(ctx, r, p, done)
	case *planner.Modification:
		e.modify(ctx, r, p, done)
	case *planner.Batch:
		e.batch(ctx, r, p, done)
	case *define.Truncate:
		done(e.truncate(ctx, r, p))
	case *planner.Use:
		done(e.use(p))
	case define.Definition:
		done(e.define(ctx, r, p))
	case *define.Authorization:
		done(e.authorization(ctx, r, p))
	case *define.Describe:
		answer, err := e.describe(ctx, r, p)
		done(answer, readFailure(err, r))
	default:
		done(nil, fmt.Errorf("nothing runs a %T", p))
	}
}

// use answers USE. The server changes the session.
func (e *Executor) use(p *planner.Use) (Result, error) {
	if err := planner.CheckUse(e.store.Catalog(), p.Keyspace); err != nil {
		return nil, err
	}
	return &SetKeyspace{Keyspace: p.Keyspace}, nil
}

// truncate removes all rows of a table.
func (e *Executor) truncate(ctx context.Context, r *Request, p *define.Truncate) (Result, error) {
	if p.Refused != nil {
		return nil, p.Refused
	}
	if err := checkLevel(r.Consistency); err != nil {
		return nil, err
	}
	if err := r.Guard.DropTable(); err != nil {
		return nil, err
	}
	if v := r.View; v != nil {
		if !v.AllUp() {
			return nil, cqlerr.TruncateUnavailable()
		}
		if slowest := v.Slowest(); slowest > r.Timeout {
			wait := replicas.Wait{Time: r.Timeout, Late: cqlerr.TruncateTimedOut()}
			return nil, wait.Sleep(r.Sleep)
		} else if slowest > 0 {
			if err := r.Sleep(slowest); err != nil {
				return nil, err
			}
		}
	}
	if err := e.store.Truncate(ctx, p.Table); err != nil {
		return nil, fmt.Errorf("truncate %s.%s: %w", p.Table.Keyspace, p.Table.Name, err)
	}
	return &Void{}, nil
}
