package protocol

// Void is the RESULT of a statement that has nothing to say.
//
//	(empty)
type Void struct{}

// Opcode is RESULT's.
func (*Void) Opcode() Opcode { return OpResult }
func (*Void) response()      {}

func (*Void) append(dst []byte, _ Version) []byte { return appendInt(dst, resultVoid) }
func (*Void) decode(*reader, Version)             {}
