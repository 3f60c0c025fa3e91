package exec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/expr"
)

// longestWork is how long it may take to compute the values of a definition. Cassandra has no limit there.
var longestWork = 10 * time.Second

func errLongWork() error {
	return cqlerr.Invalidf("The values in a definition may take up to %s to compute in cqld, and these take longer", longestWork)
}

// define runs a statement that changes the schema.
func (e *Executor) define(ctx context.Context, r *Request, p define.Definition) (Result, error) {
	var out define.Outcome
	var before, after *schema.Catalog
	working, end := context.WithTimeoutCause(ctx, longestWork, errLongWork())
	defer end()
	step := func() error {
		if working.Err() != nil {
			return &expr.Ended{Cause: context.Cause(working)}
		}
		return nil
	}
	changed, env, work := false, e.env(working, nil, step), new(define.Work)
	defer func() { _ = env.Hold(-work.Returned) }() // giving back does not fail
	apply := func(c *schema.Catalog) (*schema.Catalog, error) {
		if err := define.Authorize(p, r.User, c); err != nil {
			return nil, err
		}
		now, err := e.store.TimestampAt(e.store.Now())
		if err != nil {
			return nil, err
		}
		next, o, err := p.Apply(c, define.Run{
			NewID: e.ids.random(), Time: now, Guard: r.Guard, Env: env, Work: work,
		})
		o.Warnings = append(o.Warnings, env.Warnings...)
		out, changed = o, next != c
		before, after = c, next
		return next, err
	}
	err := e.store.Define(apply)
	for pending := (*define.Pending)(nil); errors.As(err, &pending); err = e.store.Define(apply) {
		pending.Do() // other definitions do not wait for it
	}
	if _, known := cqlerr.As(err); err != nil && !known {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	if err != nil {
		return failure(env), err
	}
	if !changed {
		return &Void{Warnings: out.Warnings}, nil
	}
	if err := e.updatePermissions(ctx, r, p, out.Answer.Keyspace, before, after); err != nil {
		return nil, err
	}
	return &SchemaChange{Answer: out.Answer, Events: out.Events, Warnings: out.Warnings}, nil
}

// updatePermissions grants permissions on new objects of the schema, and revokes permissions on dropped ones.
func (e *Executor) updatePermissions(
	ctx context.Context, r *Request, p define.Definition, keyspace string, before, after *schema.Catalog,
) error {
	if e.roles == nil {
		return nil
	}
	if err := e.roles.Dropped(ctx, define.Dropped(keyspace, before, after)); err != nil {
		return err
	}
	return e.roles.Created(ctx, r.User, define.Created(p, before, after))
}

// authorization runs a statement about roles or permissions.
func (e *Executor) authorization(ctx context.Context, r *Request, p *define.Authorization) (Result, error) {
	answer, err := e.roles.Run(ctx, r.User, &p.Statement)
	if err != nil {
		return nil, err
	}
	if answer.Columns == nil {
		return &Void{Warnings: answer.Warnings}, nil
	}
	out := &Rows{Count: len(answer.Rows), Warnings: answer.Warnings}
	for _, c := range answer.Columns {
		out.Columns = append(out.Columns, planner.ResultColumn{
			Keyspace: "system_auth", Table: c.Table, Name: c.Name, Type: c.Type,
		})
	}
	for _, row := range answer.Rows {
		for _, v := range row {
			out.Cells = appendCell(out.Cells, v)
		}
	}
	return out, nil
}
