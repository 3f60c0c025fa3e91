package exec

import "testing"

// SetMaxHeld changes what a read may hold until the test ends.
func SetMaxHeld(t testing.TB, n int) {
	before := maxHeld
	maxHeld = n
	t.Cleanup(func() { maxHeld = before })
}
