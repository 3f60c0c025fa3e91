// Package shell is what people use the client for: it runs a script of statements and prints tables as cqlsh does
// (script.go, table.go, cell.go), and asks whether a server answers (ping.go). The commands cqld exec and cqld ping
// add the flags.
//
// It stands beside the client because it needs nothing of our server: any server that speaks the protocol will do.
package shell
