// Package protocol is Cassandra's native protocol, versions 3, 4 and 5, as bytes: it encodes and decodes
// requests and responses. It opens no sockets and keeps no sessions; its functions append to and read
// from slices that a connection owns.
//
// Specification: native_protocol_v3.spec, native_protocol_v4.spec and native_protocol_v5.spec of Apache Cassandra.
// Section numbers in comments refer to v5.
//
// # Layers
//
// From the socket inwards:
//
//	segment   Segments          since v5, once STARTUP is answered: checksums and LZ4 around one or
//	                            many envelopes, or around a slice of a large one (section 2)
//	envelope  Header            9 bytes before every message: version, flags, stream, opcode and the
//	                            body's length (section 2.1); v3 and v4 may compress the body
//	prefix    Prefix            optional parts of a body before the message: a tracing id, warnings, a
//	                            custom payload (section 2.2)
//	message   Query, Rows ...   a struct whose comment shows the layout of its body (section 4)
//	notation  reader, append*   [int], [string], [value] ... (section 3)
//
// # Reading requests
//
// A server reads a Header, checks it with Header.Check and its length with CheckLength, undoes compression or
// segments, and passes the body to Requests.Decode. Requests owns one struct for each kind of request: a returned
// request and its byte slices are valid until the next call and alias the body, so decoding EXECUTE allocates
// nothing.
//
// # Writing responses
//
// An Encoder has the version, compression and segments of a connection. Encoder.Append appends a whole message to the
// write buffer, and Encoder.Flush completes the buffer for the socket. Parts that do not change are encoded once:
// ColumnSpecs keeps the encoded columns of a prepared statement, and the cells of Rows are encoded as they are
// stored.
//
// # Differences between versions
//
// The methods of Version (HasUnset, HasPrepareFlags ...) are the list of differences; messages call them instead of
// comparing numbers. In short: v4 adds unset values, warnings, custom payloads, partition key indexes of prepared
// statements, schema changes of functions, failure errors and the types date, time, smallint and tinyint; v5 adds
// segments, result metadata ids, keyspaces and a point in time in requests, 4 byte flags, failure reasons and the
// type duration. v6 is v5 with the beta flag on every envelope.
package protocol
