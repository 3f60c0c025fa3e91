//go:build race

package disk

const underRace = true
