package server

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/server/statements"
	"github.com/cqld/cqld/store/pace"
)

// ErrHangUp returned by an Inspector closes the connection without an answer.
var ErrHangUp = errors.New("server: hang up")

// ErrMalformed returned by an Inspector answers with a message that clients cannot decode.
var ErrMalformed = errors.New("server: malformed answer")

// Inspector sees requests before and after they are served, and may change their fate. Its methods are called
// concurrently, for every QUERY, PREPARE, EXECUTE and BATCH.
type Inspector interface {
	// Before is called before a request is served, and may
	//
	//   - return nil: the request is served,
	//   - wait, but not longer than ctx: the request is served late,
	//   - return an error: the client gets it, or a server error if it is none of package cqlerr,
	//   - return ErrHangUp or ErrMalformed.
	Before(ctx context.Context, r *Inspected) error

	// After is called when a request was served, or has failed, before the client gets the answer; perhaps by a goroutine
	// of the store, so it does not wait. It may return an error, which the client gets instead, although the request was
	// served. ErrHangUp and ErrMalformed mean the same as in Before.
	After(r *Inspected) error
}

// Inspected is a request as an Inspector sees it. Before and After get the same one.
type Inspected struct {
	Opcode     string   // QUERY, PREPARE, EXECUTE or BATCH
	Statements []string // the text, or all texts of a BATCH; "" for an unknown prepared statement
	Keyspace   string   // of the session
	Client     netip.AddrPort
	Node       int               // the number of the node that coordinates the request; 1: there is no ring
	Options    map[string]string // of the connection's STARTUP, not to be changed

	Consistency       cqlerr.Consistency // of PREPARE: Any
	SerialConsistency cqlerr.Consistency
	Parts             []Part                  // its statements; none of a text that is refused or an id that is unknown
	BatchType         string                  // of a BATCH: logged, unlogged or counter
	Nulls             int                     // null values that are bound to statements of kind insert
	Payload           []protocol.PayloadEntry // that the client has sent
	PreparedID        []byte                  // of EXECUTE, or the first one in a BATCH

	// AnswerPayload is sent with the answer. Before may set it.
	AnswerPayload []protocol.PayloadEntry

	WantsValues bool // Before may set it: After gets Values

	// Of the answer, for After.
	Err        *cqlerr.Error // nil: it succeeded
	Took       time.Duration // since the request arrived
	Returned   int           // rows in the answer
	RowsRead   int           // before filters
	Tombstones int           // read
	Keys       []PartitionKey
	Values     []string // bound ones as literals, or "unset"; of a BATCH one statement's after the other

	Data any // the Inspector's own
}

// Part is one statement of a request.
type Part struct {
	Kind            string // select, insert, update, delete, truncate, use, describe or definition
	Keyspace, Table string // "" for definitions and statements without a table
	Text            string
	Prepared        bool
	Scan            bool // it reads all partitions: no key, token range or index restricts it
	Conditional     bool // it has conditions: IF
}

// PartitionKey is a partition that a request reads by its key or writes to.
type PartitionKey struct {
	Keyspace, Table string
	Key             string // the values of its columns, as literals with commas between them
}

// Inspect installs an inspector, for the requests that arrive from then on; nil removes it. While there is one,
// each request gets a goroutine.
func (s *Server) Inspect(i Inspector) {
	if i == nil {
		s.inspector.Store(nil)
		return
	}
	s.inspector.Store(&i)
}

// IsInspected reports whether there is an inspector.
func (s *Server) IsInspected() bool { return s.inspector.Load() != nil }

// inspection is a request that an inspector looks at.
type inspection struct {
	by      Inspector
	seen    Inspected
	touched *exec.Touched

	malformed bool // Before has returned ErrMalformed
}

// inspect shows the request to the inspector, if there is one.
func (r *request) inspect() error {
	by := r.conn.server.inspector.Load()
	if by == nil {
		return nil
	}
	i := &inspection{by: *by, seen: Inspected{
		Opcode:     r.header.Opcode.String(),
		Statements: r.texts(),
		Keyspace:   r.conn.session.currentKeyspace(),
		Client:     r.conn.remote,
		Node:       r.conn.node.Number,
		Options:    r.conn.session.options,
		Parts:      r.parts(),
		Payload:    slices.Clone(r.decoder.Payload),
		PreparedID: r.preparedID(),
	}}
	if p := r.parameters(); p != nil {
		i.seen.Consistency, i.seen.SerialConsistency = p.Consistency, p.SerialConsistency
	}
	i.touched = new(exec.Touched)
	if r.trace != nil {
		i.touched = &r.trace.Touched
	}
	i.seen.BatchType, i.seen.Nulls = r.batchType(), r.insertedNulls(i.seen.Parts)
	r.inspection = i
	err := i.by.Before(r.conn.ctx, &i.seen)
	r.prefix.Payload = i.seen.AnswerPayload
	if errors.Is(err, ErrMalformed) {
		i.malformed = true
		err = cqlerr.Serverf("%v", err)
	}
	return err
}

// preparedID is the first id in the request.
func (r *request) preparedID() []byte {
	switch m := r.message.(type) {
	case *protocol.Execute:
		return slices.Clone(m.ID)
	case *protocol.Batch:
		for i := range m.Children {
			if m.Children[i].Prepared {
				return slices.Clone(m.Children[i].ID)
			}
		}
	}
	return nil
}

