//go:build race

package server

// underRace says that the race detector watches, which makes everything about ten times as dear.
const underRace = true
