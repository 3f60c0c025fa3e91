package protocol

// Options asks what the server supports. Drivers also send it to see whether a connection is alive.
//
//	(empty)
type Options struct{}

// Opcode is OPTIONS'.
func (*Options) Opcode() Opcode { return OpOptions }
func (*Options) request()       {}

func (*Options) append(dst []byte, _ Version) []byte { return dst }
func (*Options) decode(*reader, Version)             {}
