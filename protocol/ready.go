package protocol

// Ready answers a STARTUP that needs no authentication, and REGISTER.
//
//	(empty)
type Ready struct{}

// Opcode is READY's.
func (*Ready) Opcode() Opcode { return OpReady }
func (*Ready) response()      {}

func (*Ready) append(dst []byte, _ Version) []byte { return dst }
func (*Ready) decode(*reader, Version)             {}
