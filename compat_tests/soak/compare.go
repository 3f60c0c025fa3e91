package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// observed is a row as it was read.
type observed struct {
	c     int
	cells [maxCells]value
	wrong string // an error in the row itself; empty: none
}

// question is a question about one partition, and its time.
type question struct {
	from, to int // the rows c
	by       *match
	when     window
}

// match selects the rows that have a value in a column, as an index or a view finds them.
type match struct {
	column int
	value  value // null: any
}

// everything selects all rows of a partition.
func (p *partition) everything(when window) question { return question{to: p.rows - 1, when: when} }

// compare compares the rows of a read, in the order in which they came, with the allowed states. If a state matches, it
// drops the states that do not. Otherwise it returns the differences to the nearest state, a line for each row.
func (p *partition) compare(t *table, q question, rows []observed) []string {
	var nearest []string
	var agree [][]row
	for _, state := range p.states {
		lines := q.differences(t, state, rows)
		if len(lines) == 0 {
			agree = append(agree, state)
		} else if nearest == nil || len(lines) < len(nearest) {
			nearest = lines
		}
	}
	if len(agree) == 0 {
		return nearest
	}
	if !p.waiting {
		p.keep(agree)
	}
	return nil
}

// differences compares rows with one state. Rows must come once each, in key order or in reverse.
func (q question) differences(t *table, state []row, rows []observed) (lines []string) {
	found := map[int]*observed{}
	for i := range rows {
		r := &rows[i]
		switch {
		case r.c < q.from || r.c > q.to:
			lines = append(lines, fmt.Sprintf("c=%d: read, and not asked for", r.c))
			continue
		case found[r.c] != nil:
			lines = append(lines, fmt.Sprintf("c=%d: read twice", r.c))
		case i > 1 && (r.c > rows[i-1].c) != (rows[i-1].c > rows[i-2].c):
			lines = append(lines, fmt.Sprintf("c=%d: read after c=%d and c=%d, which is no order", r.c, rows[i-2].c, rows[i-1].c))
		}
		found[r.c] = r
	}
	for c := q.from; c <= q.to; c++ {
		if why := q.compareRow(t, &state[c], found[c]); why != "" {
			lines = append(lines, fmt.Sprintf("c=%d: %s; the model has %s", c, why, state[c].text(t)))
		}
	}
	return lines
}

// compareRow describes the difference between a row of the model and a row that was read or is missing. Empty: none.
func (q question) compareRow(t *table, r *row, got *observed) string {
	expected := r.presence(q.when)
	if q.by != nil {
		expected = r.cell(q.by.column, q.when)
		if v := q.by.value; v.length > 0 && r.cells[q.by.column].value != v {
			expected = absent
		}
	}
	switch {
	case got == nil && expected == present:
		return "missing"
	case got == nil:
		return ""
	case expected == absent:
		return "read, and must not be there: " + got.text(t)
	case got.wrong != "":
		return got.wrong
	}
	var wrong []string
	for i := range t.cellCount() {
		v, p := got.cells[i], r.cell(i, q.when)
		if v == r.cells[i].value && p != absent || v.length == 0 && p != present {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s is %s", t.cellName(i), v.text(t.cellKind(i))))
	}
	return strings.Join(wrong, ", ")
}

func (o *observed) text(t *table) string {
	var parts []string
	for i := range t.cellCount() {
		if v := o.cells[i]; v.length > 0 {
			parts = append(parts, fmt.Sprintf("%s=%s", t.cellName(i), v.text(t.cellKind(i))))
		}
	}
	return strings.Join(append(parts, o.wrong), " ")
}

// text prints a row with all timestamps, also of deletions.
func (r *row) text(t *table) string {
	if t.columns[0].kind == counter {
		return r.counters(t)
	}
	var parts []string
	if r.marker.written > 0 {
		parts = append(parts, "inserted at "+r.marker.text())
	}
	for i := range t.cellCount() {
		if c := r.cells[i]; c.written > 0 {
			parts = append(parts, fmt.Sprintf("%s=%s at %s", t.cellName(i), c.value.text(t.cellKind(i)), c.stamp.text()))
		}
	}
	if r.deleted > 0 {
		parts = append(parts, "deleted at "+stamp{written: r.deleted}.text())
	}
	if r.emptied > 0 {
		parts = append(parts, "m emptied at "+stamp{written: r.emptied}.text())
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// counters prints a row of counters, which has no timestamps in the model.
func (r *row) counters(t *table) string {
	var parts []string
	for i, c := range t.columns {
		parts = append(parts, fmt.Sprintf("%s=%s", c.name, r.cells[i].value.text(counter)))
	}
	return strings.Join(parts, ", ")
}

const clockFormat = "15:04:05.000000"

func (s stamp) text() string {
	text := time.UnixMicro(s.written).Format(clockFormat)
	if s.expires > 0 {
		text += time.Unix(int64(s.expires), 0).Format(" until 02. 15:04:05")
	}
	return text
}

// byKey sorts rows.
func byKey(rows []observed) {
	slices.SortFunc(rows, func(a, b observed) int { return a.c - b.c })
}
