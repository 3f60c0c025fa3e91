// Package paging knows where a read stands: which rows it has given, and which are left.
//
// A State is that as bytes for the client, who sends them back to get the next page (state.go; decoder.go reads the
// parts, describe.go has the states of DESCRIBE). A Command is that in words: the SELECT of what is left to read, which
// warnings about tombstones quote (command.go, columns.go, slices.go).
package paging
