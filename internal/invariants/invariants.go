// Package invariants switches on assertions that are too expensive, or too drastic, for a server in production: builds
// with the tag invariants check them, all others leave them out. `make race` and `make full` set the tag.
//
// Assertions belong at boundaries where a broken state would spread: when a memtable is frozen, when a record enters
// the commit log, when a flush is published. A failed assertion panics, so that the test that caused it names it.
package invariants

import "fmt"

// Check panics unless ok, in builds with the tag. Where computing the condition or an argument costs something, the
// call goes inside `if Enabled`.
func Check(ok bool, format string, args ...any) {
	if Enabled && !ok {
		panic(Violation("invariant violated: " + fmt.Sprintf(format, args...)))
	}
}

// Violation is what a failed assertion panics with, so that it is told from other panics.
type Violation string
