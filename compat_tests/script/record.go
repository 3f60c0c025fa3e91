package script

import "context"

// Compare runs a script in a new keyspace, which is dropped in the end, and returns the blocks that answer
// something else than they expect.
func (s *Script) Compare(ctx context.Context, addr, keyspace string, m Mode) ([]Difference, error) {
	r, err := s.open(ctx, addr, keyspace, m)
	if err != nil {
		return nil, err
	}
	differences := r.Compare(ctx, s.Blocks)
	return differences, r.Drop(ctx)
}

// Record makes the answer of a server in one mode the expected text of the mode's binding, and compares it with what
// it answers in another: a script with differences shows chance, or the mode, and is not to be kept. The bindings are
// recorded in the order of their constants.
func (s *Script) Record(ctx context.Context, addr, keyspace string, first, second Mode) ([]Difference, error) {
	r, err := s.open(ctx, addr, keyspace, first)
	if err != nil {
		return nil, err
	}
	for _, b := range s.Blocks {
		b.expect(first.Binding, r.Run(ctx, b))
	}
	if err := r.Drop(ctx); err != nil {
		return nil, err
	}
	return s.Compare(ctx, addr, keyspace, second)
}
