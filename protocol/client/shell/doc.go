// Package shell is an interactive client: it runs CQL statements and the commands of cqlsh, with the output of cqlsh
// 6.2. It works with any server that speaks the protocol. A few commands need a cqld; their help says so.
//
// Start connects a Session. RunText and RunInput run the statements of a text or an input; Feed takes single lines, for
// package prompt, which is the shell on a terminal.
//
// A line goes through these steps (session.go): lexer.go splits it into tokens and statements, as cqlsh does. A
// statement whose first word is in commands (commands.go, describe.go, trace.go, replicas.go, copy.go, help.go) is run
// here; others go to the server. table.go prints their rows, cell.go the values, format.go other formats than tables,
// and errors.go the errors, with the names that the driver of cqlsh gives them. Commands that begin with a backslash
// are not cqlsh's (extra.go).
//
// Ping, Nodes and Stream (login.go) are used by commands of cqld that do not run statements.
package shell
