//go:build race

package statements

// underRace says that the race detector watches, which makes everything about ten times as dear.
const underRace = true
