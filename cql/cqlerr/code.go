package cqlerr

import "fmt"

// Code is an error code of the native protocol (section 9 of its specification). Drivers have an exception class for
// each, so the code matters more than the text.
type Code uint32

// The codes in the specification's order. The comments name the cause.
const (
	ServerError     Code = 0x0000 // nothing: we failed, and the log has the reason
	ProtocolError   Code = 0x000A // sent bytes that are not a message, or a message out of turn
	BadCredentials  Code = 0x0100 // logged in with a wrong password
	Unavailable     Code = 0x1000 // asked for more replicas than the cluster has
	Overloaded      Code = 0x1001 // sent more than the limits allow
	IsBootstrapping Code = 0x1002 // asked a node that is still joining
	TruncateError   Code = 0x1003 // TRUNCATE failed on the way
	WriteTimeout    Code = 0x1100 // a write was not confirmed in time
	ReadTimeout     Code = 0x1200 // a read was not answered in time
	ReadFailure     Code = 0x1300 // a read failed, for example at the tombstone limit
	FunctionFailure Code = 0x1400 // called a user function that threw
	WriteFailure    Code = 0x1500 // a write failed on the replica
	CDCWriteFailure Code = 0x1600 // wrote to a CDC table without space left
	CASWriteUnknown Code = 0x1700 // a conditional write whose outcome is not known
	SyntaxError     Code = 0x2000 // SELEC * FROM t
	Unauthorized    Code = 0x2100 // lacks a permission
	Invalid         Code = 0x2200 // SELECT nope FROM t
	ConfigError     Code = 0x2300 // WITH gc_grace_seconds = -1
	AlreadyExists   Code = 0x2400 // CREATE TABLE of an existing table
	Unprepared      Code = 0x2500 // EXECUTE of an id that is not cached here
)

// Consistency is a consistency level with its protocol number. It is defined here because errors contain it and every
// layer uses it; package protocol encodes it.
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

// String is the name in capitals, as in error texts.
func (c Consistency) String() string {
	if c.Known() {
		return consistencyNames[c]
	}
	return fmt.Sprintf("UNKNOWN_%d", uint16(c))
}
