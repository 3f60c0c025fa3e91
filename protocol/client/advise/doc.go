// Package advise finds faults of data models: it compares the tables of a server, and the statements that were
// observed on it, with rules of data modelling for Cassandra. The command cqld advise and Advise of cqltest are Advise
// with flags.
//
// Advise reads the schema through package model into a Schema, sums the observed statements up in a Traffic, and calls
// each Rule of Rules. A rule is a function that returns Findings: each has a message, its evidence, and the better
// model as CQL if one can be derived. A Source has the lines of a file of CQL, and the rules that its comments ignore.
// A Report prints itself for people, as JSON and as SARIF.
//
// A false alarm costs more than a missed fault, so rules ask for clear evidence. Their thresholds are in
// thresholds.go; docs/advisor.md lists the rules.
package advise
