package script

import "context"

// Compare runs a script in a keyspace of its own, which is dropped in the end, and returns the blocks that answer
// something else than they expect.
func (s *Script) Compare(ctx context.Context, addr, keyspace string, m Mode) ([]Difference, error) {
	r, err := Open(ctx, addr, keyspace, m)
	if err != nil {
		return nil, err
	}
	differences := r.Compare(ctx, s.Blocks)
	return differences, r.Drop(ctx)
}

// Record makes what a server answers in one mode the expected text, and compares it with what it answers in another:
// a script with differences shows chance, or the mode, and is not to be kept.
func (s *Script) Record(ctx context.Context, addr, keyspace string, first, second Mode) ([]Difference, error) {
	answered, err := s.Compare(ctx, addr, keyspace, first)
	for _, d := range answered {
		d.Block.record(d.Got)
	}
	if err != nil {
		return nil, err
	}
	return s.Compare(ctx, addr, keyspace, second)
}
