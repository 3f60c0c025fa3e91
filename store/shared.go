package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/snapshot"
)

// Stores of several processes can share an engine (Options.Shared). A lone store knows much because it is the only
// writer. A shared store finds it out otherwise:
//
//   - It follows definitions, and uses them while its node has its lease (see package cluster). A read or a write
//     begins under a state, and begins again if that was not the newest one (see shared_writes.go).
//   - A definition is a conditional change of the records, which all nodes have to follow before it counts (see
//     shared_define.go).
//   - Every read of a table that has any tombstones of partitions or ranges looks for them. Before the first one of a
//     table is written, a definition marks the table (see definer.mark).
//   - Timestamps come from the clock of the cluster, and a write is answered when its timestamp has passed.
//   - One node builds indexes, sweeps tables and removes dropped ones.

// join makes the store a node of a cluster, and loads the content of the engine.
func (s *definer) join(o cluster.Options, system []*schema.Keyspace) error {
	if err := s.writeFirstRecords(); err != nil {
		return err
	}
	o.Now = s.now
	node, err := cluster.Join(s.closing, s.engine, o)
	if err != nil {
		return err
	}
	s.cluster, s.host, s.now = node, node.HostID(), node.Now
	first := newState(schema.New(system...))
	first.writing = new(atomic.Int64)
	s.state.Store(first)
	if err = s.Follow(); err == nil {
		err = node.Start(s)
	}
	if err != nil {
		return errors.Join(err, node.Close())
	}
	s.running.Add(1)
	panics.Go(&s.log, s.tellFollowed)
	node.Watch(func([]cluster.State) { // another node may lead
		s.wakePurge()
		s.wakeIndexing()
	})
	return nil
}

// writeFirstRecords writes the store's own records into an empty engine.
func (s *definer) writeFirstRecords() error {
	return s.update(s.closing, snapshot.MetaKey, func(txn engine.Txn) error {
		var m meta
		found, err := m.load(txn)
		switch {
		case err != nil:
			return err
		case !found:
			m = meta{next: schema.FirstUserStoreID}
			if err := m.drawHost(); err != nil {
				return err
			}
		default:
			return nil
		}
		op := m.op()
		txn.Put(op.Key, op.Value)
		return nil
	})
}

// Settled reports whether all writes are answered that began under definitions before those in use.
func (s *definer) Settled() bool {
	s.defining.Lock()
	defer s.defining.Unlock()
	s.former = slices.DeleteFunc(s.former, func(was *state) bool { return was.writing.Load() == 0 })
	return len(s.former) == 0
}

// OnFollow has fn called with the catalogs before and after definitions that other nodes have made.
func (s *definer) OnFollow(fn func(before, after *schema.Catalog)) {
	s.defining.Lock()
	defer s.defining.Unlock()
	s.onFollow, s.followed = fn, nil
}

// Follow makes the stored definitions the current ones.
func (s *definer) Follow() error {
	s.defining.Lock()
	defer s.defining.Unlock()
	old := s.state.Load()
	next, m, err := s.stored(old)
	if err != nil || next == nil {
		return err
	}
	s.meta = m
	s.install(old, next)
	s.followed = append(s.followed, [2]*schema.Catalog{old.catalog, next.catalog})
	select {
	case s.toTell <- struct{}{}:
	default:
	}
	return nil
}

// tellFollowed calls the function given to OnFollow, until the store is closed. Follow does not call it, because the
// function may wait for the lease, which is renewed only after Follow.
func (s *definer) tellFollowed() {
	defer s.running.Done()
	for {
		select {
		case <-s.closing.Done():
			return
		case <-s.toTell:
		}
		s.defining.Lock()
		all, tell := s.followed, s.onFollow
		s.followed = nil
		s.defining.Unlock()
		for _, catalogs := range all {
			if tell == nil {
				continue
			}
			if err := panics.Call(func() error { tell(catalogs[0], catalogs[1]); return nil }); err != nil {
				panics.Log(&s.log, err).Msg("clients may not have been told of a definition")
			}
		}
	}
}

