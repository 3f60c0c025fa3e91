package server

import (
	"sync"
	"sync/atomic"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/store/pace"
)

// The connections to a node share its prepared statements. Each is kept under the MD5 of its text, and, if a keyspace
// is used, also under the MD5 of keyspace and text; clients may execute either. The same text may be prepared in
// several keyspaces: then the MD5 of the text belongs to the first one.

// lookup returns a prepared statement whose plan fits the current schema, or the error UNPREPARED.
func (n *node) lookup(id []byte) (*statement, error) {
	if len(id) != len(preparedID{}) {
		return nil, unprepared(id)
	}
	key := preparedID(id)
	st := n.prepared.get(key)
	if st == nil {
		return nil, unprepared(id)
	}
	switch st.check(n.server.store.Catalog()) {
	case planner.Invalid:
		n.prepared.drop(key, st)
		return nil, unprepared(id)
	case planner.Outdated:
		return n.planAgain(key, st)
	}
	return st, nil
}

// unprepared copies the id: the read buffer, which has it, will be reused.
func unprepared(id []byte) error { return cqlerr.UnpreparedID(append([]byte(nil), id...)) }

// planAgain replaces a plan by one for the current schema, under the same id. Its constants keep the time that they
// had.
func (n *node) planAgain(id preparedID, old *statement) (*statement, error) {
	st, err := n.server.plan(old.text, old.keyspace, false, old.planned)
	if err != nil {
		return nil, err
	}
	st.describe()
	n.prepared.put(id, st)
	return st, nil
}

// prepare returns the prepared statement of a text, and whether it is fresh: was not there before. A text with
// unqualified names is another statement in each keyspace.
func (n *node) prepare(
	turn *pace.Turn, guard *guardrail.Check, text, keyspace string,
) (st *statement, fresh bool, err error) {
	s := n.server
	st = n.known(statementID(text, keyspace))
	if st != nil && st.check(s.store.Catalog()) == planner.Valid && n.known(statementID(text, "")) != nil &&
		(st.plan.Qualified || keyspace != "" && st.keyspace == keyspace) {
		return st, false, nil
	}
	if st, err = s.planOn(turn, guard, text, keyspace, false, s.store.Now()); err != nil {
		return nil, false, err
	}
	if err := s.exec.Validate(st.plan.Plan, guard); err != nil {
		return nil, false, err
	}
	st.describe()
	if st.size > n.prepared.limit {
		return nil, false, tooLargeToKeep(st, n.prepared.limit)
	}
	n.keep(st)
	return st, true, nil
}

// tooLargeToKeep refuses a statement that no EXECUTE would find. Clients would prepare it again, without an end.
func tooLargeToKeep(st *statement, limit int64) error {
	return cqlerr.Invalidf("Prepared statement of size %d bytes is larger than allowed maximum of %d MB: %s",
		st.size, limit>>20, observe.Truncate(st.text, 200))
}

// known returns the prepared statement of an id; nil: clients have to prepare it again.
func (n *node) known(id preparedID) *statement {
	st := n.prepared.get(id)
	if st != nil && st.check(n.server.store.Catalog()) == planner.Invalid {
		return nil
	}
	return st
}

// keep keeps a statement that has been described, so that clients can execute it.
func (n *node) keep(st *statement) {
	if st.keyspace != "" {
		n.prepared.put(statementID(st.text, st.keyspace), st)
	}
	id := statementID(st.text, "")
	if first := n.known(id); first == nil || first.keyspace == st.keyspace {
		n.prepared.put(id, st)
	}
}

// schemaChanged forgets plans that a change made useless, to free their memory, and the histograms of dropped tables.
// The plans would not be used anyway, because every use checks the plan.
func (s *Server) schemaChanged(changes []schema.Change) {
	useless := false
	for _, c := range changes {
		useless = useless || c.Kind == schema.Dropped || c.Target == schema.TargetTable && c.Kind == schema.Updated
	}
	if !useless {
		return
	}
	catalog := s.store.Catalog()
	stale := func(st *statement) bool { return st.check(catalog) == planner.Invalid }
	for _, n := range s.allNodes() {
		n.prepared.prune(stale)
	}
	s.texts.prune(stale)
	s.latencies.Prune()
}

// statementCache keeps planned statements up to a number of bytes. A lookup takes a read lock and allocates nothing.
//
// It evicts by the clock algorithm, which approximates LRU: the hand passes over statements that were used since its
// last round, and evicts the first other one.
type statementCache[K comparable] struct {
	limit int64

	mu      sync.RWMutex
	slots   map[K]*cacheSlot[K]
	clock   []*cacheSlot[K]
	hand    int
	bytes   int64
	evicted uint64
}

// cacheSlot is one statement under one key, at a place of the clock.
type cacheSlot[K comparable] struct {
	key   K
	st    *statement
	place int
	used  atomic.Bool
}

func newStatementCache[K comparable](limit int64) *statementCache[K] {
	return &statementCache[K]{limit: limit, slots: make(map[K]*cacheSlot[K])}
}

// get returns the statement of a key, or nil.
func (c *statementCache[K]) get(key K) *statement {
	c.mu.RLock()
	defer c.mu.RUnlock()
	slot := c.slots[key]
	if slot == nil {
		return nil
	}
	if !slot.used.Load() { // a store would move the cache line between processors
		slot.used.Store(true)
	}
	return slot.st
}

// put keeps st under a key, and replaces the statement that was there. A statement larger than the cache is not kept.
func (c *statementCache[K]) put(key K, st *statement) {
	if st.size > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.slots[key])
	for c.bytes+c.needs(st) > c.limit {
		c.evict()
	}
	c.bytes += c.needs(st)
	st.slots++
	slot := &cacheSlot[K]{key: key, st: st, place: len(c.clock)}
	c.slots[key] = slot
	c.clock = append(c.clock, slot)
}

// needs is how many bytes one more slot for st takes: none if st is there under another key.
func (c *statementCache[K]) needs(st *statement) int64 {
	if st.slots > 0 {
		return 0
	}
	return st.size
}

// drop removes the statement of a key, if it still is st.
func (c *statementCache[K]) drop(key K, st *statement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slot := c.slots[key]; slot != nil && slot.st == st {
		c.remove(slot)
	}
}

// prune forgets every statement for which stale holds.
func (c *statementCache[K]) prune(stale func(*statement) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.clock) - 1; i >= 0; i-- {
		if slot := c.clock[i]; stale(slot.st) {
			c.remove(slot)
		}
	}
}

// evict removes the next statement that was not used since the hand came by.
func (c *statementCache[K]) evict() {
	for {
		c.hand %= len(c.clock)
		slot := c.clock[c.hand]
		if !slot.used.Swap(false) {
			c.remove(slot)
			c.evicted++
			return
		}
		c.hand++
	}
}

// remove removes a slot. The last one of the clock moves to its place.
func (c *statementCache[K]) remove(slot *cacheSlot[K]) {
	if slot == nil {
		return
	}
	last := len(c.clock) - 1
	moved := c.clock[last]
	c.clock[slot.place], moved.place = moved, slot.place
	c.clock[last] = nil
	c.clock = c.clock[:last]
	delete(c.slots, slot.key)
	slot.st.slots--
	c.bytes -= c.needs(slot.st)
}

// usage returns how many keys there are, their bytes, and how many were evicted.
func (c *statementCache[K]) usage() (entries int, bytes int64, evicted uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.clock), c.bytes, c.evicted
}
