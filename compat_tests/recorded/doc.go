// Package recorded keeps the data files that other packages' tests recorded from Cassandra true.
//
// Each file named in files (files_test.go) has a recorder: it reads the file, asks a Cassandra everything in it again
// and returns the file as it would be recorded there. So one function compares and records. What a file has of our own
// (a line "ours" where Cassandra lets a Java exception out) stays as it is.
//
//	go test ./compat_tests/recorded                                    every recorded file is known and says from what
//	go test ./compat_tests/recorded -addr 127.0.0.1:9042               and that Cassandra answers the same
//	go test ./compat_tests/recorded -addr 127.0.0.1:9042 -record       or is written down anew
//
// -run 'Files/cql/parser' takes the files below a folder. The keyspaces recorded, recorded_values, k, existing, script
// and shapes are made and dropped; a server that has one of them before is refused.
package recorded
