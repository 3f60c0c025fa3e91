package exec

import (
	"context"
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/define"
)

// define runs a statement that changes the schema.
func (e *Executor) define(ctx context.Context, r *Request, p define.Definition) (Result, error) {
	var out define.Outcome
	var before, after *schema.Catalog
	changed := false
	err := e.store.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		if err := define.Authorize(p, r.User, c); err != nil {
			return nil, err
		}
		next, o, err := p.Apply(c, define.Run{NewID: e.ids.random(), Time: e.store.Timestamp(), Guard: r.Guard})
		out, changed = o, next != c
		before, after = c, next
		return next, err
	})
	if _, known := cqlerr.As(err); err != nil && !known {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	if err != nil {
		return nil, err
	}
	if !changed {
		return &Void{Warnings: out.Warnings}, nil
	}
	if err := e.updatePermissions(ctx, r, p, out.Answer.Keyspace, before, after); err != nil {
		return nil, err
	}
	return &SchemaChange{Answer: out.Answer, Events: out.Events, Warnings: out.Warnings}, nil
}

// updatePermissions gives permissions on what a definition has made, and takes away those on what it has removed.
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
