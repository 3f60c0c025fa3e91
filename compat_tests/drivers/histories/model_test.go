package histories

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// rowsEach is how many rows a partition has at most.
const rowsEach = 2

// partition is the state of the model: the value of each row. 0: there is no row.
type partition [rowsEach]int

// kind is the kind of a request.
type kind int

const (
	insert kind = iota // a row, IF NOT EXISTS
	update             // a row, IF it has a value
	remove             // a row, IF EXISTS
	swap               // a batch: updates all rows, IF they have values
	read               // all rows, at SERIAL
)

var kinds = [...]string{insert: "insert", update: "update", remove: "delete", swap: "batch", read: "read"}

// request is a request of a client.
type request struct {
	kind     kind
	key, row int
	if_      partition // of update and swap: the values that rows have to have
	to       partition // the values to write
}

// answer is the answer to a request.
type answer struct {
	unknown bool // there was none
	applied bool
	shown   partition // of a read, or of a write that was not applied
}

// touches reports whether a request is about a row.
func (r *request) touches(row int) bool { return r.kind == swap || r.kind == read || r.row == row }

// holds reports whether the conditions of a write hold.
func (r *request) holds(p partition) bool {
	switch r.kind {
	case insert:
		return p[r.row] == 0
	case remove:
		return p[r.row] != 0
	}
	for row := range p {
		if r.touches(row) && p[row] != r.if_[row] {
			return false
		}
	}
	return true
}

// write is the partition after the write.
func (r *request) write(p partition) partition {
	for row := range p {
		if r.touches(row) {
			p[row] = r.to[row]
		}
	}
	return p
}

// step reports whether a request can have that answer, and returns the next state of the partition. A request without
// an answer may have been applied at any time; if it never was, its place is after all others.
func step(p partition, r request, a answer) (bool, partition) {
	applied := r.kind != read && r.holds(p)
	if !a.unknown && !a.isOf(r, p, applied) {
		return false, p
	}
	if applied {
		p = r.write(p)
	}
	return true, p
}

// isOf reports whether an answer is that of the model.
func (a *answer) isOf(r request, p partition, applied bool) bool {
	if r.kind != read && a.applied != applied {
		return false
	}
	for row := range p {
		if !applied && r.touches(row) && a.shown[row] != p[row] {
			return false
		}
	}
	return true
}

// model is for porcupine.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[int][]porcupine.Operation{}
		for _, o := range history {
			key := o.Input.(request).key
			byKey[key] = append(byKey[key], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return partition{} },
	Step: func(state, input, output any) (bool, any) {
		return step(state.(partition), input.(request), output.(answer))
	},
	DescribeOperation: func(input, output any) string { return describe(input.(request), output.(answer)) },
}

// describe prints an operation for a history that is not linearizable.
func describe(r request, a answer) string {
	s := fmt.Sprintf("%s key %d row %d", kinds[r.kind], r.key, r.row)
	if r.kind == update || r.kind == swap {
		s += fmt.Sprintf(" if %v", r.if_)
	}
	if r.kind != read {
		s += fmt.Sprintf(" to %v", r.to)
	}
	if a.unknown {
		return s + ": no answer"
	}
	return s + fmt.Sprintf(": applied %v, shown %v", a.applied, a.shown)
}

// printHistory prints operations in the order in which they were sent.
func printHistory(history []porcupine.Operation) (s string) {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	for _, o := range history {
		s += fmt.Sprintf("%9d to %9d µs, client %d: %s\n",
			o.Call/1000, o.Return/1000, o.ClientId, describe(o.Input.(request), o.Output.(answer)))
	}
	return s
}
