package protocol

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

	// PKIndexes are the markers of the partition key columns, in the key's order, if each has one: from
	// their values a client computes who owns the row.
	PKIndexes []uint16

	// Result are the columns of the rows to come; nil if there will be none.
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
