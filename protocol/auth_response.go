package protocol

// AuthResponse answers AUTHENTICATE or AUTH_CHALLENGE with what the mechanism wants.
//
//	<token [bytes]>
type AuthResponse struct{ Token []byte }

// Opcode is AUTH_RESPONSE's.
func (*AuthResponse) Opcode() Opcode { return OpAuthResponse }
func (*AuthResponse) request()       {}

func (m *AuthResponse) append(dst []byte, _ Version) []byte { return appendBytes(dst, m.Token) }
func (m *AuthResponse) decode(r *reader, _ Version)         { m.Token = r.bytes() }
