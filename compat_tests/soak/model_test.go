package main

import (
	"testing"
)

// long ago and long after are windows of reads, beside a TTL that ends at expiry.
const expiry = 1_000_000

var (
	before = window{expiry - 100, expiry - 99}
	around = window{expiry - 1, expiry - 1}
	after  = window{expiry + 100, expiry + 101}
)

// TestRow holds the rules of timestamps against the expectations of a reader of Cassandra's documentation would
// expect.
func TestRow(t *testing.T) {
	one, two := change{columnN, integerValue(1)}, change{columnN, integerValue(2)}
	element := change{firstElement, blobValue(7, 20)}
	inserted := write{form: insert, timestamp: 10, cells: []change{one}}
	for _, test := range []struct {
		name   string
		writes []write
		when   window
		row    presence
		cell   int
		found  presence
		value  value
	}{
		{"nothing", nil, before, absent, columnN, absent, value{}},
		{"an insert", []write{inserted}, before, present, columnN, present, one.value},
		{"a newer update", []write{inserted, {form: update, timestamp: 12, cells: []change{two}}}, before, present, columnN, present, two.value},
		{"an older update that comes later", []write{inserted, {form: update, timestamp: 9, cells: []change{two}}}, before, present, columnN, present, one.value},
		{"a cell that is deleted leaves the row of an insert", []write{inserted, {form: deleteCells, timestamp: 12, cells: []change{{cell: columnN}}}}, before, present, columnN, absent, value{}},
		{"a cell that is deleted leaves no row of an update", []write{
			{form: update, timestamp: 10, cells: []change{one}}, {form: deleteCells, timestamp: 12, cells: []change{{cell: columnN}}},
		}, before, absent, columnN, absent, value{}},
		{"a deletion of the same time wins", []write{inserted, {form: deleteRows, timestamp: 10}}, before, absent, columnN, absent, one.value},
		{"an older deletion that comes later", []write{inserted, {form: deleteRows, timestamp: 9}}, before, present, columnN, present, one.value},
		{"an older insert after a deletion", []write{{form: deleteRows, timestamp: 12}, inserted}, before, absent, columnN, absent, one.value},
		{"before a TTL ends", []write{{form: insert, timestamp: 10, cells: []change{one}, expires: expiry}}, before, present, columnN, present, one.value},
		{"about when a TTL ends", []write{{form: insert, timestamp: 10, cells: []change{one}, expires: expiry}}, around, possible, columnN, possible, one.value},
		{"after a TTL ended", []write{{form: insert, timestamp: 10, cells: []change{one}, expires: expiry}}, after, absent, columnN, absent, one.value},
		{"a TTL of a slow answer", []write{{form: insert, timestamp: 10, cells: []change{one}, expires: expiry, slack: 100}}, after, possible, columnN, possible, one.value},
		{"an expired cell hides an older one", []write{inserted, {form: update, timestamp: 12, cells: []change{two}, expires: expiry}}, after, present, columnN, absent, two.value},
		{"an element of an emptied map", []write{
			{form: update, timestamp: 10, cells: []change{element}}, {form: deleteCells, timestamp: 12, emptied: emptiesMap},
		}, before, absent, firstElement, absent, element.value},
		{"an element of a replaced map", []write{{form: update, timestamp: 12, emptied: replacesMap, cells: []change{element}}}, before, present, firstElement, present, element.value},
		{"an older element in a replaced map", []write{
			{form: update, timestamp: 12, emptied: replacesMap}, {form: update, timestamp: 11, cells: []change{element}},
		}, before, absent, firstElement, absent, element.value},
		{"increments", []write{
			{form: count, cells: []change{{0, counterValue(5)}}}, {form: count, cells: []change{{0, counterValue(-7)}}},
		}, before, present, 0, present, counterValue(-2)},
	} {
		var r row
		for i := range test.writes {
			r.apply(&test.writes[i])
		}
		if got := r.presence(test.when); got != test.row {
			t.Errorf("%s: the row is %d, want %d", test.name, got, test.row)
		}
		if got := r.cell(test.cell, test.when); got != test.found || r.cells[test.cell].value != test.value {
			t.Errorf("%s: the cell is %d of %v, want %d of %v", test.name, got, r.cells[test.cell].value, test.found, test.value)
		}
	}
}

