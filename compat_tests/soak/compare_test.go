package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// answer is the answer of a server that loses nothing.
func (q question) answer(state []row) (rows []observed) {
	for c := q.from; c <= q.to; c++ {
		r := &state[c]
		if r.presence(q.when) != present {
			continue
		}
		o := observed{c: c}
		for i := range o.cells {
			if r.cell(i, q.when) == present {
				o.cells[i] = r.cells[i].value
			}
		}
		if q.by == nil || o.cells[q.by.column].length > 0 && (q.by.value == value{} || o.cells[q.by.column] == q.by.value) {
			rows = append(rows, o)
		}
	}
	return rows
}

// written is a partition after a thousand writes of a worker.
func written(w *worker, o *owned) *partition {
	p := o.partitions[len(o.partitions)-1]
	for range 1000 {
		d := w.draw(o.table, p, w.random.IntN(p.rows))
		d.ttl = 0
		p.acknowledge(d, d.condition == always || d.holds(&p.states[0][d.from]))
	}
	return p
}

// falsifications imitate servers that lose writes. Each changes one row of an answer, and returns whether it could.
var falsifications = []struct {
	name string
	do   func(rows []observed, i int, t *table, state []row) ([]observed, bool)
}{
	{"a row is lost", func(rows []observed, i int, _ *table, _ []row) ([]observed, bool) {
		return slices.Delete(rows, i, i+1), true
	}},
	{"a row is read twice", func(rows []observed, i int, _ *table, _ []row) ([]observed, bool) {
		return slices.Insert(rows, i, rows[i]), true
	}},
	{"rows are out of order", func(rows []observed, i int, _ *table, _ []row) ([]observed, bool) {
		if i < 2 {
			return rows, false
		}
		rows[i], rows[i-1] = rows[i-1], rows[i]
		return rows, true
	}},
	{"a deleted row is read", func(rows []observed, _ int, _ *table, state []row) ([]observed, bool) {
		for c := range state {
			if state[c].presence(before) == absent && state[c].cells[columnN].written > 0 {
				o := observed{c: c}
				o.cells[columnN] = integerValue(1)
				rows = append(rows, o)
				byKey(rows)
				return rows, true
			}
		}
		return rows, false
	}},
	{"a cell is lost", func(rows []observed, i int, t *table, _ []row) ([]observed, bool) {
		for c := range t.cellCount() {
			if rows[i].cells[c].length > 0 {
				rows[i].cells[c] = value{}
				return rows, true
			}
		}
		return rows, false
	}},
	{"a cell has another value", func(rows []observed, i int, t *table, _ []row) ([]observed, bool) {
		for c := t.cellCount() - 1; c >= 0; c-- {
			if rows[i].cells[c].length > 0 {
				rows[i].cells[c].seed--
				return rows, true
			}
		}
		return rows, false
	}},
	{"a deleted cell is read", func(rows []observed, i int, t *table, state []row) ([]observed, bool) {
		for c := range t.cellCount() {
			if rows[i].cells[c].length == 0 {
				rows[i].cells[c] = blobValue(1, 10)
				return rows, true
			}
		}
		return rows, false
	}},
	{"bytes are damaged", func(rows []observed, i int, _ *table, _ []row) ([]observed, bool) {
		rows[i].wrong = "v has bytes that nobody wrote"
		return rows, true
	}},
}

// TestCompare falsifies answers to all kinds of questions in all tables: each falsification has to be found, and
// nothing else.
func TestCompare(t *testing.T) {
	w := newWorker(3, 5, 60, &report{}, &pace{})
	done := map[string]int{}
	for _, o := range w.tables {
		p := written(w, o)
		half := question{from: 4, to: 11, when: before}
		questions := []question{p.everything(before), half}
		for _, l := range o.lookups {
			q := p.everything(before)
			q.by = &match{column: l.column}
			questions = append(questions, q)
			if rows := q.answer(p.states[0]); len(rows) > 0 {
				q.by = &match{l.column, rows[0].cells[l.column]}
				questions = append(questions, q)
			}
		}
		for _, q := range questions {
			honest := q.answer(p.states[0])
			if len(honest) == 0 {
				t.Fatalf("%s: nothing is left to compare", o.name)
			}
			if lines := p.compare(o.table, q, honest); lines != nil {
				t.Errorf("%s: differences in an honest answer: %q", o.name, lines)
			}
			reversed := slices.Clone(honest)
			slices.Reverse(reversed)
			if lines := p.compare(o.table, q, reversed); lines != nil {
				t.Errorf("%s: differences in an answer in reverse: %q", o.name, lines)
			}
			for _, f := range falsifications {
				rows, can := f.do(slices.Clone(honest), w.random.IntN(len(honest)), o.table, p.states[0])
				if !can {
					continue
				}
				done[f.name]++
				if p.compare(o.table, q, rows) == nil {
					t.Errorf("%s: %s, and no difference is found from %d to %d by %+v", o.name, f.name, q.from, q.to, q.by)
				}
			}
		}
	}
	for _, f := range falsifications {
		if done[f.name] == 0 {
			t.Errorf("%s: never tried", f.name)
		}
	}
}

// TestReport counts differences, once for each partition, and fails for it.
func TestReport(t *testing.T) {
	r := &report{}
	w := newWorker(0, 1, 60, r, &pace{})
	o := w.tables[0]
	p := written(w, o)
	all := map[int64][]observed{p.key: p.everything(before).answer(p.states[0])}
	r.compareGathered(o, all, nil, before, "in full")
	r.strangers(o.table, all, "in full")
	if err := r.verdict(false); err != nil {
		t.Fatal(err)
	}
	lost := len(p.everything(before).answer(p.states[0]))
	for range 2 {
		r.compareGathered(o, map[int64][]observed{}, nil, before, "of nothing")
	}
	if r.differences != lost || lost == 0 {
		t.Errorf("%d differences where %d rows are lost", r.differences, lost)
	}
	r.strangers(o.table, map[int64][]observed{-1: {{}}}, "of another")
	if r.differences != lost+1 {
		t.Error("a row of no partition is no difference")
	}
	if err := r.verdict(true); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("the verdict is %v", err)
	}
	refused := &report{}
	refused.refuse("a write")
	if refused.verdict(true) != nil || refused.verdict(false) == nil {
		t.Error("an error as an answer is a failure, unless it is allowed")
	}
}

// TestChoose draws every row, and no other.
func TestChoose(t *testing.T) {
	w := newWorker(0, 1, 700, &report{}, &pace{})
	w.random = rand.New(rand.NewPCG(1, 1))
	drawn := map[*partition]map[int]bool{}
	for range 200_000 {
		_, p, c := w.choose()
		if c < 0 || c >= p.rows {
			t.Fatalf("row %d of %d", c, p.rows)
		}
		if drawn[p] == nil {
			drawn[p] = map[int]bool{}
		}
		drawn[p][c] = true
	}
	for _, o := range w.tables {
		for _, p := range o.partitions {
			if len(drawn[p]) != p.rows {
				t.Errorf("%s %d: %d of %d rows are drawn", o.name, p.key, len(drawn[p]), p.rows)
			}
		}
	}
}
