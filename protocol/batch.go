package protocol

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Batch applies modifications as one unit.
//
//	<type [byte]><n [short]>(<kind [byte]><query [long string] or id [short bytes]>
//		<n [short]>(<value [value]>)*)*<query_parameters>
//
// The values cannot have names. Only the parameters consistency, serial consistency, timestamp, keyspace and now have
// an effect; others are read and ignored.
type Batch struct {
	Type       BatchType
	Children   []BatchChild
	Parameters QueryParameters

	values []types.Value // of all children
}

// BatchType is how a batch is applied.
type BatchType byte

// The types of batches.
const (
	LoggedBatch BatchType = iota
	UnloggedBatch
	CounterBatch
)

// BatchChild is one statement of a batch: an ID if it is prepared, else a Query.
type BatchChild struct {
	Prepared bool
	Query    string
	ID       []byte
	Values   []types.Value
}

// The kinds of children on the wire.
const (
	batchText     = 0
	batchPrepared = 1
)

// Opcode is BATCH's.
func (*Batch) Opcode() Opcode { return OpBatch }
func (*Batch) request()       {}

func (m *Batch) append(dst []byte, v Version) []byte {
	dst = appendCount(append(dst, byte(m.Type)), len(m.Children))
	for i := range m.Children[:min(len(m.Children), maxShort)] {
		c := &m.Children[i]
		if c.Prepared {
			dst = appendShortBytes(append(dst, batchPrepared), c.ID)
		} else {
			dst = appendLongString(append(dst, batchText), c.Query)
		}
		dst = appendCount(dst, len(c.Values))
		for _, val := range c.Values[:min(len(c.Values), maxShort)] {
			dst = appendValue(dst, val, v)
		}
	}
	return m.Parameters.append(dst, v)
}

func (m *Batch) decode(r *reader, v Version) {
	m.Type, m.Children, m.values = BatchType(r.byte()), reuse(m.Children), reuse(m.values)
	if m.Type > CounterBatch {
		r.fail(cqlerr.Protocolf("Invalid BATCH message type %d", int8(m.Type)))
	}
	for n := r.short(); n > 0 && r.err == nil; n-- {
		m.Children = append(m.Children, m.decodeChild(r, v))
	}
	m.Parameters.decode(r, v)
}

// decodeChild decodes a child; its values are a part of the slice that all children share.
func (m *Batch) decodeChild(r *reader, v Version) (c BatchChild) {
	switch kind := r.byte(); {
	case r.err != nil:
		return c
	case kind == batchText:
		c.Query = r.longString()
	case kind == batchPrepared:
		c.Prepared, c.ID = true, r.shortBytes()
	default:
		r.fail(cqlerr.Protocolf("Invalid query kind in BATCH messages. Must be 0 or 1 but got %d", int8(kind)))
	}
	first := len(m.values)
	for n := r.short(); n > 0 && r.err == nil; n-- {
		m.values = append(m.values, r.value(v))
	}
	c.Values = m.values[first:len(m.values):len(m.values)]
	return c
}
