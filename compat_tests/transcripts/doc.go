// Package transcripts runs sessions of clients, message by message, and prints everything that comes back.
//
// A Session is a file: connections, the messages sent on them and, below each, the answer with every field
// decoded. Parse reads one; a Runner runs its steps in one version of the protocol and returns an answer as lines
// of the form that the file has, so that comparing and recording are the same thing. Parts that differ from run to
// run (ids, keyspaces, addresses) is replaced by symbols that stay the same for the same bytes.
//
// An answer is decoded by the codec that the server uses too. So that a mistake in it does not hide, each is
// encoded again, and what has other bytes then says so in its last line; the test also asks a codec of others.
//
// compat_tests/transcripts/README.md describes the language.
package transcripts
