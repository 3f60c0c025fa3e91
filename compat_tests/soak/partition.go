package main

import "slices"

// partition is all that the model knows of one partition. It has one state, the contents of its rows. After
// a write that was not answered it has more: the write was done or it was not. Later writes change all of them, and
// a read drops those that it contradicts.
type partition struct {
	key    int64
	rows   int     // how many clustering keys c there are
	first  int     // how many rows the worker's partitions before it have in this table
	states [][]row // by c; at least one

	// waiting: a write to it was answered with an error. The server may do it at any time until it is restarted, so
	// all states stay.
	waiting bool

	broken    bool   // it differed from the stored rows: that was reported, and it is left alone
	scattered uint16 // how many timestamps that were out of order it has been given
}

// maxStates is how many states a partition may have to be written to.
const maxStates = 8

func newPartition(key int64, rows, first int) *partition {
	return &partition{key: key, rows: rows, first: first, states: [][]row{make([]row, rows)}}
}

// writable reports whether the worker may go on writing.
func (p *partition) writable() bool { return !p.broken && !p.waiting && len(p.states) < maxStates }

// acknowledge makes a write that was answered, with [applied] for a conditional one. It reports whether any state of
// the partition allows that answer.
func (p *partition) acknowledge(w *write, applied bool) bool {
	kept := p.states[:0:0]
	for _, rows := range p.states {
		if w.apply(rows) == applied {
			kept = append(kept, rows)
		}
	}
	if len(kept) == 0 {
		return false
	}
	p.keep(kept)
	return true
}

// unanswered notes that a write was done or was not.
func (p *partition) unanswered(w *write) {
	all := slices.Clone(p.states)
	for _, rows := range p.states {
		after := slices.Clone(rows)
		w.apply(after)
		all = append(all, after)
	}
	p.keep(all)
}

// keep replaces the states by others, each of them once.
func (p *partition) keep(states [][]row) {
	p.states = p.states[:0:0]
	for _, rows := range states {
		if !slices.ContainsFunc(p.states, func(other []row) bool { return slices.Equal(rows, other) }) {
			p.states = append(p.states, rows)
		}
	}
}

// touched reports whether anything was ever written to a row.
func (p *partition) touched(c int) bool {
	return slices.ContainsFunc(p.states, func(rows []row) bool { return rows[c] != row{} })
}
