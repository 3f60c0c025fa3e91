package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// difference is the first thing that two servers answered differently to a step.
type difference struct {
	aspect          string // the part that differs: code, message, rows ...
	cassandra, cqld string // the text of each about it
	tolerated       string // the name of the tolerance that allows it
	end             bool   // only one server has changed something: the rest cannot be compared
}

// compare looks for the first difference between the answers to a step.
func compare(s *step, cassandra, cqld []*answer) *difference {
	for i := range max(len(cassandra), len(cqld)) {
		if i >= len(cassandra) || i >= len(cqld) {
			return &difference{
				aspect: "number of answers", cassandra: itoa(len(cassandra)), cqld: itoa(len(cqld)), end: s.kind != read,
			}
		}
		a, b := cassandra[i], cqld[i]
		aspect, left, right := compareAnswers(a, b)
		if aspect == "" {
			continue
		}
		d := &difference{aspect: aspect, cassandra: left, cqld: right}
		d.end = a.lost != "" || b.lost != "" || a.failed() != b.failed() && s.kind != read
		if len(cassandra) > 1 || len(cqld) > 1 {
			d.aspect = fmt.Sprintf("%s of answer %d", aspect, i+1)
		}
		if aspect == "outcome" && i > 0 && hasMore(cassandra[i-1]) {
			aspect = outcomeOfNextPage
		}
		d.tolerated = tolerated(aspect, a, b)
		return d
	}
	return nil
}

// compareAnswers describes the differences between two answers.
func compareAnswers(a, b *answer) (aspect, left, right string) {
	switch {
	case a.lost != "" || b.lost != "" || a.failed() != b.failed():
		return "outcome", a.String(), b.String()
	case a.err != nil && a.err.Code != b.err.Code:
		return "error code", a.String(), b.String()
	case a.err != nil && canonicalMessage(a.err.Message) != canonicalMessage(b.err.Message):
		return "error message", a.String(), b.String()
	case a.err != nil && !reflect.DeepEqual(a.err.Detail, b.err.Detail):
		return "error fields", fmt.Sprintf("%+v", a.err.Detail), fmt.Sprintf("%+v", b.err.Detail)
	case a.err != nil:
		return "", "", "" // docs/differences.md, 603: errors carry no warnings
	case reflect.TypeOf(a.response) != reflect.TypeOf(b.response):
		return "kind of result", a.String(), b.String()
	}
	switch m := a.response.(type) {
	case *protocol.Prepared:
		aspect, left, right = comparePrepared(m, b.response.(*protocol.Prepared))
	case *protocol.Rows:
		aspect, left, right = compareRows(a, b)
	default:
		if a.String() != b.String() {
			return "result", a.String(), b.String()
		}
	}
	if aspect == "" && !slices.Equal(a.warnings, b.warnings) {
		return "warnings", strings.Join(a.warnings, "\n"), strings.Join(b.warnings, "\n")
	}
	return aspect, left, right
}

// listsByChance match the texts that list things in the order of a hash map.
var listsByChance = regexp.MustCompile(`^(Invalid|Ambiguous) call |[^ ] ,[^ ]`)

// misplaced matches the error about a list that is the argument of a function.
var misplaced = regexp.MustCompile(`^Unexpected receiver type '.*'; only list and vector are expected$`)

// canonicalMessage is an error text without its random parts: signatures and columns come in the order of a
// hash map.
func canonicalMessage(text string) string {
	if misplaced.MatchString(text) {
		return misplaced.String() // the type comes from the first of many functions
	}
	if !listsByChance.MatchString(text) {
		return text
	}
	letters := []byte(text)
	slices.Sort(letters)
	return string(letters)
}

// comparePrepared compares the results of PREPARE, the ids last: they follow from the rest.
func comparePrepared(a, b *protocol.Prepared) (aspect, left, right string) {
	for _, c := range []struct{ aspect, left, right string }{
		{"markers", specs(a.Bind), specs(b.Bind)},
		{"partition key's markers", fmt.Sprint(a.PKIndexes), fmt.Sprint(b.PKIndexes)},
		{"prepared columns", specs(a.Result), specs(b.Result)},
		{"id of the statement", fmt.Sprintf("%x", a.ID), fmt.Sprintf("%x", b.ID)},
		{"id of the columns", fmt.Sprintf("%x", a.ResultMetadataID), fmt.Sprintf("%x", b.ResultMetadataID)},
	} {
		if c.left != c.right {
			return c.aspect, c.left, c.right
		}
	}
	return "", "", ""
}

// specs prints columns with all their metadata.
func specs(s *protocol.ColumnSpecs) string {
	if s == nil {
		return "none"
	}
	var parts []string
	for _, c := range s.Columns() {
		parts = append(parts, fmt.Sprintf("%s.%s.%s %s", c.Keyspace, c.Table, c.Name, c.Type))
	}
	return strings.Join(parts, ", ")
}

