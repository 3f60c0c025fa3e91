package protocol

import (
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// Startup opens a connection.
//
//	<options [string map]>
type Startup struct{ Options []Option }

// Option is one entry of a [string map], which has an order on the wire.
type Option struct{ Key, Value string }

// The options of STARTUP that have an effect, spelled as Cassandra compares them: keys in upper case.
const (
	OptionCQLVersion      = "CQL_VERSION"
	OptionCompression     = "COMPRESSION"
	OptionThrowOnOverload = "THROW_ON_OVERLOAD"
	OptionDriverName      = "DRIVER_NAME"
	OptionDriverVersion   = "DRIVER_VERSION"
	OptionNoCompact       = "NO_COMPACT"
)

// Get returns the value of an option, given in upper case. Keys from clients are case-insensitive; the last of equal
// ones counts.
func (m *Startup) Get(key string) (string, bool) {
	for i := len(m.Options) - 1; i >= 0; i-- {
		if strings.ToUpper(m.Options[i].Key) == key {
			return m.Options[i].Value, true
		}
	}
	return "", false
}

// Map returns all options with their keys in upper case.
func (m *Startup) Map() map[string]string {
	all := make(map[string]string, len(m.Options))
	for _, o := range m.Options {
		all[strings.ToUpper(o.Key)] = o.Value
	}
	return all
}

// Opcode is STARTUP's.
func (*Startup) Opcode() Opcode { return OpStartup }
func (*Startup) request()       {}

func (m *Startup) append(dst []byte, _ Version) []byte {
	dst = appendCount(dst, len(m.Options))
	for _, o := range m.Options[:min(len(m.Options), maxShort)] {
		dst = appendString(appendString(dst, o.Key), o.Value)
	}
	return dst
}

func (m *Startup) decode(r *reader, _ Version) {
	m.Options = reuse(m.Options)
	for n := r.short(); n > 0 && r.err == nil; n-- {
		m.Options = append(m.Options, Option{Key: r.string(), Value: r.string()})
	}
}

// Options asks for the supported options. Drivers also send it to see whether a connection is alive.
//
//	(empty)
type Options struct{}

// Opcode is OPTIONS'.
func (*Options) Opcode() Opcode { return OpOptions }
func (*Options) request()       {}

func (*Options) append(dst []byte, _ Version) []byte { return dst }
func (*Options) decode(*reader, Version)             {}

// Supported answers OPTIONS.
//
//	<options [string multimap]>
type Supported struct{ Options []SupportedOption }

// SupportedOption is one key of SUPPORTED with its allowed values.
type SupportedOption struct {
	Key    string
	Values []string
}

// Get returns the values of an option.
func (m *Supported) Get(key string) []string {
	for _, o := range m.Options {
		if o.Key == key {
			return o.Values
		}
	}
	return nil
}

// Opcode is SUPPORTED's.
func (*Supported) Opcode() Opcode { return OpSupported }
func (*Supported) response()      {}

func (m *Supported) append(dst []byte, _ Version) []byte {
	dst = appendCount(dst, len(m.Options))
	for _, o := range m.Options[:min(len(m.Options), maxShort)] {
		dst = appendStringList(appendString(dst, o.Key), o.Values)
	}
	return dst
}

func (m *Supported) decode(r *reader, _ Version) {
	m.Options = reuse(m.Options)
	for n := r.short(); n > 0 && r.err == nil; n-- {
		m.Options = append(m.Options, SupportedOption{Key: r.string(), Values: r.stringList()})
	}
}

// Ready answers a STARTUP that needs no authentication, and REGISTER.
//
//	(empty)
type Ready struct{}

// Opcode is READY's.
func (*Ready) Opcode() Opcode { return OpReady }
func (*Ready) response()      {}

func (*Ready) append(dst []byte, _ Version) []byte { return dst }
func (*Ready) decode(*reader, Version)             {}

// Authenticate answers STARTUP and asks for AUTH_RESPONSE. Drivers recognise the authenticator by its class name.
//
//	<authenticator [string]>
type Authenticate struct{ Authenticator string }

// PasswordAuthenticator is the authenticator that drivers know without configuration: its tokens are SASL
// PLAIN, three parts separated by NUL.
const PasswordAuthenticator = "org.apache.cassandra.auth.PasswordAuthenticator"

// The authenticators that identify clients by certificate: only so, or with passwords for clients without one.
const (
	MutualTLSAuthenticator             = "org.apache.cassandra.auth.MutualTlsAuthenticator"
	MutualTLSWithPasswordAuthenticator = "org.apache.cassandra.auth.MutualTlsWithPasswordFallbackAuthenticator"
)

// Opcode is AUTHENTICATE's.
func (*Authenticate) Opcode() Opcode { return OpAuthenticate }
func (*Authenticate) response()      {}

func (m *Authenticate) append(dst []byte, _ Version) []byte {
	return appendString(dst, m.Authenticator)
}
func (m *Authenticate) decode(r *reader, _ Version) { m.Authenticator = r.string() }

// AuthChallenge asks the client for another step of authentication. SASL PLAIN has none.
//
//	<token [bytes]>
type AuthChallenge struct{ Token []byte }

// Opcode is AUTH_CHALLENGE's.
func (*AuthChallenge) Opcode() Opcode { return OpAuthChallenge }
func (*AuthChallenge) response()      {}

func (m *AuthChallenge) append(dst []byte, _ Version) []byte { return appendBytes(dst, m.Token) }
func (m *AuthChallenge) decode(r *reader, _ Version)         { m.Token = r.bytes() }

// AuthResponse answers AUTHENTICATE or AUTH_CHALLENGE with the data of the mechanism.
//
//	<token [bytes]>
type AuthResponse struct{ Token []byte }

// Opcode is AUTH_RESPONSE's.
func (*AuthResponse) Opcode() Opcode { return OpAuthResponse }
func (*AuthResponse) request()       {}

func (m *AuthResponse) append(dst []byte, _ Version) []byte { return appendBytes(dst, m.Token) }
func (m *AuthResponse) decode(r *reader, _ Version)         { m.Token = r.bytes() }

// AuthSuccess ends a successful authentication; the token is null with SASL PLAIN.
//
//	<token [bytes]>
type AuthSuccess struct{ Token []byte }

// Opcode is AUTH_SUCCESS'.
func (*AuthSuccess) Opcode() Opcode { return OpAuthSuccess }
func (*AuthSuccess) response()      {}

func (m *AuthSuccess) append(dst []byte, _ Version) []byte { return appendBytes(dst, m.Token) }
func (m *AuthSuccess) decode(r *reader, _ Version)         { m.Token = r.bytes() }

// Credentials is the authentication of version 1. Its opcode exists in every version, but no body is accepted.
type Credentials struct{}

// Opcode is CREDENTIALS'.
func (*Credentials) Opcode() Opcode { return OpCredentials }
func (*Credentials) request()       {}

func (*Credentials) append(dst []byte, _ Version) []byte { return dst }
func (*Credentials) decode(r *reader, _ Version)         { r.fail(cqlerr.Protocolf("Unsupported message")) }

// Register asks for events on this connection.
//
//	<event types [string list]>
//
// EventTypes parses the names. It is separate from decoding because Cassandra registers the names before one that the
// version does not have.
type Register struct{ Names []string }

// EventType is a kind of event.
type EventType string

// The events. TraceComplete may be asked for and is never sent.
const (
	TopologyChange EventType = "TOPOLOGY_CHANGE"
	StatusChange   EventType = "STATUS_CHANGE"
	SchemaChanges  EventType = "SCHEMA_CHANGE"
	TraceComplete  EventType = "TRACE_COMPLETE"
)

// EventTypes returns the types of the names, which are case-insensitive: none if a name is unknown, otherwise the
// types before the first that the version does not have.
func (m *Register) EventTypes(v Version) ([]EventType, error) {
	list := make([]EventType, 0, len(m.Names))
	for _, name := range m.Names {
		switch t := EventType(strings.ToUpper(name)); t {
		case TopologyChange, StatusChange, SchemaChanges, TraceComplete:
			list = append(list, t)
		default:
			return nil, cqlerr.Protocolf("Invalid value '%s' for Type", name)
		}
	}
	for i, t := range list {
		if t == TraceComplete && !v.HasTraceEvents() {
			return list[:i], cqlerr.Protocolf("Event %s not valid for protocol version %s", t, v)
		}
	}
	return list, nil
}

// Opcode is REGISTER's.
func (*Register) Opcode() Opcode { return OpRegister }
func (*Register) request()       {}

func (m *Register) append(dst []byte, _ Version) []byte { return appendStringList(dst, m.Names) }
func (m *Register) decode(r *reader, _ Version)         { m.Names = r.appendStrings(reuse(m.Names)) }
