package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// ErrMoved says that another node has changed the definitions: they have another version than the change was made for.
var ErrMoved = errors.New("another node has changed the definitions")

// unknownAgain is the backoff before Change looks for the outcome of a change.
const unknownAgain = 20 * time.Millisecond

// Change writes operations that change definitions of a version, and gives them the next version, which it returns. It
// fails with ErrMoved and writes nothing if they have another version by now.
func Change(ctx context.Context, e engine.Engine, version uint64, ops []engine.Op) (uint64, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return 0, err
	}
	applied := false
	change := func(txn engine.Txn) error {
		v, err := ReadVersion(txn)
		if err != nil {
			return err
		}
		if applied = slices.Contains(v.Changes, id); applied {
			return nil
		}
		if v.Number != version {
			return ErrMoved
		}
		for i := range ops {
			ops[i].WriteTo(txn)
		}
		txn.Put(versionKey, v.next(id).value())
		return nil
	}
	for {
		err := engine.Update(ctx, e, versionKey, change)
		switch {
		case err == nil:
			return version + 1, nil
		case errors.Is(err, engine.ErrConflict):
			continue
		case errors.Is(err, engine.ErrUnknown):
			// Either it was applied, which the next attempt sees, or it conflicts with the next attempt.
			select {
			case <-ctx.Done():
				return 0, err
			case <-time.After(unknownAgain):
			}
			continue
		}
		return 0, err
	}
}
