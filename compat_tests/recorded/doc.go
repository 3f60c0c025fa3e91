// Package recorded compares the data files of other packages' tests, which were recorded from Cassandra, with a
// Cassandra.
//
// Each file named in files (files_test.go) has a recorder: it reads the file, repeats its questions to a Cassandra and
// returns the file with the new answers. So one function compares and records. Lines for cqld (a line "ours" where
// Cassandra returns a raw Java exception) stay unchanged.
//
//	go test ./compat_tests/recorded                                    every recorded file is listed and names its source
//	go test ./compat_tests/recorded -addr 127.0.0.1:9042               and a Cassandra gives the same answers
//	go test ./compat_tests/recorded -addr 127.0.0.1:9042 -record       or the files are recorded again
//
// -run 'Files/cql/parser' selects the files below a folder. The keyspaces recorded, recorded_values, k, existing,
// script and shapes are created and dropped; a server that already has one of them is refused.
package recorded
