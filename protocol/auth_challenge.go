package protocol

// AuthChallenge asks the client for another step of authentication. SASL PLAIN has none.
//
//	<token [bytes]>
type AuthChallenge struct{ Token []byte }

// Opcode is AUTH_CHALLENGE's.
func (*AuthChallenge) Opcode() Opcode { return OpAuthChallenge }
func (*AuthChallenge) response()      {}

func (m *AuthChallenge) append(dst []byte, _ Version) []byte { return appendBytes(dst, m.Token) }
func (m *AuthChallenge) decode(r *reader, _ Version)         { m.Token = r.bytes() }
