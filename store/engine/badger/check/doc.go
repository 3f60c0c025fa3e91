// Package check examines a Badger folder before it is opened, and repairs it.
//
// Badger does not look for damage: it answers that a key is not there when the block with it is damaged, leaves out a
// table that it cannot open, cuts logs where they cannot be read, and removes all tables if their list is missing. So
// Examine reads the list of tables (manifest.go), the tables (table.go), the logs of memtables (memtable_log.go) and
// the value logs (value_logs.go), and compares them with two files of ours:
//
//	FILES    which files the folder has: a Record, which a Recorder keeps up to date while the folder is open
//	COMMITS  the numbers of the last commit and of the last one that was synced (commit_numbers.go)
//
// Refusal names what is damaged. A folder without damage may still end in a commit that was not written to its end:
// Recover cuts that off. Repair keeps what can be read of damaged files. Both keep what they remove in the folder
// set-aside.
package check
