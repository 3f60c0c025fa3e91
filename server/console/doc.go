// Package console serves the pages of a server for people: its schema, an editor for queries, its activity and advice
// about its tables. The command serves them at / of --http.
//
// A Console is an http.Handler. Every page talks CQL to its own server, through connections inside the process
// (server.Server.Connect) that belong to the role that has logged in, so that rules, permissions and errors are the
// server's (session.go). console.go has the headers that restrict the pages, and page.go is common to all.
//
//	schema.go    /           keyspaces, tables, their options and a diagram
//	query.go     /query      a statement: its plan and trace (plan.go), a page of rows, or all as a file (download.go)
//	activity.go  /activity   statements as they arrive, latencies, sizes and connections (stream.go keeps them live)
//	testing.go   /activity   the clock, faults and nodes of a server with --test-controls
//	advisor.go   /advisor    findings about tables and queries, with better ones
//	login.go     /login      a role and its password
//
// Without Options.Write, only SELECT and DESCRIBE run; cql/parser decides that, not the text.
//
// The pages are templates in folder files, which template.go executes. They need no scripts to be read; the scripts
// there add colours and completion to the editor, and receive live updates. Charts are SVG that chart.go draws. Nothing
// is loaded from elsewhere, and the Content-Security-Policy forbids it.
package console
