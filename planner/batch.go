package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/expr"
)

// Batch applies modifications together.
type Batch struct {
	Kind       cql.BatchKind
	Statements []*Modification
	Timestamp  expr.Expr // nil: not given
}

// batch plans BEGIN BATCH ... APPLY BATCH.
func (p *planning) batch(s *cql.Batch) (*Batch, error) {
	b := &Batch{Kind: s.Kind}
	for _, child := range s.Statements {
		m, err := p.batchStatement(child)
		if err != nil {
			return nil, err
		}
		b.Statements = append(b.Statements, m)
	}
	var ttl expr.Expr
	var err error
	if b.Timestamp, ttl, err = p.using("[batch]", "[batch]", s.Using); err != nil {
		return nil, err
	}
	return b, b.check(ttl)
}

// batchStatement plans a statement of a batch.
func (p *planning) batchStatement(s cql.Statement) (*Modification, error) {
	switch s := s.(type) {
	case *cql.Insert:
		return p.insert(s)
	case *cql.Update:
		return p.update(s)
	case *cql.Delete:
		return p.delete(s)
	}
	return nil, ErrNotInBatch()
}

// check applies the rules of batches as a whole.
func (b *Batch) check(ttl expr.Expr) error {
	if ttl != nil {
		return cqlerr.Invalidf("Global TTL on the BATCH statement is not supported.")
	}
	if b.Timestamp != nil && b.Kind == cql.CounterBatch {
		return cqlerr.Invalidf("Cannot provide custom timestamp for counter BATCH")
	}
	for _, m := range b.Statements {
		if b.Timestamp != nil && m.Timestamp != nil {
			return cqlerr.Invalidf("Timestamp must be set either on BATCH or individual statements")
		}
	}
	if b.Kind == cql.CounterBatch && len(b.Statements) > 0 {
		return ErrCounterBatch()
	}
	return nil
}

// ErrCounterBatch is for a counter batch with anything but counter updates, which there are not.
func ErrCounterBatch() error {
	return cqlerr.Invalidf("Cannot include non-counter statement in a counter batch")
}

// ErrNotInBatch is for statements that are not modifications.
func ErrNotInBatch() error {
	return cqlerr.Invalidf("Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.")
}
