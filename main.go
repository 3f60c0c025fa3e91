// Command cqld is a server that answers CQL clients as one Apache Cassandra 5.0 node would, and a small
// client for it.
//
//	cqld [serve] [flags]               runs the server until it is told to stop
//	cqld ping [ADDR]                   succeeds once a CQL handshake answers
//	cqld nodes [ADDR]                  prints the nodes of the cluster that a server is in
//	cqld exec [ADDR] -f FILE|-e CQL    runs statements and prints tables as cqlsh does
//	cqld cqlsh [options] [HOST [PORT]] the same for those who call cqlsh
//	cqld proxy --to HOST               records what clients and a server say to each other
//	cqld replay FILE --against ADDR    plays that against another server and prints differences
//	cqld snapshot ADDR FILE            fetches all that a running server holds as of one moment
//	cqld restore FILE FOLDER           makes a data folder of a snapshot
//	cqld verify FOLDER|ADDR            compares files with their checksums, and rows with indexes and views
//	cqld export ADDR [KEYSPACE[.TABLE]] FOLDER   writes tables as JSON lines, CSV or CQL
//	cqld import ADDR FOLDER            writes an export into a server
//	cqld version
//
// The commands are in the package command.
package main

import "github.com/cqld/cqld/command"

// version is set when a release is linked.
var version = ""

func main() { command.Main(version, nil) }
