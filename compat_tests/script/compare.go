package script

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Difference is a block with another answer than the script expects.
type Difference struct {
	Block *Block
	Want  []string
	Got   []string
}

// Compare runs blocks one after the other and returns those with other answers than expected.
func (r *Runner) Compare(ctx context.Context, blocks []*Block) []Difference {
	var all []Difference
	for _, b := range blocks {
		want := b.wanted(r.mode.Binding)
		if got := r.Run(ctx, b); !slices.Equal(b.forgive(got, want), want) {
			all = append(all, Difference{b, want, got})
		}
	}
	return all
}

// String shows the statements, and the lines that are not the same.
func (d Difference) String() string {
	statements := strings.Join(d.Block.Statements, "\n")
	if d.Block.gone(d.Got) {
		return statements + "\nanswers as Cassandra does: the difference is gone"
	}
	return fmt.Sprintf("%s\nwant\n%s\ngot\n%s", statements, otherLines(d.Want, d.Got), otherLines(d.Got, d.Want))
}

// shownLines is how many lines of a difference are shown.
const shownLines = 12

// otherLines are the lines of a that b has otherwise in their place, each with its number.
func otherLines(a, b []string) string {
	var lines []string
	for i, l := range a {
		if i < len(b) && b[i] == l {
			continue
		}
		if len(lines) == shownLines {
			lines = append(lines, "  ...")
			break
		}
		lines = append(lines, fmt.Sprintf("  %3d %s", i+1, l))
	}
	return strings.Join(lines, "\n")
}
