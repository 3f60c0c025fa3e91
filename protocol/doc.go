// Package protocol is Cassandra's native protocol, versions 3, 4 and 5, as bytes: requests and responses,
// each encoded and decoded. It opens no sockets and keeps no sessions; its functions append to and read
// from slices that a connection owns.
//
// Specification: native_protocol_v3.spec, native_protocol_v4.spec and native_protocol_v5.spec of Apache
// Cassandra. Sections named in comments are those of v5.
//
// # Layers
//
// From the socket inwards:
//
//	segment   Segments          since v5, once STARTUP is answered: checksums and LZ4 around one or
//	                            many envelopes, or around a slice of a large one (section 2)
//	envelope  Header            9 bytes before every message: version, flags, stream, opcode and the
//	                            body's length (section 2.1); v3 and v4 may compress the body
//	prefix    Prefix            what may stand in a body before the message: a tracing id, warnings, a
//	                            custom payload (section 2.2)
//	message   Query, Rows ...   a struct in a file of its own, its body's layout in the comment on top
//	                            (section 4)
//	notation  reader, append*   [int], [string], [value] ... (section 3)
//
// # Reading requests
//
// A server reads a Header, asks Header.Check whether it can be a request and CheckLength whether it is
// willing to read the body, undoes compression or segments, and hands the body to Requests.Decode. Requests
// owns one struct for each kind of request: what it returns, and every byte slice in it, is valid until the
// next call and aliases the body, so the requests of an EXECUTE cost no memory.
//
// # Writing responses
//
// An Encoder knows how a connection writes: version, compression, segments. Encoder.Append puts a whole
// message behind what the write buffer already has and Encoder.Flush completes it for the socket. Parts that
// stay the same from answer to answer are encoded once: ColumnSpecs keeps the encoded columns of a prepared
// statement, and the cells of Rows arrive encoded from where they are stored.
//
// # What the versions differ in
//
// The questions a Version answers (HasUnset, HasPrepareFlags ...) are the list of differences; messages ask
// them instead of comparing numbers. In short: v4 adds unset values, warnings, custom payloads, partition key
// indexes of prepared statements, schema changes of functions, failure errors and the types date, time,
// smallint and tinyint; v5 adds segments, result metadata ids, keyspaces and a point in time in requests,
// 4 byte flags, failure reasons and the type duration. v6 is v5 with the beta flag on every envelope.
package protocol
