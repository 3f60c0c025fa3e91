package keys

// Among many keys each step of a search waits for memory. Who looks for several keys goes a step for all of them before
// the next one, so that the processor waits for all of them at the same time.
const (
	// AtOnce is how many keys are looked for together: more than a processor waits for at a time.
	AtOnce = 16

	// LineSize is how many bytes the processor fetches from memory at a time.
	LineSize = 64
)

// Fetched takes a number that is made of memory which was read only to have it fetched, so that the compiler does not
// leave the reading out.
//
//go:noinline
func Fetched(uint64) {}
