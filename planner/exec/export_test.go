package exec

import (
	"testing"
	"time"
)

// SetMaxHeld changes what a read may hold until the test ends.
func SetMaxHeld(t testing.TB, n int) {
	before := maxHeld
	maxHeld = n
	t.Cleanup(func() { maxHeld = before })
}

// SetLongestWork changes how long the values of a definition may take until the test ends.
func SetLongestWork(t testing.TB, d time.Duration) {
	before := longestWork
	longestWork = d
	t.Cleanup(func() { longestWork = before })
}