// install puts a state in place of an older one. The caller holds defining.
func (s *definer) install(old, next *state) {
	next.virtual, next.writing = old.virtual, new(atomic.Int64)
	s.deletions.SetMarked(next.marked) // before reads begin under the state
	s.former = append(s.former, old)
	s.state.Store(next)
	s.noteChanges(old.catalog, next.catalog)
	s.wakePurge()
	s.wakeIndexing()
}

// stored reads the state that the engine holds; nil: it is the old one.
func (s *definer) stored(old *state) (next *state, m meta, err error) {
	var version cluster.Version
	records := schema.Records{}
	indexes := &state{catalog: &schema.Catalog{}}
	suspended, marked := map[[16]byte]uint64{}, map[uint32]uint64{}
	err = s.engine.View(func(r engine.Reader) error {
		if version, err = cluster.ReadVersion(r); err != nil || version.Number == old.version && old.records != nil {
			return err
		}
		if _, err := m.load(r); err != nil {
			return err
		}
		if indexes.indexes, err = index.Read(r); err != nil {
			return err
		}
		if err := scanRecords(r, suspendedKeys, func(name string, value []byte) error {
			if len(name) != 16 {
				return errMeta
			}
			suspended[[16]byte([]byte(name))], err = recordVersion(value)
			return err
		}); err != nil {
			return err
		}
		if err := scanRecords(r, markKeys, func(name string, value []byte) error {
			id, err := recordNumber(name)
			if err == nil {
				marked[id], err = recordVersion(value)
			}
			return err
		}); err != nil {
			return err
		}
		return scanRecords(r, definitionKeys, func(name string, value []byte) error {
			records[name] = value
			return nil
		})
	})
	if err != nil || version.Number == old.version && old.records != nil {
		return nil, m, err
	}
	catalog, err := follow(old, records)
	if err != nil {
		return nil, m, fmt.Errorf("load the definitions: %w", err)
	}
	next = newState(catalog)
	own := m
	next.numberIndexes(indexes, &own) // which all have numbers already
	next.version, next.records, next.suspended, next.marked = version.Number, records, suspended, marked
	if version.Number == 0 { // a store that was alone may have written tombstones
		for _, id := range next.ids {
			marked[id] = 0
		}
	}
	return next, m, nil
}

// follow returns the catalog of the records. Unchanged definitions of an old state are reused, so that plans made for
// them stay valid.
func follow(old *state, records schema.Records) (*schema.Catalog, error) {
	changed := schema.Records{}
	keyspaces := map[string]bool{} // that have to be read as a whole
	for name, record := range records {
		if !bytes.Equal(old.records[name], record) {
			changed[name] = record
			if keyspace, _, isTable := schema.CutRecord(name); !isTable {
				keyspaces[keyspace] = true
			}
		}
	}
	wanted := schema.Records{}
	for name, record := range records {
		keyspace, _, isTable := schema.CutRecord(name)
		if keyspaces[keyspace] || changed[name] != nil || !isTable {
			wanted[name] = record
		}
	}
	read, err := schema.Decode(wanted)
	if err != nil {
		return nil, err
	}
	c := old.catalog
	for _, name := range slices.Sorted(maps.Keys(old.records)) {
		if records[name] != nil {
			continue
		}
		if keyspace, table, isTable := schema.CutRecord(name); !isTable {
			c = c.WithoutKeyspace(keyspace)
		} else if c.Keyspace(keyspace) != nil {
			c = c.WithoutTable(keyspace, table)
		}
	}
	for name := range keyspaces {
		c = c.WithKeyspace(read.Keyspace(name))
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if keyspace, table, isTable := schema.CutRecord(name); isTable && !keyspaces[keyspace] {
			c = c.WithTable(read.Table(keyspace, table))
		}
	}
	return c, nil
}
