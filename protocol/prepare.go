package protocol

// Prepare asks the server to plan a statement and keep the plan.
//
//	<query [long string]>[<flags [int]>[<keyspace [string]>]]		flags and keyspace since v5
type Prepare struct {
	Query    string
	Flags    PrepareFlags
	Keyspace string // instead of the connection's, if Flags says so
}

// PrepareFlags say what is there behind the text. Unknown ones are ignored.
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
