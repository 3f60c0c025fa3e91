// Package guardrail has the settings that warn of statements or refuse them, by the names of cassandra.yaml, and the
// checks that apply them.
//
// Settings has the values. Read makes one from names and values as the command line and cqld.yaml give them:
//
//	settings.go  the values, their defaults, and which of them do not fit together
//	names.go     the name of each value in cassandra.yaml, and the settings of Cassandra that are refused
//	values.go    how values are written and shown
//
// A Check applies guardrails to one request and collects the warnings for its client:
//
//	check.go        warnings and refusals, and who gets them
//	definitions.go  guardrails of statements that define
//	reads.go        guardrails of SELECT
//	writes.go       guardrails of INSERT, UPDATE, DELETE and BATCH
//
// Only ordinary users are subject to guardrails. A request of others has a nil Check, whose methods do nothing. The
// thresholds of batches and tombstones and the settings of users' functions are no guardrails: they hold for everybody,
// and package exec reads them from Settings.
package guardrail
