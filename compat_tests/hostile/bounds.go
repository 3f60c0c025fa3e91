package main

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// The bounds on the resources of a server and on the delays of its other clients, on 2 cores.
const (
	// boundMemory bounds anonymous resident memory, in addition to the data if they are in memory. Pages of files do
	// not count: the system keeps them resident as long as it has no other use for the memory.
	boundMemory = 1 << 30

	boundLatency = 100 * time.Millisecond
	boundVisit   = time.Second     // for a new client to be answered
	boundBusy    = 2 * time.Second // for the processors to be free once the attackers have left
	boundStop    = 2 * time.Second // for the process to end after the last answer and the signal
)

// How much more the server may hold after an attack than before: the heap grows and shrinks, tables get files, and the
// neighbour's visits come and go.
const (
	slackAnon        = 100 << 20
	restingAnon      = 128 << 20 // an idle server reaches this sooner or later: memtables, and garbage not collected yet
	slackGoroutines  = 20
	slackDescriptors = 20
)

// result is the result of one attack.
type result struct {
	attack attack

	before, peak, after state
	resident            int64         // of the data, if they are in memory
	limit               int64         // --memory-limit, if any
	seen                experience    // by the neighbour, during the attack
	later               experience    // afterwards
	report              report        // of the attackers
	busy                time.Duration // from the end of the attack until the processors were free
	settled             time.Duration // and until memory, goroutines and descriptors were as before
	unsettled           bool          // they did not return to that in time
	killed, ended       bool
	log                 string // the server's, if it ended

	stopped *stopping // for a run that stops the server

	broken []string
}

// stopping is how a server ended.
type stopping struct {
	took   time.Duration // since the signal
	linger time.Duration // since the last answer, or since the signal if none followed it
	never  bool          // it did not end in time and was killed
	exit   string        // its status, unless that is good
	log    string        // from then on
}

// judge sets the broken bounds.
func (r *result) judge() {
	bad := func(format string, values ...any) { r.broken = append(r.broken, fmt.Sprintf(format, values...)) }
	switch {
	case r.killed:
		bad("killed at %s of memory that is not of files", mib(r.peak.memory.Anon))
		return
	case r.stopped != nil:
		if r.stopped.never {
			bad("it did not end for %s", seconds(r.stopped.took))
		} else if r.stopped.linger > boundStop {
			bad("it took %s to end after the last answer, bound %s", seconds(r.stopped.linger), seconds(boundStop))
		}
		return
	case r.ended:
		bad("the server ended by itself: %s", r.log)
		return
	}
	if r.report.Failed != "" {
		bad("the attack could not go on: %s", r.report.Failed)
	}
	anon := r.peak.memory.Anon - r.resident
	if anon > boundMemory {
		bad("anonymous memory %s, bound %s", mib(anon), mib(boundMemory))
	}
	if r.limit > 0 && anon > r.limit {
		bad("anonymous memory %s, the limit is %s", mib(anon), mib(r.limit))
	}
	r.judgeNeighbour(bad)
	if r.attack.within > 0 && r.report.Slowest > r.attack.within {
		bad("a request took %s, bound %s", seconds(r.report.Slowest), seconds(r.attack.within))
	}
	if r.busy > boundBusy {
		bad("the processors were busy for %s when the attackers had left, bound %s", seconds(r.busy), seconds(boundBusy))
	}
	if r.unsettled {
		if r.after == (state{}) {
			bad("the server did not tell its goroutines once the attackers had left")
			return
		}
		bad("not as before: anonymous memory %s, was %s; %d goroutines, was %d; %d descriptors, was %d",
			mib(r.after.memory.Anon), mib(r.before.memory.Anon), r.after.goroutines, r.before.goroutines,
			r.after.descriptors, r.before.descriptors)
	}
}

func (r *result) judgeNeighbour(bad func(string, ...any)) {
	for _, l := range []struct {
		name string
		latencies
	}{{"reads", r.seen.reads}, {"writes", r.seen.writes}} {
		if p99 := l.at(0.99); p99 > boundLatency {
			bad("the neighbour's %s took %s (p99), bound %s; it was late itself by %s", l.name, millis(p99),
				millis(boundLatency), millis(r.seen.late.at(0.99)))
		}
		if len(l.latencies) == 0 {
			bad("the neighbour had no %s", l.name)
		}
	}
	if slowest := r.seen.newcomers.at(1); slowest > boundVisit {
		bad("a client that came waited %s, bound %s", seconds(slowest), seconds(boundVisit))
	}
	for _, e := range []experience{r.seen, r.later} {
		for _, text := range slices.Sorted(maps.Keys(e.errors)) {
			bad("the neighbour got %d times: %s", e.errors[text], text)
		}
	}
}

// asBefore reports whether a process holds no more than it did.
func (s state) asBefore(before state) bool {
	return s.memory.Anon <= max(before.memory.Anon, restingAnon)+slackAnon && s.goroutines <= before.goroutines+slackGoroutines &&
		s.descriptors <= before.descriptors+slackDescriptors
}
