// Package transfer copies tables between servers and folders. It is a client like any other: the server may be cqld or
// Cassandra.
//
// An export is a folder with the definitions (schema.cql), what was asked for (export.json), and for each table a file
// for each part of the token ring, which are read at the same time. A file has its name when it is whole, so an export
// that was broken off goes on where it was when it is asked for again. An import notes the files that it is done with
// in a file beside them, named after the server's host id, and goes on behind them.
//
// A value that a format cannot give back byte for byte, such as an empty int, stands as its bytes.
package transfer
