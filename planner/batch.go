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
		if b.Timestamp != nil && m.Table.Counter {
			return cqlerr.Invalidf("Cannot provide custom timestamp for a BATCH containing counters")
		}
		if b.Timestamp != nil && m.Timestamp != nil {
			return cqlerr.Invalidf("Timestamp must be set either on BATCH or individual statements")
		}
		if err := CheckBatched(b.Kind, m); err != nil {
			return err
		}
	}
	return CheckUnmixed(b.Statements)
}

// BatchKind is the kind of a batch.
type BatchKind = cql.BatchKind

// CheckBatched refuses a statement that cannot stand in a batch of that kind.
func CheckBatched(kind BatchKind, m *Modification) error {
	if kind == cql.CounterBatch && !m.Table.Counter {
		return cqlerr.Invalidf("Cannot include non-counter statement in a counter batch")
	}
	if kind == cql.LoggedBatch && m.Table.Counter {
		return cqlerr.Invalidf("Cannot include a counter statement in a logged batch")
	}
	return nil
}

// CheckUnmixed refuses counters beside others.
func CheckUnmixed(statements []*Modification) error {
	for _, m := range statements {
		if m.Table.Counter != statements[0].Table.Counter {
			return cqlerr.Invalidf("Counter and non-counter mutations cannot exist in the same batch")
		}
	}
	return nil
}

// ErrNotInBatch is for statements that are not modifications.
func ErrNotInBatch() error {
	return cqlerr.Invalidf("Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.")
}
