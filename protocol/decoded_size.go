package protocol

import (
	"unsafe"

	"github.com/cqld/cqld/cql/types"
)

// Sizes of decoded list elements, without their contents.
const (
	decodedValue = int64(unsafe.Sizeof(types.Value{}))
	decodedName  = int64(unsafe.Sizeof(""))
	decodedChild = int64(unsafe.Sizeof(BatchChild{}))
	decodedEntry = int64(unsafe.Sizeof(PayloadEntry{}))
)

// DecodedSize estimates the memory of a request: its body plus the decoded message. A null value has 4 bytes in the
// body and 32 decoded, so the sum may be nine times the body. It reads only the lengths and allocates nothing, unless
// the body is malformed.
func DecodedSize(h Header, body []byte) int64 {
	r, size := reader{b: body}, int64(len(body))
	if h.Flags.Has(FlagCustomPayload) && h.Version.HasPayload() {
		size += r.skipPayload()
	}
	switch h.Opcode {
	case OpQuery:
		r.take(int(r.int()), "")
		size += r.skipValues(h.Version)
	case OpExecute:
		r.shortBytes()
		if h.Version.HasResultMetadataID() {
			r.shortBytes()
		}
		size += r.skipValues(h.Version)
	case OpBatch:
		size += r.skipChildren()
	}
	return size
}

// count reads the number of elements that follow, limited to the number that fits into the body.
func (r *reader) count(minSize int) int64 {
	n := r.short()
	return int64(min(n, len(r.b)/minSize))
}

// skipPayload returns the size of the entries of a decoded payload.
func (r *reader) skipPayload() int64 {
	n := r.count(6)
	for range n {
		r.shortBytes()
		r.bytes()
	}
	return n * decodedEntry
}

// skipValues returns the size of the values of decoded query parameters; the parts after them are small.
func (r *reader) skipValues(v Version) int64 {
	r.short() // the consistency
	var flags ParameterFlags
	if v.WideFlags() {
		flags = ParameterFlags(r.int())
	} else {
		flags = ParameterFlags(r.byte())
	}
	switch {
	case !flags.Has(WithValues):
		return 0
	case flags.Has(WithNames):
		return r.count(6) * (decodedValue + decodedName)
	}
	return r.count(4) * decodedValue
}

// skipChildren returns the size of the decoded statements of a BATCH and of their values.
func (r *reader) skipChildren() (size int64) {
	r.byte()
	for n := r.count(5); n > 0 && r.err == nil; n-- {
		if r.byte() == batchText {
			r.take(int(r.int()), "")
		} else {
			r.shortBytes()
		}
		values := r.count(4)
		size += decodedChild + values*decodedValue
		for range values {
			r.bytes()
		}
	}
	return size
}
