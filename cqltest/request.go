package cqltest

import (
	"net/netip"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/server/control"
)

// Consistency is a consistency level.
type Consistency uint16

// The consistency levels.
const (
	Any Consistency = iota
	One
	Two
	Three
	Quorum
	All
	LocalQuorum
	EachQuorum
	Serial
	LocalSerial
	LocalOne
)

// SameLevel stands for the consistency level of the request, in Acts that name one.
const SameLevel = Consistency(control.SameLevel)

// String is the name of the level, such as LOCAL_QUORUM.
func (c Consistency) String() string { return cqlerr.Consistency(c).String() }

// Request is a request of a client, for an Interceptor and Fault.Match. They must not change it.
type Request struct {
	Opcode     string   // QUERY, PREPARE, EXECUTE or BATCH
	Statements []string // the text, or all texts of a BATCH; "" for an unknown prepared statement
	Keyspace   string   // of the session
	Parts      []Part   // its statements; none for a text that is refused or an id that is unknown

	Consistency       Consistency // of PREPARE: Any
	SerialConsistency Consistency

	Client  netip.AddrPort
	Node    int               // the number of the node that coordinates the request; 1: the server has no ring
	Options map[string]string // of the connection's STARTUP
	Payload map[string][]byte // the custom payload that the client has sent
}

// Part is one statement of a Request.
type Part struct {
	Kind            string // select, insert, update, delete, truncate, use, describe or definition
	Keyspace, Table string // "" for definitions and statements without a table
	Text            string
	Prepared        bool
	Scan            bool // it reads all partitions: no key, token range or index restricts it
	Conditional     bool // it has conditions: IF
}

// requestOf is a request as tests see it.
func requestOf(r *control.Request) *Request {
	own := &Request{
		Opcode: r.Opcode, Statements: r.Statements, Keyspace: r.Keyspace,
		Consistency: Consistency(r.Consistency), SerialConsistency: Consistency(r.SerialConsistency),
		Client: r.Client, Node: r.Node, Options: r.Options, Payload: r.Payload,
	}
	for _, p := range r.Parts {
		own.Parts = append(own.Parts, Part(p))
	}
	return own
}
