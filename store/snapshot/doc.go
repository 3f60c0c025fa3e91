// Package snapshot writes and restores files of snapshots: all that a store holds as of one moment.
//
// A snapshot is a sequence of blocks: a Head, which is JSON, then keys with their values, in order. Store.Snapshot
// makes the blocks, a Writer compresses them into a file, and Restore reads the file into an empty engine.
package snapshot
