package main

import "slices"

// partition is the model of one partition. It has one state, the contents of its rows. A write without an answer
// doubles the states: it was applied or it was not. Later writes change all states, and a read drops the states that it
// contradicts.
type partition struct {
	key    int64
	rows   int     // how many clustering keys c there are
	first  int     // how many rows the worker's earlier partitions have in this table
	states [][]row // by c; at least one

	// waiting: a write to it was answered with an error. The server may apply it at any time until it is restarted, so
	// all states stay allowed.
	waiting bool

	broken    bool   // it differed from the stored rows; reported, and not used again
	scattered uint16 // how many of its timestamps were out of order
}

// maxStates: a partition with more states is not written to.
const maxStates = 8

func newPartition(key int64, rows, first int) *partition {
	return &partition{key: key, rows: rows, first: first, states: [][]row{make([]row, rows)}}
}

// writable reports whether the worker may write to the partition.
func (p *partition) writable() bool { return !p.broken && !p.waiting && len(p.states) < maxStates }

// acknowledge applies an answered write; applied is the answer to its condition. It reports whether any state of the
// partition allows that answer.
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

// unanswered adds the states in which a write was applied.
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
