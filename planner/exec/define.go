package exec

import (
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/define"
)

// define runs a statement that changes the schema.
func (e *Executor) define(r *Request, p define.Definition) (Result, error) {
	if guarded, ok := p.(define.Guarded); ok && r.Guard != nil {
		p = guarded.Under(r.Guard)
	}
	var out define.Outcome
	changed := false
	err := e.store.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		if dated, ok := p.(define.Dated); ok {
			p = dated.At(e.store.Timestamp())
		}
		next, o, err := p.Apply(c, e.ids.random())
		out, changed = o, next != c
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
	return &SchemaChange{Answer: out.Answer, Events: out.Events, Warnings: out.Warnings}, nil
}