// compareRows compares a page: its columns, its rows, and whether another follows.
func compareRows(a, b *answer) (aspect, left, right string) {
	ma, mb := a.response.(*protocol.Rows).Metadata, b.response.(*protocol.Rows).Metadata
	if x, y := specs(ma.Columns), specs(mb.Columns); x != y {
		return "columns", x, y
	}
	columns := ma.Columns.Columns()
	if i, same := sameRows(columns, a.rows, b.rows); !same {
		sorted := func(rows [][][]byte) []string {
			var lines []string
			for _, r := range rows {
				lines = append(lines, formatRow(columns, r))
			}
			slices.Sort(lines)
			return lines
		}
		aspect = "rows"
		if slices.Equal(sorted(a.rows), sorted(b.rows)) {
			aspect = "order of rows"
		}
		return aspect, rowFrom(columns, a.rows, i), rowFrom(columns, b.rows, i)
	}
	if x, y := ma.PagingState != nil, mb.PagingState != nil; x != y {
		return "has more pages", fmt.Sprint(x), fmt.Sprint(y)
	}
	return "", "", ""
}

// sameRows finds the first row that differs.
func sameRows(columns []protocol.ColumnSpec, a, b [][][]byte) (int, bool) {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) {
			return i, false
		}
		for k := range a[i] {
			if !sameCell(columns[k], a[i][k], b[i][k]) {
				return i, false
			}
		}
	}
	return 0, true
}

// ttlTolerance is how many seconds the remaining TTLs of two servers may differ.
const ttlTolerance = 20

// sameCell compares two values; remaining TTLs may differ a little.
func sameCell(c protocol.ColumnSpec, a, b []byte) bool {
	if !strings.Contains(strings.ToLower(c.Name), "ttl(") || a == nil || b == nil {
		return bytes.Equal(a, b) && (a == nil) == (b == nil)
	}
	if _, isList := c.Type.(*types.List); !isList {
		return sameTTL(a, b)
	}
	ours := slices.Collect(types.Elements(b))
	for e := range types.Elements(a) {
		if len(ours) == 0 || !sameTTL(e, ours[0]) {
			return false
		}
		ours = ours[1:]
	}
	return len(ours) == 0
}

// sameTTL compares two remaining TTLs.
func sameTTL(a, b []byte) bool {
	if len(a) != 4 || len(b) != 4 {
		return bytes.Equal(a, b) && (a == nil) == (b == nil)
	}
	gap := int64(int32(binary.BigEndian.Uint32(a))) - int64(int32(binary.BigEndian.Uint32(b)))
	return max(gap, -gap) <= ttlTolerance
}

// rowFrom shows the rows from the first that differs.
func rowFrom(columns []protocol.ColumnSpec, rows [][][]byte, i int) string {
	lines := []string{fmt.Sprintf("%d rows, from row %d:", len(rows), i+1)}
	for _, row := range rows[i:min(len(rows), i+3)] {
		lines = append(lines, formatRow(columns, row))
	}
	return strings.Join(lines, "\n")
}

// The parts that messageShape ignores: types, names, values, pieces of statements.
var (
	typeWords = regexp.MustCompile(`(frozen<|list<|set<|map<|tuple<|vector<)[^()'"]*>|\b(ascii|bigint|blob|boolean|counter|date|decimal|` +
		`double|duration|float|inet|int|smallint|text|time|timestamp|timeuuid|tinyint|uuid|varint)\b`)
	quoted  = regexp.MustCompile(`'[^']*'|"[^"]*"|\(\.\.\..*\)$|\[.*\]|0x[0-9a-fA-F]+`)
	ordinal = regexp.MustCompile(`[pcsvw]?[0-9]+`)
)

// cause is equal for differences that most likely have the same cause: errors are compared by the kind of mistake that
// Cassandra reports, or cqld if Cassandra reports none.
func (d *difference) cause() string {
	if !d.told() {
		return d.aspect
	}
	shape := messageShape(d.cassandra)
	if strings.HasPrefix(d.cassandra, "error") {
		return d.aspect + ": " + shape
	}
	return d.aspect + ": " + shape + " / " + messageShape(d.cqld)
}

// told reports whether the difference is in an error, whose text describes the cause.
func (d *difference) told() bool {
	return strings.HasPrefix(d.aspect, "error") || strings.HasPrefix(d.aspect, "outcome")
}

// messageShape is an error text without the names and values in it, or the kind of a success.
func messageShape(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if fields := strings.Fields(text); fields[0] == "RESULT" {
		return "RESULT " + fields[1]
	}
	if before, _, list := strings.Cut(text, "type signatures"); list {
		text = before
	}
	text = quoted.ReplaceAllString(text, "Q")
	return ordinal.ReplaceAllString(typeWords.ReplaceAllString(text, "T"), "N")
}

// resultSpecs are the columns that an answer describes.
func resultSpecs(a *answer) string {
	switch m := a.response.(type) {
	case *protocol.Rows:
		return specs(m.Metadata.Columns)
	case *protocol.Prepared:
		return specs(m.Result)
	}
	return ""
}
