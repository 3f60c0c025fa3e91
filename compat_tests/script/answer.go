package script

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/protocol"
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

// forgive returns an answer with fault in place of the lines where one is expected, if the server did not fail.
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

// collapse shortens an answer of only "ok" lines to one line.
func collapse(answer []string) []string {
	if len(answer) > 0 && !slices.ContainsFunc(answer, func(l string) bool { return l != "ok" }) {
		return allWell
	}
	return answer
}

// formatRows prints a result: a line of names with their types, and a line for each row, in CQL's literals.
func formatRows(columns []protocol.ColumnSpec, rows [][][]byte) []string {
	if len(columns) == 0 {
		return []string{"ok"} // a statement that returns no rows
	}
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.Name + " " + c.Type.String()
	}
	lines := []string{strings.Join(header, " | ")}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = formatValue(columns[i], v)
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return lines
}

// formatValue prints a value; an empty one of a type that has no literal for it shows as (empty).
func formatValue(c protocol.ColumnSpec, v []byte) string {
	if v == nil {
		return "null"
	}
	text := c.Type.Format(v)
	if text == "" || len(v) == 0 && text == "null" {
		return "(empty)"
	}
	return text
}

// javaDetail matches the detail after the name of a Java exception that the virtual machine throws. After many
// exceptions it omits the detail.
var javaDetail = regexp.MustCompile(`(?s)((?:NullPointer|ArrayIndexOutOfBounds|ClassCast)Exception)[: ].*`)

// nodeAddress matches Cassandra's own address in errors of reads and writes. Java prints the name before it if
// something has resolved the address.
var nodeAddress = regexp.MustCompile(`from [a-zA-Z0-9.-]*/[0-9.]+:[0-9]+`)

// currentTime matches the current time in the texts of guardrails on timestamps.
var currentTime = regexp.MustCompile(`(allowable (?:warning|failure) threshold) [0-9]+`)

// withoutChance removes from an error's text the parts that depend on Cassandra's address and age.
func withoutChance(message string) string {
	return nodeAddress.ReplaceAllString(javaDetail.ReplaceAllString(message, "$1"), "from /{node}")
}

// signatureList matches the list of functions in the errors about calls that match none of them or several. Cassandra
// prints it in the order of a hash map, which differs between nodes.
var signatureList = regexp.MustCompile(`(\((?:known type|can be matched by following) signatures: )(.*)(\)(?:: use type casts to disambiguate)?)$`)

// sortSignatures puts such a list into alphabetical order; other texts stay as they are.
func sortSignatures(message string) string {
	m := signatureList.FindStringSubmatchIndex(message)
	if m == nil {
		return message
	}
	var all []string
	for part := range strings.SplitSeq(message[m[4]:m[5]], ", ") {
		if len(all) > 0 && !strings.Contains(part, " : (") {
			all[len(all)-1] += ", " + part // of a signature with several arguments
			continue
		}
		all = append(all, part)
	}
	slices.Sort(all)
	return message[:m[4]] + strings.Join(all, ", ") + message[m[5]:]
}
