package server

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/guardrail"
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
		st.size, limit>>20, cutShort(st.text, 200))
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
	s.latencies.prune()
}
