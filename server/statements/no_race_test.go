//go:build !race

package statements

const underRace = false
