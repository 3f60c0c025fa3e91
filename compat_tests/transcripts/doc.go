// Package transcripts runs sessions of clients, message by message, and prints everything that comes back.
//
// A Session is a file: connections, the messages sent on them and, below each, the answer with every field
// decoded. Parse reads one; a Runner runs its steps in one version of the protocol and returns an answer as lines
// in the form of the file, so one function compares and records. Parts that differ from run to run (ids, keyspaces,
// addresses) are replaced by symbols; equal bytes have the same symbol.
//
// Answers are decoded by the codec of the server. To find errors of the codec, each message is encoded again; if the
// bytes differ, the last line of the answer reports it. The test also compares with an independent codec.
//
// compat_tests/transcripts/README.md describes the language.
package transcripts
