package protocol

// SetKeyspace is the RESULT of USE.
//
//	<keyspace [string]>
type SetKeyspace struct{ Keyspace string }

// Opcode is RESULT's.
func (*SetKeyspace) Opcode() Opcode { return OpResult }
func (*SetKeyspace) response()      {}

func (m *SetKeyspace) append(dst []byte, _ Version) []byte {
	return appendString(appendInt(dst, resultSetKeyspace), m.Keyspace)
}

func (m *SetKeyspace) decode(r *reader, _ Version) { m.Keyspace = r.string() }
