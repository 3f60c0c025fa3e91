package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// expected is the answer of a block with values bound in some way.
func (b *Block) expected(binding Binding) []string {
	lines := b.Expected
	binding = b.binding(binding)
	if binding >= Bound {
		lines = b.change(lines, b.Bound)
	}
	if binding >= Parts {
		lines = b.change(lines, b.Parts)
	}
	return lines
}

// expect makes lines the answer of a block with values bound in some way.
func (b *Block) expect(binding Binding, lines []string) {
	if binding != b.binding(binding) {
		return // as recorded unbound
	}
	switch binding {
	case Unbound:
		b.record(lines)
	case Bound:
		b.Bound, b.Parts = b.changes(b.Expected, lines), nil
	case Parts:
		b.Parts = b.changes(b.expected(Bound), lines)
	}
}

// changes are the lines of an answer that differ from another one: of an exec block, the lines of the
// statements that answer something else, with the number of the statement before each; of others, all lines.
func (b *Block) changes(from, to []string) []string {
	if slices.Equal(from, to) {
		return nil
	}
	if b.Kind != Exec {
		return to
	}
	var changes []string
	before := b.statementLines(from)
	for i, lines := range b.statementLines(to) {
		if slices.Equal(lines, before[i]) {
			continue
		}
		for _, l := range lines {
			changes = append(changes, fmt.Sprintf("%d %s", i+1, l))
		}
	}
	return changes
}

// change applies changes to an answer.
func (b *Block) change(answer, changes []string) []string {
	if changes == nil {
		return answer
	}
	if b.Kind != Exec {
		return changes
	}
	statements := b.statementLines(answer)
	changed := make([]bool, len(statements))
	for _, c := range changes {
		number, line, _ := strings.Cut(c, " ")
		i, err := strconv.Atoi(number)
		if err != nil || i < 1 || i > len(statements) {
			return changes // unlike any answer
		}
		if !changed[i-1] {
			changed[i-1], statements[i-1] = true, nil
		}
		statements[i-1] = append(statements[i-1], line)
	}
	return collapse(slices.Concat(statements...))
}

// forgive is an answer with fault in place of the lines where one is expected, if the server did not fail.
func (b *Block) forgive(got, want []string) []string {
	if !slices.Contains(want, fault) {
		return got
	}
	failed := func(l string) bool { return strings.HasPrefix(l, "error server: ") }
	if b.Kind != Exec {
		if len(want) > 1 || slices.ContainsFunc(got, failed) {
			return got
		}
		return want
	}
	statements := b.statementLines(got)
	for i, lines := range b.statementLines(want) {
		if slices.Equal(lines, []string{fault}) && !slices.ContainsFunc(statements[i], failed) {
			statements[i] = lines
		}
	}
	return collapse(slices.Concat(statements...))
}

// statementLines splits the answer of an exec block into the lines of each statement.
func (b *Block) statementLines(answer []string) [][]string {
	statements := make([][]string, len(b.Statements))
	if slices.Equal(answer, allWell) {
		for i := range statements {
			statements[i] = allWell
		}
		return statements
	}
	at, answered := 0, false
	for _, l := range answer {
		warning := strings.HasPrefix(l, "warning ")
		if answered && !warning && at+1 < len(statements) {
			at, answered = at+1, false
		}
		statements[at] = append(statements[at], l)
		answered = answered || !warning && !strings.HasPrefix(l, "refused ")
	}
	return statements
}

// allWell is the answer of an exec block in which nothing fails.
var allWell = []string{"ok"}

// collapse makes one line of an answer that is nothing but ok.
func collapse(answer []string) []string {
	if len(answer) > 0 && !slices.ContainsFunc(answer, func(l string) bool { return l != "ok" }) {
		return allWell
	}
	return answer
}
