package protocol

// Prepare asks the server to plan a statement and keep the plan.
//
//	<query [long string]>[<flags [int]>[<keyspace [string]>]]		flags and keyspace since v5
type Prepare struct {
	Query    string
	Flags    PrepareFlags
	Keyspace string // instead of the connection's, with PrepareWithKeyspace
}

// PrepareFlags lists the parts after the text. Unknown flags are ignored.
type PrepareFlags uint32

// PrepareWithKeyspace is the only flag of PREPARE.
const PrepareWithKeyspace PrepareFlags = 0x1

// Opcode is PREPARE's.
func (*Prepare) Opcode() Opcode { return OpPrepare }
func (*Prepare) request()       {}

func (m *Prepare) append(dst []byte, v Version) []byte {
	dst = appendLongString(dst, m.Query)
	if !v.HasPrepareFlags() {
		return dst
	}
	dst = appendInt(dst, int32(m.Flags))
	if m.Flags&PrepareWithKeyspace != 0 {
		dst = appendString(dst, m.Keyspace)
	}
	return dst
}

func (m *Prepare) decode(r *reader, v Version) {
	*m = Prepare{Query: r.longString()}
	if v.HasPrepareFlags() {
		m.Flags = PrepareFlags(r.int())
	}
	if m.Flags&PrepareWithKeyspace != 0 {
		m.Keyspace = r.string()
	}
}

// Prepared is the RESULT of PREPARE.
//
//	<id [short bytes]>[<result_metadata_id [short bytes]>]<bind metadata><result metadata>		the second id since v5
//
// The bind metadata describes the markers; indexes since v4:
//
//	<flags [int]><markers [int]>[<n [int]>(<index [short]>)*][<column specs>]
//
// The result metadata is that of Rows.
type Prepared struct {
	ID               []byte
	ResultMetadataID []byte

	// Bind are the markers; nil is none.
	Bind *ColumnSpecs

	// PKIndexes are the markers of the partition key columns in the key's order, if each column has one: from their
	// values a client computes the owner of the row.
	PKIndexes []uint16

	// Result has the columns of the result; nil if there are none.
	Result *ColumnSpecs
}

// Opcode is RESULT's.
func (*Prepared) Opcode() Opcode { return OpResult }
func (*Prepared) response()      {}

func (m *Prepared) append(dst []byte, v Version) []byte {
	dst = appendShortBytes(appendInt(dst, resultPrepared), m.ID)
	if v.HasResultMetadataID() {
		dst = appendShortBytes(dst, m.ResultMetadataID)
	}
	dst = m.appendBind(dst, v)
	result := RowsMetadata{Columns: m.Result, Skip: m.Result == nil}
	return result.append(dst, v)
}

func (m *Prepared) appendBind(dst []byte, v Version) []byte {
	var flags int32
	if m.Bind.isGlobal() {
		flags = metadataGlobal
	}
	dst = appendInt(appendInt(dst, flags), int32(m.Bind.Len()))
	if v.HasPKIndexes() {
		dst = appendInt(dst, int32(len(m.PKIndexes)))
		for _, i := range m.PKIndexes {
			dst = appendShort(dst, int(i))
		}
	}
	return m.Bind.append(dst, v)
}

func (m *Prepared) decode(r *reader, v Version) {
	*m = Prepared{ID: r.shortBytes()}
	if v.HasResultMetadataID() {
		m.ResultMetadataID = r.shortBytes()
	}
	flags, n := r.int(), r.columnCount()
	if v.HasPKIndexes() {
		for k := r.int(); k > 0 && r.err == nil; k-- {
			m.PKIndexes = append(m.PKIndexes, uint16(r.short()))
		}
	}
	m.Bind = r.columnSpecs(n, flags&metadataGlobal != 0)
	var result RowsMetadata
	result.decode(r)
	if !result.Skip {
		m.Result = result.Columns
	}
}
