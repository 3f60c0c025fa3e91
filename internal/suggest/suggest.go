// Package suggest finds the name that a misspelled one was meant to be.
package suggest

import "strings"

// Nearest returns the name that a misspelled word was probably meant to be, or "" if no name is close.
func Nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, found := max(1, len(word)/3)+1, ""
	for _, name := range names {
		if d := distance(word, strings.ToLower(name)); d < best {
			best, found = d, name
		}
	}
	if found == "" && len(word) >= 3 { // a prefix or suffix of exactly one name
		for _, name := range names {
			if lower := strings.ToLower(name); strings.HasPrefix(lower, word) || strings.HasSuffix(lower, word) {
				if found != "" {
					return ""
				}
				found = name
			}
		}
	}
	return found
}

// distance is the optimal string alignment distance: how many letters have to be inserted, deleted, replaced or
// swapped with their neighbour to turn one word into the other.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