// TestConditions decides conditional writes.
func TestConditions(t *testing.T) {
	one := integerValue(1)
	there := []row{{}}
	(&write{form: insert, timestamp: 10, cells: []change{{columnN, one}}}).apply(there)
	for _, test := range []struct {
		condition     condition
		expected      value
		there, absent bool
	}{
		{always, value{}, true, true},
		{ifNotExists, value{}, false, true},
		{ifExists, value{}, true, false},
		{ifN, one, true, false},
		{ifN, integerValue(2), false, false},
	} {
		w := &write{condition: test.condition, expected: test.expected}
		if w.holds(&there[0]) != test.there || w.holds(&row{}) != test.absent {
			t.Errorf("condition %d with %v: %t where n is 1, %t where nothing is", test.condition, test.expected, w.holds(&there[0]), w.holds(&row{}))
		}
	}
}

// TestStates checks the allowed states after a write without an answer.
func TestStates(t *testing.T) {
	table := tables[0]
	number := func(n uint64, timestamp int64) *write {
		return &write{form: update, timestamp: timestamp, cells: []change{{columnN, integerValue(n)}}}
	}
	read := func(n uint64) []observed { return []observed{{cells: [maxCells]value{columnN: integerValue(n)}}} }
	for _, test := range []struct {
		name    string
		stored  uint64
		waiting bool
		differs bool
		states  int // afterwards
	}{
		{"done", 2, false, false, 1},
		{"not done", 1, false, false, 1},
		{"neither", 3, false, true, 2},
		{"may be done later", 1, true, false, 2},
	} {
		p := newPartition(1, 1, 0)
		p.acknowledge(number(1, 10), true)
		p.unanswered(number(2, 12))
		p.waiting = test.waiting
		lines := p.compare(table, p.everything(before), read(test.stored))
		if (lines != nil) != test.differs || len(p.states) != test.states {
			t.Errorf("%s: %d states, differences %q", test.name, len(p.states), lines)
		}
	}

	p := newPartition(1, 1, 0)
	p.unanswered(number(2, 12))
	p.acknowledge(number(3, 14), true)
	if len(p.states) != 1 {
		t.Errorf("%d states after a write that decides", len(p.states))
	}
	p.unanswered(number(2, 13))
	if len(p.states) != 1 {
		t.Errorf("%d states after an older write, which leaves nothing", len(p.states))
	}
	p.unanswered(&write{form: deleteRows, timestamp: 13})
	if len(p.states) != 2 {
		t.Errorf("%d states after an older deletion, which hides later writes with older timestamps", len(p.states))
	}

	// The answer to a conditional write tells whether the one before was done.
	p = newPartition(1, 1, 0)
	p.unanswered(number(2, 12))
	if w := number(3, 14); !p.acknowledge(&write{
		form: update, timestamp: 14, cells: w.cells, condition: ifN, expected: integerValue(2),
	}, true) || len(p.states) != 1 {
		t.Errorf("%d states after an answer that decides", len(p.states))
	}
	if p.acknowledge(&write{form: insert, timestamp: 16, condition: ifNotExists}, true) {
		t.Error("a row is inserted IF NOT EXISTS that exists")
	}
}

// TestValues parses values from their bytes, and refuses changed bytes.
func TestValues(t *testing.T) {
	for _, test := range []struct {
		value value
		kind  kind
	}{
		{integerValue(123456), integer},
		{counterValue(-5), counter},
		{wordValue(40), word},
		{blobValue(1<<40|5, 8), blob},
		{blobValue(1<<40|5, 1003), blob},
		{blobValue(2<<40|5, 300_000), blob},
	} {
		b := test.value.bytes(test.kind)
		if v, err := parseValue(b, test.kind); err != nil || v != test.value {
			t.Errorf("%v is read as %v, %v", test.value, v, err)
		}
		b[len(b)-1] ^= 1
		if v, err := parseValue(b, test.kind); err == nil && v == test.value {
			t.Errorf("%v is read where a bit has changed", test.value)
		}
	}
}
