package planner

import (
	"slices"

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
		if b.Timestamp != nil && m.If != nil {
			return cqlerr.Invalidf("Cannot provide custom timestamp for conditional BATCH")
		}
	}
	for _, m := range b.Statements {
		if b.Timestamp != nil && m.Table.Counter {
			return cqlerr.Invalidf("Cannot provide custom timestamp for a BATCH containing counters")
		}
		if b.Timestamp != nil && m.Timestamp != nil {
			return cqlerr.Invalidf("Timestamp must be set either on BATCH or individual statements")
		}
	}
	return CheckBatch(b.Kind, b.Statements)
}

// BatchKind is the kind of a batch.
type BatchKind = cql.BatchKind

// CheckBatch refuses statements that cannot be in one batch of that kind.
func CheckBatch(kind BatchKind, statements []*Modification) error {
	counters, virtual := 0, 0
	for _, m := range statements {
		if m.Table.Counter {
			counters++
		}
		if m.Table.TakenByCode() {
			virtual++
		}
	}
	switch {
	case kind == cql.LoggedBatch && virtual > 0:
		return cqlerr.Invalidf("Cannot include a virtual table statement in a logged batch")
	case virtual > 0 && virtual < len(statements):
		return cqlerr.Invalidf("Mutations for virtual and regular tables cannot exist in the same batch")
	case kind == cql.CounterBatch && counters < len(statements):
		return cqlerr.Invalidf("Cannot include non-counter statement in a counter batch")
	case counters > 0 && counters < len(statements):
		return cqlerr.Invalidf("Counter and non-counter mutations cannot exist in the same batch")
	case kind == cql.LoggedBatch && counters > 0:
		return cqlerr.Invalidf("Cannot include a counter statement in a logged batch")
	}
	if IsConditional(statements) {
		for _, m := range statements {
			if first := statements[0].Table; m.Table.Keyspace != first.Keyspace || m.Table.Name != first.Name {
				return cqlerr.Invalidf("Batch with conditions cannot span multiple tables")
			}
		}
	}
	return nil
}

// IsConditional reports whether one of some modifications has conditions, so that all are written if these hold.
func IsConditional(statements []*Modification) bool {
	return slices.ContainsFunc(statements, func(m *Modification) bool { return m.If != nil })
}

// ErrNotInBatch is for statements that are not modifications.
func ErrNotInBatch() error {
	return cqlerr.Invalidf("Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.")
}
