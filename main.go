// Command cqld is a server that answers CQL clients as one Apache Cassandra 5.0 node would, and a small
// client for it.
//
//	cqld [serve] [flags]               runs the server until it gets SIGTERM or SIGINT
//	cqld exec [ADDR] -f FILE|-e CQL    runs statements and prints tables as cqlsh does
//	cqld cqlsh [flags] [HOST [PORT]]   does the same with the options of cqlsh
//	cqld ping [ADDR]                   succeeds if a CQL handshake is answered
//	cqld nodes [ADDR]                  lists the nodes of a server's cluster
//	cqld export ADDR [KEYSPACE[.TABLE]] DIR   writes tables as JSON lines, CSV or CQL
//	cqld import ADDR DIR               writes an export into a server
//	cqld snapshot ADDR FILE            saves all data of a running server as of one moment
//	cqld restore FILE DIR              creates a data folder from a snapshot
//	cqld verify DIR|ADDR               compares files with their checksums, and rows with indexes and views
//	cqld proxy --to HOST               records requests and responses
//	cqld replay FILE                   replays a recording against another server and prints the differences
//	cqld completion SHELL              prints a script that completes command lines
//	cqld help [COMMAND]
//	cqld version
//
// The commands are in the package command.
package main

import "github.com/cqld/cqld/command"

// version is set when a release is linked.
var version = ""

func main() { command.Main(version, nil) }
