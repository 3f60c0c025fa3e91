package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// decideAndWait waits for the outcome of a decision.
func decideAndWait(s *Store, t *schema.Table, key []byte, decide func(*Snapshot) ([]*Mutation, error)) error {
	outcome := make(chan error, 1)
	s.Decide(context.Background(), t, key, decide, func(err error) { outcome <- err })
	return <-outcome
}

// TestDecideTogether adds to a value from several goroutines, each to what it has read: no change may be lost, also
// behind a TRUNCATE.
func TestDecideTogether(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "", "v int"))
	table := s.Catalog().Table("ks", "t")
	key := types.EncodeInt(1)
	add := func() error {
		return decideAndWait(s, table, key, func(now *Snapshot) ([]*Mutation, error) {
			var v uint32
			read := &Read{Table: table, Keys: [][]byte{key}, Slices: []Slice{{}}}
			err := now.Read(t.Context(), read, func(r *Row) (bool, error) {
				v = binary.BigEndian.Uint32(r.Values[table.Column("v").Index])
				return true, nil
			})
			m := NewMutation(table, key)
			m.Row(nil)
			m.Set(table.Column("v"), types.EncodeInt(int32(v+1)), s.Timestamp(), Expiry{})
			return []*Mutation{m}, err
		})
	}
	together := func(writers, changes int) {
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for range changes {
					if err := add(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
	}
	expect := func(want string) {
		t.Helper()
		got := readRows(t, s, &Read{Table: table, Keys: [][]byte{key}})
		if len(got) != 1 || !bytes.HasSuffix([]byte(got[0]), []byte(want)) {
			t.Errorf("%q, want %s", got, want)
		}
	}
	together(8, 50)
	expect("v=400")
	if err := s.Truncate(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	together(2, 5)
	expect("v=10")
}

// TestDecideRefused checks that a decision which fails writes nothing and leaves nothing behind.
func TestDecideRefused(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c text", "v int"))
	table := s.Catalog().Table("ks", "t")
	key := types.EncodeInt(1)
	long := make([]byte, s.limits.Key+1)
	err := decideAndWait(s, table, key, func(*Snapshot) ([]*Mutation, error) {
		var ms []*Mutation
		for _, clustering := range [][]byte{[]byte("a"), long} {
			m := NewMutation(table, key)
			m.Row([][]byte{clustering})
			m.Mark(1, Expiry{})
			ms = append(ms, m)
		}
		return ms, nil
	})
	if err == nil {
		t.Error("a key that is too long was taken")
	}
	if got := readRows(t, s, &Read{Table: table, Keys: [][]byte{key}}); len(got) != 0 {
		t.Errorf("%q is there", got)
	}
	if err := s.Truncate(t.Context(), table); err != nil { // waits for writes that do not end
		t.Fatal(err)
	}
}

// TestDecideAndTruncate truncates the table between what a decision reads and what it writes: it is made again, and
// sees no row.
func TestDecideAndTruncate(t *testing.T) {
	s := open(t, "", Options{Engine: func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil }})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "", "v int"))
	table := s.Catalog().Table("ks", "t")
	key := types.EncodeInt(1)
	m := NewMutation(table, key)
	m.Row(nil)
	m.Mark(s.Timestamp(), Expiry{})
	if err := apply(s, m); err != nil {
		t.Fatal(err)
	}
	runs := 0
	err := decideAndWait(s, table, key, func(now *Snapshot) ([]*Mutation, error) {
		found := false
		err := now.Read(t.Context(), &Read{Table: table, Keys: [][]byte{key}}, func(*Row) (bool, error) {
			found = true
			return true, nil
		})
		if runs++; runs == 1 { // this engine runs it without a lock
			err = errors.Join(err, s.Truncate(t.Context(), table))
		}
		if err != nil || !found {
			return nil, err
		}
		m := NewMutation(table, key)
		m.Row(nil)
		m.Set(table.Column("v"), key, s.Timestamp(), Expiry{})
		return []*Mutation{m}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := readRows(t, s, &Read{Table: table, Keys: [][]byte{key}}); len(got) != 0 || runs != 2 {
		t.Errorf("%q is there after %d runs", got, runs)
	}
}
