package wire

import (
	"bytes"
	"encoding/binary"
)

// complete makes the whole of a request that the recording cuts, if it can: a BATCH of long texts, or the same
// envelope in many segments.
func (x *exchange) complete(size int) bool {
	begin := x.request
	whole := begin
	switch {
	case x.state.raw:
		whole = repeatedSegments(begin, size)
	case x.is(opBatch):
		whole = longBatch(begin, size)
	}
	if len(whole) != size || !bytes.HasPrefix(whole, begin) {
		return false
	}
	x.request = whole
	return true
}

// longBatch has one prepared statement for consecutive keys, each with a text of the same length.
func longBatch(begin []byte, size int) []byte {
	const beforeStatements, keyAt, textAt = 12, 25, 33
	whole := bytes.Clone(begin[:beforeStatements])
	for i := range binary.BigEndian.Uint16(begin[10:]) {
		statement := bytes.Clone(begin[beforeStatements : beforeStatements+textAt])
		key := binary.BigEndian.Uint32(statement[keyAt:]) + uint32(i)
		binary.BigEndian.PutUint32(statement[keyAt:], key)
		length := binary.BigEndian.Uint32(statement[textAt-4:])
		whole = append(append(whole, statement...), bytes.Repeat([]byte("w"), int(length))...)
	}
	whole = append(whole, 0, 1)                                    // consistency ONE
	return append(whole, make([]byte, max(0, size-len(whole)))...) // no flags
}

// repeatedSegments has one envelope under consecutive stream ids, each in a separate segment.
func repeatedSegments(begin []byte, size int) []byte {
	envelope, rest, header, err := takeSegment(begin, false)
	if err != nil || header == 0 {
		return nil
	}
	envelope = bytes.Clone(envelope)
	var whole []byte
	for i := range size / (len(begin) - len(rest)) {
		binary.BigEndian.PutUint16(envelope[2:], uint16(i))
		whole = append(whole, segments(envelope, false)...)
	}
	return whole
}
