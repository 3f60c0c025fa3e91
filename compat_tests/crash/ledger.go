package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// ledger knows the allowed states of each place: the state after the last acknowledged write, and the state after the
// write that was sent and not answered.
type ledger struct {
	mu           sync.Mutex
	places       map[string]*place // by kind and key
	acknowledged int
	unanswered   int
	found        int       // unanswered writes that were applied
	lastSent     time.Time // when the latest acknowledged write was sent
	oldest       time.Time // when the oldest of the writes that the last settle found lost was acknowledged
}

// place is a unit of writing and reading: a row, the rows of a batch, the tables of a keyspace. Only one write to it is
// in flight at a time.
type place struct {
	history []past // acknowledged states, oldest first; the last must be stored
	sent    *string
	sentAt  time.Time
}

// past is a state of a place, with the time of its acknowledgement.
type past struct {
	state string // "": nothing
	since time.Time
}

// state is the state of a place after an acknowledged write.
func (p *place) state() string { return p.history[len(p.history)-1].state }

// place returns a place. A new one is empty.
func (l *ledger) place(kind, key string) *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places == nil {
		l.places = map[string]*place{}
	}
	p, ok := l.places[kind+" "+key]
	if !ok {
		p = &place{history: []past{{}}}
		l.places[kind+" "+key] = p
	}
	return p
}

// send notes a write before it is sent.
func (l *ledger) send(p *place, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.sent, p.sentAt = &state, time.Now()
}

// acknowledge notes that the write under way was answered.
func (l *ledger) acknowledge(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.history = append(p.history, past{*p.sent, time.Now()})
	p.sent = nil
	l.acknowledged++
	if p.sentAt.After(l.lastSent) {
		l.lastSent = p.sentAt
	}
}

// settle compares the stored states with the allowed ones. The stored states become the only allowed ones. Writes that
// were acknowledged after safe may be lost. It returns how many of them are lost, and a line for each violation.
func (l *ledger) settle(stored map[string]string, safe time.Time) (lost int, wrong []string) {
	l.oldest = time.Now()
	for name, p := range l.places {
		state := stored[name]
		delete(stored, name)
		switch n, ok := p.allows(state, safe); {
		case p.sent != nil && state == *p.sent:
			l.found++
		case ok:
			lost += n
			if at := p.history[len(p.history)-n:]; n > 0 && at[0].since.Before(l.oldest) {
				l.oldest = at[0].since
			}
		default:
			wrong = append(wrong, fmt.Sprintf("%s: stored %q, acknowledged %q, sent %s", name, brief(state), brief(p.state()), p.sending()))
		}
		if p.sent != nil {
			l.unanswered++
		}
		*p = place{history: []past{{state, time.Now()}}}
	}
	for name, state := range stored {
		if state != "" {
			wrong = append(wrong, fmt.Sprintf("%s: stored %q, which was never sent", name, brief(state)))
		}
	}
	slices.Sort(wrong)
	return lost, wrong
}

// allows reports whether the place may be in a state, and how many acknowledged writes are lost if it is.
func (p *place) allows(state string, safe time.Time) (lost int, ok bool) {
	for i := len(p.history) - 1; i >= 0; i-- {
		if p.history[i].state == state {
			return len(p.history) - 1 - i, true
		}
		if !p.history[i].since.After(safe) {
			return 0, false
		}
	}
	return 0, false
}

func (p *place) sending() string {
	if p.sent == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", brief(*p.sent))
}

// brief shortens a text that would fill the screen.
func brief(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}
