package statements

import (
	"bytes"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/store/pace"
)

// Prepared are the prepared statements of a node, which its connections share. Each is kept under the MD5 of its text,
// and, if a keyspace is used, also under the MD5 of keyspace and text; clients may execute either. The same text may
// be prepared in several keyspaces: then the MD5 of the text belongs to the first one.
type Prepared struct {
	planner *Planner
	kept    *cache[ID]
}

// NewPrepared returns a cache of that many bytes.
func NewPrepared(p *Planner, limit int64) *Prepared { return &Prepared{p, newCache[ID](limit)} }

// Lookup returns a prepared statement whose plan fits the current schema, or the error UNPREPARED.
func (p *Prepared) Lookup(id []byte) (*Statement, error) {
	if len(id) != len(ID{}) {
		return nil, unprepared(id)
	}
	key := ID(id)
	st := p.kept.get(key)
	if st == nil {
		return nil, unprepared(id)
	}
	switch st.check(p.planner.Store.Catalog()) {
	case planner.Invalid:
		p.kept.drop(key, st)
		return nil, unprepared(id)
	case planner.Outdated:
		return p.planAgain(key, st)
	}
	return st, nil
}

// unprepared copies the id: the read buffer, which has it, will be reused.
func unprepared(id []byte) error { return cqlerr.UnpreparedID(bytes.Clone(id)) }

// planAgain replaces a plan by one for the current schema, under the same id. Its constants keep their time.
func (p *Prepared) planAgain(id ID, old *Statement) (*Statement, error) {
	st, err := p.planner.Plan(nil, nil, old.Text, old.Keyspace, false, old.planned)
	if err != nil {
		return nil, err
	}
	st.describe()
	p.kept.put(id, st)
	return st, nil
}

// Text returns the text of a prepared statement, or "".
func (p *Prepared) Text(id []byte) string {
	if len(id) == len(ID{}) {
		if st := p.kept.get(ID(id)); st != nil {
			return st.Text
		}
	}
	return ""
}

// Prepare returns the prepared statement of a text, and whether it is fresh: was not there before. A text with
// unqualified names is another statement in each keyspace.
func (p *Prepared) Prepare(
	turn *pace.Turn, guard *guardrail.Check, text, keyspace string,
) (st *Statement, fresh bool, err error) {
	st = p.known(idOf(text, keyspace))
	if st != nil && st.check(p.planner.Store.Catalog()) == planner.Valid && p.known(idOf(text, "")) != nil &&
		(st.Plan.Qualified || keyspace != "" && st.Keyspace == keyspace) {
		return st, false, nil
	}
	if st, err = p.planner.Plan(turn, guard, text, keyspace, false, p.planner.Store.Now()); err != nil {
		return nil, false, err
	}
	if err := p.planner.Exec.Validate(st.Plan.Plan, guard); err != nil {
		return nil, false, err
	}
	if st.size > p.kept.limit { // no EXECUTE would find it, and clients would prepare it without end
		return nil, false, cqlerr.Invalidf("Prepared statement of size %d bytes is larger than allowed maximum of %d MB: %s",
			st.size, p.kept.limit>>20, observe.Truncate(text, 200))
	}
	st.describe()
	p.keep(st)
	return st, true, nil
}

// known returns the prepared statement of an id; nil: clients have to prepare it again.
func (p *Prepared) known(id ID) *Statement {
	st := p.kept.get(id)
	if st != nil && st.check(p.planner.Store.Catalog()) == planner.Invalid {
		return nil
	}
	return st
}

// keep keeps a statement, so that clients can execute it.
func (p *Prepared) keep(st *Statement) {
	if st.Keyspace != "" {
		p.kept.put(idOf(st.Text, st.Keyspace), st)
	}
	id := idOf(st.Text, "")
	if first := p.known(id); first == nil || first.Keyspace == st.Keyspace {
		p.kept.put(id, st)
	}
}

// Prune drops plans that do not fit the current schema any more, to free their memory.
func (p *Prepared) Prune() { prune(p.kept, p.planner) }

// Usage returns how many statements are kept, their bytes, and how many were evicted.
func (p *Prepared) Usage() (entries int, bytes int64, evicted uint64) { return p.kept.usage() }
