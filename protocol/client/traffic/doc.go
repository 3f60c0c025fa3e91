// Package traffic records what clients and a server say to each other, and plays it against another server. The
// commands cqld proxy and cqld replay are Proxy and Replay with flags.
//
// A recording is text, with one line for each message:
//
//	# cqld proxy: traffic of db.example:9042
//	@ 1 1763845200123 open
//	# QUERY "SELECT name FROM shop.items WHERE id = ?" ...
//	> 1 1763845200124 v5 00 12 QUERY 0000...
//	< 1 1763845200125 v5 00 12 RESULT 0000...
//	@ 1 1763845200200 closed
//
// Behind the mark stand the number of the connection, counted from 1, and the time in milliseconds since 1970. "@" is
// a connection that was opened or closed; ">" is a request and "<" an answer or an event, in the order in which they
// passed: the version of the protocol, the flags of the envelope in hexadecimal digits, the stream, the opcode and
// the body in hexadecimal digits. Bodies are neither compressed nor in segments, whatever they were on the
// connection, and the flag for compression is not set. Values are there as the protocol has them. "-" in place of a
// body says that it was left out: the tokens of logins, and statements with the word PASSWORD together with their
// answers. "#" begins a comment.
package traffic
