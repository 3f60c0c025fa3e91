package protocol

import "github.com/cqld/cqld/cql/cqlerr"

// Credentials is how version 1 authenticated. Its opcode exists in every version, but no body is accepted.
type Credentials struct{}

// Opcode is CREDENTIALS'.
func (*Credentials) Opcode() Opcode { return OpCredentials }
func (*Credentials) request()       {}

func (*Credentials) append(dst []byte, _ Version) []byte { return dst }
func (*Credentials) decode(r *reader, _ Version)         { r.fail(cqlerr.Protocolf("Unsupported message")) }
