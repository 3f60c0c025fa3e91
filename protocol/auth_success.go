package protocol

// AuthSuccess ends a successful authentication; the token is null with SASL PLAIN.
//
//	<token [bytes]>
type AuthSuccess struct{ Token []byte }

// Opcode is AUTH_SUCCESS'.
func (*AuthSuccess) Opcode() Opcode { return OpAuthSuccess }
func (*AuthSuccess) response()      {}

func (m *AuthSuccess) append(dst []byte, _ Version) []byte { return appendBytes(dst, m.Token) }
func (m *AuthSuccess) decode(r *reader, _ Version)         { m.Token = r.bytes() }
