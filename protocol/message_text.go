package protocol

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// The String methods print a message in one line. They omit bound values and credentials, and cut long texts: the
// lines may be logged.

// traceText quotes a statement for a trace.
func traceText(query string) string {
	const limit = 200
	if len(query) > limit {
		return fmt.Sprintf("%q... (%d bytes)", query[:limit], len(query))
	}
	return fmt.Sprintf("%q", query)
}

// Trace prints a header and its message in one line.
func Trace(h Header, m Message) string {
	arrow := ">"
	if h.Response {
		arrow = "<"
	}
	return fmt.Sprintf("%s %s stream %d flags %#02x %d bytes %s", arrow, h.Version, h.Stream, byte(h.Flags), h.Length, m)
}

// String is STARTUP with the options as key=value.
func (m *Startup) String() string {
	list := make([]string, len(m.Options))
	for i, o := range m.Options {
		list[i] = o.Key + "=" + o.Value
	}
	return "STARTUP " + strings.Join(list, " ")
}

// String is SUPPORTED with each option's values.
func (m *Supported) String() string {
	list := make([]string, len(m.Options))
	for i, o := range m.Options {
		list[i] = o.Key + "=" + strings.Join(o.Values, ",")
	}
	return "SUPPORTED " + strings.Join(list, " ")
}

// String is the opcode alone.
func (*Options) String() string { return "OPTIONS" }

// String is the opcode alone.
func (*Ready) String() string { return "READY" }

// String is the opcode alone: user and password must not be logged.
func (*Credentials) String() string { return "CREDENTIALS" }

// String is the opcode and the class of the authenticator.
func (m *Authenticate) String() string { return "AUTHENTICATE " + m.Authenticator }

// String is the opcode and the size of the token, which may be a password.
func (m *AuthResponse) String() string { return fmt.Sprintf("AUTH_RESPONSE %d bytes", len(m.Token)) }

// String is the opcode and the size of the token.
func (m *AuthChallenge) String() string { return fmt.Sprintf("AUTH_CHALLENGE %d bytes", len(m.Token)) }

// String is the opcode and the size of the token.
func (m *AuthSuccess) String() string { return fmt.Sprintf("AUTH_SUCCESS %d bytes", len(m.Token)) }

// String is the beginning of the statement and the parameters.
func (m *Query) String() string {
	return fmt.Sprintf("QUERY %s %s", traceText(m.Query), &m.Parameters)
}

// String is the beginning of the statement, and its keyspace if it has one.
func (m *Prepare) String() string {
	s := "PREPARE " + traceText(m.Query)
	if m.Flags&PrepareWithKeyspace != 0 {
		s += " keyspace " + m.Keyspace
	}
	return s
}

// String is the statement's ID in hexadecimal and the parameters.
func (m *Execute) String() string { return fmt.Sprintf("EXECUTE %x %s", m.ID, &m.Parameters) }

// String is the kind, the number of statements and the parameters.
func (m *Batch) String() string {
	kind := [...]string{"logged", "unlogged", "counter"}[min(m.Type, CounterBatch)]
	return fmt.Sprintf("BATCH %s %d statements %s", kind, len(m.Children), &m.Parameters)
}

// String prints the parameters without the values.
func (p *QueryParameters) String() string {
	var b strings.Builder
	b.WriteString(p.Consistency.String())
	write := func(flag ParameterFlags, format string, arg any) {
		if p.Flags.Has(flag) {
			fmt.Fprintf(&b, " "+format, arg)
		}
	}
	write(WithValues, "values %d", len(p.Values))
	write(SkipMetadata, "%s", "skip metadata")
	write(WithPageSize, "page %d", p.PageSize)
	write(WithPagingState, "state %x", p.PagingState)
	write(WithSerialConsistency, "serial %s", p.SerialConsistency)
	write(WithTimestamp, "timestamp %d", p.Timestamp)
	write(WithKeyspace, "keyspace %s", p.Keyspace)
	write(WithNow, "now %d", p.NowInSeconds)
	return b.String()
}

// String is REGISTER with the names as written by the client.
func (m *Register) String() string { return "REGISTER " + strings.Join(m.Names, " ") }

// String is the event and the change.
func (m *Event) String() string {
	if m.Type == SchemaChanges {
		return fmt.Sprintf("EVENT %s %s", m.Type, m.Schema.change())
	}
	return fmt.Sprintf("EVENT %s %s %s", m.Type, m.Change, m.Node)
}

// String is the code and the beginning of the message.
func (m *Error) String() string {
	if m.Err == nil {
		m = &Error{Err: &cqlerr.Error{}}
	}
	return fmt.Sprintf("ERROR %#04x %s", uint32(m.Err.Code), traceText(m.Err.Message))
}

// String is the kind of the result.
func (*Void) String() string { return "RESULT void" }

// String is the kind and the keyspace.
func (m *SetKeyspace) String() string { return "RESULT set keyspace " + m.Keyspace }

// String is the change.
func (m *SchemaChange) String() string { return "RESULT schema change " + m.change() }

func (m *SchemaChange) change() string {
	s := m.Change + " " + m.Target + " " + m.Keyspace
	if m.Name != "" {
		s += "." + m.Name
	}
	if m.callable() {
		s += "(" + strings.Join(m.Args, ", ") + ")"
	}
	return s
}

// String is the number of rows and columns, without values.
func (m *Rows) String() string {
	s := fmt.Sprintf("RESULT rows %d of %d columns", m.Count, m.Metadata.Columns.Len())
	if m.Metadata.Skip {
		s += " without metadata"
	}
	if m.Metadata.NewMetadataID != nil {
		s += fmt.Sprintf(" metadata %x", m.Metadata.NewMetadataID)
	}
	if m.Metadata.PagingState != nil {
		s += fmt.Sprintf(" next page %x", m.Metadata.PagingState)
	}
	return s
}

// String is the ID and the numbers of markers and columns.
func (m *Prepared) String() string {
	return fmt.Sprintf("RESULT prepared %x %d markers %d columns", m.ID, m.Bind.Len(), m.Result.Len())
}
