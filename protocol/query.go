package protocol

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
