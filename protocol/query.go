package protocol

import (
	"math"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Query runs one statement given as text.
//
//	<query [long string]><query_parameters>
type Query struct {
	Query      string
	Parameters QueryParameters
}

// Opcode is QUERY's.
func (*Query) Opcode() Opcode { return OpQuery }
func (*Query) request()       {}

func (m *Query) append(dst []byte, v Version) []byte {
	return m.Parameters.append(appendLongString(dst, m.Query), v)
}

func (m *Query) decode(r *reader, v Version) {
	m.Query = r.longString()
	m.Parameters.decode(r, v)
}

// Execute runs a prepared statement.
//
//	<id [short bytes]>[<result_metadata_id [short bytes]>]<query_parameters>		the second id since v5
type Execute struct {
	ID               []byte
	ResultMetadataID []byte // of the columns that the client expects
	Parameters       QueryParameters
}

// Opcode is EXECUTE's.
func (*Execute) Opcode() Opcode { return OpExecute }
func (*Execute) request()       {}

func (m *Execute) append(dst []byte, v Version) []byte {
	dst = appendShortBytes(dst, m.ID)
	if v.HasResultMetadataID() {
		dst = appendShortBytes(dst, m.ResultMetadataID)
	}
	return m.Parameters.append(dst, v)
}

func (m *Execute) decode(r *reader, v Version) {
	m.ID, m.ResultMetadataID = r.shortBytes(), nil
	if v.HasResultMetadataID() {
		m.ResultMetadataID = r.shortBytes()
	}
	m.Parameters.decode(r, v)
}

// Consistency is a consistency level as requests carry it.
type Consistency = cqlerr.Consistency

// ParameterFlags lists the present query parameters. Unknown flags are ignored.
type ParameterFlags uint32

// The flags of section 4.1.4. Before v5 they are one byte.
const (
	WithValues            ParameterFlags = 0x001
	SkipMetadata          ParameterFlags = 0x002 // has no content: asks for rows without columns
	WithPageSize          ParameterFlags = 0x004
	WithPagingState       ParameterFlags = 0x008
	WithSerialConsistency ParameterFlags = 0x010
	WithTimestamp         ParameterFlags = 0x020
	WithNames             ParameterFlags = 0x040 // of the values; ignored without values
	WithKeyspace          ParameterFlags = 0x080
	WithNow               ParameterFlags = 0x100
)

// Has reports whether f contains flag.
func (f ParameterFlags) Has(flag ParameterFlags) bool { return f&flag != 0 }

// QueryParameters are the parameters of QUERY, EXECUTE and BATCH.
//
//	<consistency [consistency]><flags [byte], since v5 [int]>
//		[<n [short]>([<name [string]>]<value [value]>)*]
//		[<page size [int]>][<paging state [bytes]>][<serial consistency [consistency]>]
//		[<timestamp [long]>][<keyspace [string]>][<now in seconds [int]>]
//
// Flags decides which fields are sent. Decoding sets missing fields to their defaults.
type QueryParameters struct {
	Consistency       Consistency
	Flags             ParameterFlags
	Values            []types.Value
	Names             []string // one for each value, or none
	PageSize          int32
	PagingState       []byte
	SerialConsistency Consistency // Serial by default
	Timestamp         int64       // microseconds
	Keyspace          string
	NowInSeconds      int32
}

// CheckPageSize refuses a page size of 0. It is separate from decoding because Cassandra checks the page size after
// it has found the statement.
func (p *QueryParameters) CheckPageSize() error {
	if p.Flags.Has(WithPageSize) && p.PageSize == 0 {
		return cqlerr.Protocolf("The page size cannot be 0")
	}
	return nil
}

func (p *QueryParameters) decode(r *reader, v Version) {
	*p = QueryParameters{Values: reuse(p.Values), Names: reuse(p.Names), SerialConsistency: cqlerr.Serial}
	p.Consistency = r.consistency()
	if v.WideFlags() {
		p.Flags = ParameterFlags(r.int())
	} else {
		p.Flags = ParameterFlags(r.byte())
	}
	if p.Flags.Has(WithValues) {
		p.decodeValues(r, v)
	}
	if p.Flags.Has(WithPageSize) {
		p.PageSize = r.int()
	}
	if p.Flags.Has(WithPagingState) {
		p.PagingState = r.bytes()
	}
	if p.Flags.Has(WithSerialConsistency) {
		p.SerialConsistency = r.consistency()
	}
	if p.Flags.Has(WithTimestamp) {
		p.Timestamp = r.timestamp()
	}
	if p.Flags.Has(WithKeyspace) {
		p.Keyspace = r.string()
	}
	if p.Flags.Has(WithNow) {
		p.NowInSeconds = r.int()
	}
}

func (p *QueryParameters) decodeValues(r *reader, v Version) {
	named := p.Flags.Has(WithNames)
	n := r.short()
	p.Values = slices.Grow(p.Values, min(n, len(r.b)/4)) // appending would make slices of twice the size
	for ; n > 0 && r.err == nil; n-- {
		if named {
			p.Names = append(p.Names, r.string())
		}
		p.Values = append(p.Values, r.value(v))
	}
}

// timestamp decodes a write time. Cassandra reserves the smallest number.
func (r *reader) timestamp() int64 {
	t := r.long()
	if t == math.MinInt64 {
		r.fail(cqlerr.Protocolf("Out of bound timestamp, must be in [%d, %d] (got %d)",
			math.MinInt64+1, math.MaxInt64, t))
	}
	return t
}

func (p *QueryParameters) append(dst []byte, v Version) []byte {
	dst = appendConsistency(dst, p.Consistency)
	if v.WideFlags() {
		dst = appendInt(dst, int32(p.Flags))
	} else {
		dst = append(dst, byte(p.Flags))
	}
	if p.Flags.Has(WithValues) {
		dst = p.appendValues(dst, v)
	}
	if p.Flags.Has(WithPageSize) {
		dst = appendInt(dst, p.PageSize)
	}
	if p.Flags.Has(WithPagingState) {
		dst = appendBytes(dst, p.PagingState)
	}
	if p.Flags.Has(WithSerialConsistency) {
		dst = appendConsistency(dst, p.SerialConsistency)
	}
	if p.Flags.Has(WithTimestamp) {
		dst = appendLong(dst, p.Timestamp)
	}
	if p.Flags.Has(WithKeyspace) {
		dst = appendString(dst, p.Keyspace)
	}
	if p.Flags.Has(WithNow) && v.WideFlags() {
		dst = appendInt(dst, p.NowInSeconds)
	}
	return dst
}

func (p *QueryParameters) appendValues(dst []byte, v Version) []byte {
	named := p.Flags.Has(WithNames)
	dst = appendCount(dst, len(p.Values))
	for i, val := range p.Values[:min(len(p.Values), maxShort)] {
		if named {
			dst = appendString(dst, p.Names[i])
		}
		dst = appendValue(dst, val, v)
	}
	return dst
}
