package protocol

import "github.com/cqld/cqld/cql/cqlerr"

// RowsMetadata describes rows.
//
//	<flags [int]><columns [int]>[<paging state [bytes]>][<metadata id [short bytes]>][<column specs>]
type RowsMetadata struct {
	Columns *ColumnSpecs

	// Skip leaves the column specs out: the client knows them from PREPARE.
	Skip bool

	// PagingState continues with the next page; nil if this was the last.
	PagingState []byte

	// NewMetadataID tells since v5 that the columns are not those the client expected. They are then sent
	// whatever Skip says.
	NewMetadataID []byte
}

// The flags of section 4.2.5.2.
const (
	metadataGlobal  = 0x1
	metadataPages   = 0x2
	metadataNone    = 0x4
	metadataChanged = 0x8
)

func (m *RowsMetadata) append(dst []byte, v Version) []byte {
	changed := m.NewMetadataID != nil && v.HasResultMetadataID()
	skip := m.Skip && !changed || !m.Columns.known()
	var flags int32
	if m.Columns.isGlobal() {
		flags |= metadataGlobal
	}
	if m.PagingState != nil {
		flags |= metadataPages
	}
	if skip {
		flags |= metadataNone
	}
	if changed {
		flags |= metadataChanged
	}
	dst = appendInt(appendInt(dst, flags), int32(m.Columns.Len()))
	if m.PagingState != nil {
		dst = appendBytes(dst, m.PagingState)
	}
	if changed {
		dst = appendShortBytes(dst, m.NewMetadataID)
	}
	if skip {
		return dst
	}
	return m.Columns.append(dst, v)
}

func (m *RowsMetadata) decode(r *reader) {
	flags := r.int()
	n := r.columnCount()
	*m = RowsMetadata{Skip: flags&metadataNone != 0}
	if flags&metadataPages != 0 {
		m.PagingState = r.bytes()
	}
	if flags&metadataChanged != 0 {
		m.NewMetadataID = r.shortBytes()
	}
	global := flags&metadataGlobal != 0
	if m.Skip {
		m.Columns = &ColumnSpecs{count: n, global: global && n > 0}
		return
	}
	m.Columns = r.columnSpecs(n, global)
}

func (r *reader) columnCount() int {
	n := r.int()
	if n < 0 {
		r.fail(cqlerr.Protocolf("Invalid number of columns: %d", n))
		return 0
	}
	return int(n)
}
