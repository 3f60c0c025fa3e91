// Package client is a small client of the native protocol: one connection, one request at a time. The
// commands cqld exec and cqld ping use it, and tests that want to see exactly what a server answers; it is
// not a driver: it knows one node, prepares nothing on its own and never retries, but for a statement that
// the server has forgotten.
//
// Dial opens a Conn and agrees on a version. Conn.Query, Prepare, Execute and Batch run statements and return
// a Result; values are given and returned as the bytes of the protocol (package types prints and parses
// them). Conn.Do sends any request, and Send, Receive and their raw forms are for tests that leave the order of
// things.
//
// A Conn has no goroutine. Events that arrive while an answer is awaited are kept for NextEvent.
package client
