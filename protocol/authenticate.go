package protocol

// Authenticate answers a STARTUP that has to be followed by AUTH_RESPONSE. Drivers recognise the
// authenticator by its class name.
//
//	<authenticator [string]>
type Authenticate struct{ Authenticator string }

// PasswordAuthenticator is the authenticator that drivers know without configuration: its tokens are SASL
// PLAIN, three parts separated by NUL.
const PasswordAuthenticator = "org.apache.cassandra.auth.PasswordAuthenticator"

// The authenticators that know a client by its certificate: alone, and with passwords for clients that show none.
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