// batchTypes are the names of the types of BATCH messages.
var batchTypes = [...]string{"logged", "unlogged", "counter"}

// batchType is the type of a BATCH, or "".
func (r *request) batchType() string {
	if m, ok := r.message.(*protocol.Batch); ok && int(m.Type) < len(batchTypes) {
		return batchTypes[m.Type]
	}
	return ""
}

// insertedNulls counts null values for statements that insert.
func (r *request) insertedNulls(parts []Part) (n int) {
	count := func(i int, values []types.Value) {
		if i >= len(parts) || parts[i].Kind != "insert" {
			return
		}
		for _, v := range values {
			if v.IsNull() {
				n++
			}
		}
	}
	switch m := r.message.(type) {
	case *protocol.Query:
		count(0, m.Parameters.Values)
	case *protocol.Execute:
		count(0, m.Parameters.Values)
	case *protocol.Batch:
		if len(parts) == len(m.Children) {
			for i := range m.Children {
				count(i, m.Children[i].Values)
			}
		}
	}
	return n
}

// parts finds or plans the statements of the request. Errors come up again when it is served.
func (r *request) parts() (all []Part) {
	s := r.conn.server
	switch m := r.message.(type) {
	case *protocol.Query:
		if err := r.planText(m.Query, &m.Parameters); err == nil {
			all = appendParts(all, r.statement, false)
		}
	case *protocol.Execute:
		if st, err := r.conn.node.prepared.Lookup(m.ID); err == nil {
			r.statement = st
			all = appendParts(all, st, true)
		}
	case *protocol.Prepare:
		keyspace := r.conn.session.currentKeyspace()
		if m.Flags&protocol.PrepareWithKeyspace != 0 {
			keyspace = m.Keyspace
		}
		_ = r.whenPlannable(m.Query, func(turn *pace.Turn) error {
			st, err := s.planner.Plan(turn, nil, m.Query, keyspace, false, s.store.Now())
			if err == nil {
				all = appendParts(all, st, false)
			}
			return err
		})
	case *protocol.Batch:
		for i := range m.Children {
			if st, err := r.childStatement(&m.Children[i], &m.Parameters); err == nil {
				all = appendParts(all, st, m.Children[i].Prepared)
			}
		}
	}
	return all
}

// appendParts appends a statement, or the statements of a BEGIN BATCH.
func appendParts(all []Part, st *statements.Statement, prepared bool) []Part {
	kind, table := observe.KindAndTable(st.Plan.Plan)
	part := Part{Kind: kind, Text: st.Text, Prepared: prepared}
	in := func(t *schema.Table) Part {
		if t != nil {
			part.Keyspace, part.Table = t.Keyspace, t.Name
		}
		return part
	}
	switch p := st.Plan.Plan.(type) {
	case *planner.Batch:
		for _, m := range p.Statements {
			part.Kind, table = observe.KindAndTable(m)
			part.Conditional = m.If != nil
			all = append(all, in(table))
		}
		return all
	case *planner.Modification:
		part.Conditional = p.If != nil
	case *planner.Select:
		part.Scan = p.Where.Partition == nil && p.Where.Token == nil && !p.Indexed && !p.Table.Virtual
	}
	return append(all, in(table))
}

// inspectAnswer shows the answer to the inspector. It returns the answer for the client; nil: the client gets none.
func (r *request) inspectAnswer(m protocol.Response) protocol.Response {
	i := r.inspection
	seen := &i.seen
	seen.Took = monotonic() - r.began
	switch m := m.(type) {
	case *protocol.Error:
		seen.Err = m.Err
	case *protocol.Rows:
		seen.Returned = m.Count
	}
	seen.RowsRead, seen.Tombstones = i.touched.Rows, i.touched.Tombstones
	for _, k := range i.touched.Keys {
		seen.Keys = append(seen.Keys, partitionKey(k))
	}
	err := i.by.After(seen)
	if i.malformed {
		err = ErrMalformed
	}
	switch {
	case err == nil:
		return m
	case errors.Is(err, ErrHangUp):
		r.conn.abort()
		return nil
	case errors.Is(err, ErrMalformed):
		r.sendMalformed()
		return nil
	}
	return r.conn.errorMessage(err)
}

// partitionKey prints a key.
func partitionKey(k exec.TouchedKey) PartitionKey {
	text := ""
	if values, err := types.SplitCompositeKey(k.Key, len(k.Table.PartitionKey)); err == nil {
		for i, v := range values {
			if i > 0 {
				text += ", "
			}
			text += k.Table.PartitionKey[i].Type.Format(v)
		}
	}
	return PartitionKey{Keyspace: k.Table.Keyspace, Table: k.Table.Name, Key: text}
}

// sendMalformed answers with a RESULT of rows that ends before its columns. A kind that does not exist would not do:
// Node's driver takes it for a success.
func (r *request) sendMalformed() {
	var envelope [protocol.HeaderSize + 4]byte
	envelope[0] = byte(r.header.Version) | 0x80
	binary.BigEndian.PutUint16(envelope[2:], uint16(r.header.Stream))
	envelope[4] = byte(protocol.OpResult)
	binary.BigEndian.PutUint32(envelope[5:], 4)
	binary.BigEndian.PutUint32(envelope[9:], 2) // the kind of rows
	r.conn.out.AppendEnvelope(envelope[:])
}
