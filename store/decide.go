package store

import (
	"context"
	"errors"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
)

// Snapshot is what Decide shows of the store.
type Snapshot struct {
	store *Store
	src   engine.Reader
}

// Read is Store.Read of the snapshot, for tables whose rows are stored.
func (s *Snapshot) Read(ctx context.Context, r *Read, fn func(*Row) (bool, error)) error {
	_, id, err := s.store.source(r)
	if err != nil {
		return err
	}
	rd := readers.Get().(*reader)
	defer rd.release()
	rd.begin(ctx, s.store, r, id, fn)
	return rd.run(s.src)
}

// Decide writes the mutations that decide returns. No other Decide in the partition comes between what decide reads
// and what is written; an Apply may, and timestamps alone order its writes. Decide returns when the mutations are
// written; after an error nothing is written, unless it is ErrUnknown.
//
// decide may be called more than once, and only what it returns last counts. Other writes wait while it runs.
func (s *Store) Decide(
	ctx context.Context, t *schema.Table, partition []byte, decide func(*Snapshot) ([]*Mutation, error),
) error {
	var ms []*Mutation
	var refused error // by decide, or what it decided cannot be written
	update := func(txn engine.Txn) error {
		free(ms, errRetried)
		if ms, refused = decide(&Snapshot{store: s, src: txn}); refused != nil {
			return refused
		}
		refused = s.stage(txn, ms)
		return refused
	}
	guard := append(append([]byte(nil), t.ID[:]...), partition...)
	err := s.update(ctx, guard, update)
	for errors.Is(err, errTruncated) {
		err = s.update(ctx, guard, update)
	}
	if refused != nil && errors.Is(err, refused) {
		err = refused // without what the engine says of it
	}
	return free(ms, err)
}

// errRetried ends mutations that are decided again.
var errRetried = errors.New("decided again")

// stage gives the operations of mutations to a transaction.
func (s *Store) stage(txn engine.Txn, ms []*Mutation) error {
	if len(ms) == 0 {
		return nil
	}
	first := ms[0]
	first.apply.store, first.apply.group = s, append(first.apply.group[:0], ms...)
	ops, err := s.operations(first.ops[:0], ms)
	if first.ops = ops; err != nil {
		return err
	}
	for i := range ops {
		txn.Merge(ops[i].Key, ops[i].Value)
	}
	return nil
}

// free ends mutations that were staged, and returns what a client is told of the error they ended with.
func free(ms []*Mutation, err error) (told error) {
	if len(ms) == 0 {
		return err
	}
	ms[0].apply.done = func(err error) { told = err }
	ms[0].finish(err)
	return told
}
