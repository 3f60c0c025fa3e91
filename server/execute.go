package server

import (
	"encoding/hex"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// executeInReader finds the prepared statement. The reader runs most of them. One that is not there may be when it is
// looked for again, in a goroutine.
func executeInReader(r *request) bool {
	st, err := r.conn.node.lookup(r.message.(*protocol.Execute).ID)
	if err != nil {
		return false
	}
	r.statement = st
	return r.runsInReader(st)
}

// execute serves EXECUTE.
func execute(r *request) {
	m := r.message.(*protocol.Execute)
	p := &m.Parameters
	st := r.statement
	if st == nil {
		var err error
		if st, err = r.conn.node.lookup(m.ID); err != nil {
			r.traceRequest("Execute CQL3 prepared query", "", p)
			r.fail(err)
			return
		}
		r.statement = st
	}
	r.traceRequest("Execute CQL3 prepared query", st.text, p)
	if err := p.CheckPageSize(); err != nil {
		r.fail(err)
		return
	}
	values := bind(st.plan.Markers, p)
	if len(values) != len(st.plan.Markers) {
		r.fail(cqlerr.Invalidf("there were %d markers(?) in CQL but %d bound variables",
			len(st.plan.Markers), len(values)))
		return
	}
	session := &r.conn.session
	if used := session.currentKeyspace(); !st.plan.Qualified && st.keyspace != used && !session.useWarned.Swap(true) {
		r.warnAboutUse(st, used)
	}
	r.prepared = true
	if len(m.ResultMetadataID) == len(r.expected) {
		r.expected = preparedID(m.ResultMetadataID)
	}
	r.execute(values, p)
}

// warnAboutUse adds the warning about prepared statements that depend on USE. A connection gets it once.
func (r *request) warnAboutUse(st *statement, used string) {
	r.warn("`USE <keyspace>` with prepared statements is considered to be an anti-pattern due to ambiguity in " +
		"non-qualified table names. Please consider removing instances of `Session#setKeyspace(<keyspace>)`, " +
		"`Session#execute(\"USE <keyspace>\")` and `cluster.newSession(<keyspace>)` from your code, and always use " +
		"fully qualified table names (e.g. <keyspace>.<table>). Keyspace used: " +
		orNull(used) + ", statement keyspace: " + orNull(st.keyspace) +
		", statement id: " + hex.EncodeToString(st.id[:]))
}

// orNull prints a keyspace as Cassandra does: "" is null.
func orNull(keyspace string) string {
	if keyspace == "" {
		return "null"
	}
	return keyspace
}
