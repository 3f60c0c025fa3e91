package server

import (
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// prepare serves PREPARE.
func prepare(r *request) {
	m := r.message.(*protocol.Prepare)
	s := r.conn.server
	r.traceRequest("Preparing CQL3 query", m.Query, nil)
	session := &r.conn.session
	keyspace := session.currentKeyspace()
	own := m.Flags&protocol.PrepareWithKeyspace != 0
	if own {
		keyspace = m.Keyspace
		if err := s.checkKeyspace(keyspace); err != nil {
			r.fail(err)
			return
		}
	}
	r.tracef("Parsing %s", secret.Hide(m.Query))
	var st *statement
	var fresh bool
	err := r.whenPlannable(m.Query, func(turn *pace.Turn) (err error) {
		st, fresh, err = r.conn.node.prepare(turn, r.guarded(), m.Query, keyspace)
		return err
	})
	if err == nil {
		err = r.validateAuthorization(st)
	}
	if err != nil {
		r.fail(err)
		return
	}
	r.tracef("Preparing statement")
	// A request with a keyspace of its own gets the warning every time, besides the connection's.
	if fresh && !st.plan.Qualified && (own || !session.useWarned.Swap(true)) {
		r.warnAboutUse(st, keyspace)
	}
	r.answer(&protocol.Prepared{
		ID:               st.id[:],
		ResultMetadataID: st.resultID[:],
		Bind:             st.markers,
		PKIndexes:        st.pkIndexes,
		Result:           st.columns,
	})
}
