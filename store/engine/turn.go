package engine

import "context"

// Turn lets one at a time go on.
type Turn chan struct{}

// NewTurn returns a turn that nobody has.
func NewTurn() Turn { return make(Turn, 1) }

// Take waits until nobody has the turn. It fails if ctx ends before.
func (t Turn) Take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	default: // a select that waits costs much more
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Give lets the next one go on.
func (t Turn) Give() { <-t }
