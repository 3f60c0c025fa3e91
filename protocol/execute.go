package protocol

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
