package server

import "github.com/cqld/cqld/protocol"

// cqlRelease is the version of the language, as SUPPORTED lists it.
const cqlRelease = "3.4.7"

// supported answers OPTIONS. The keys are Cassandra's: drivers tell servers apart by them.
var supported = &protocol.Supported{Options: []protocol.SupportedOption{
	{Key: "PROTOCOL_VERSIONS", Values: protocol.SupportedVersions()},
	{Key: "COMPRESSION", Values: protocol.Compressions()},
	{Key: "CQL_VERSION", Values: []string{cqlRelease}},
}}

// options serves OPTIONS, which drivers also use as a heartbeat.
func options(r *request) { r.answer(supported) }
