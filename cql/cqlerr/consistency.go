package cqlerr

import "fmt"

// Consistency is a consistency level as the protocol numbers it. It lives here because errors name it
// and every layer passes it on; the protocol package encodes it.
type Consistency uint16

// The levels in protocol order.
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
	NodeLocal
)

var consistencyNames = [...]string{
	"ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL",
	"LOCAL_SERIAL", "LOCAL_ONE", "NODE_LOCAL",
}

// Known reports whether c is a level of the protocol.
func (c Consistency) Known() bool { return int(c) < len(consistencyNames) }

// IsSerial reports whether c is one of the two levels of lightweight transactions.
func (c Consistency) IsSerial() bool { return c == Serial || c == LocalSerial }

// String is the name in capitals, as error texts have it.
func (c Consistency) String() string {
	if c.Known() {
		return consistencyNames[c]
	}
	return fmt.Sprintf("UNKNOWN_%d", uint16(c))
}
