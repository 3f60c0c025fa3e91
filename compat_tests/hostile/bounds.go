package main

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// The bounds on the resources of a server and on the delays of its other clients, on 2 cores.
const (
	// Of resident memory that is not of files, beyond what the data take if they are in memory. Pages of files that
	// were read or written are resident as long as the system has no other use for them.
	boundMemory = 1 << 30

	boundLatency = 100 * time.Millisecond
	boundVisit   = time.Second     // for a client that comes to be answered
	boundBusy    = 2 * time.Second // for the processors to be free once the attackers have left
	boundStop    = 2 * time.Second // for the process to end after the last answer and the signal
)

// What may be more than before when all is over: the heap grows and shrinks, tables get files, the neighbour's visits
// come and go.
const (
	slackAnon        = 100 << 20
	restingAnon      = 128 << 20 // a server at rest comes to this sooner or later: tables in memory, and the collector waits
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
	busy                time.Duration // from where the attackers left to where the processors were free
	settled             time.Duration // and to where memory, goroutines and descriptors were as before
	unsettled           bool          // they never were
	killed, ended       bool
	log                 string // the server's, if it ended

	stopped *stopping // for a run that tells the server to stop

	broken []string
}

// stopping is how a server ended.
type stopping struct {
	took   time.Duration // from the signal
	behind time.Duration // from the last answer, or the signal if there came none
	never  bool          // it was killed in the end
	exit   string        // its status, unless that is good
	log    string        // from then on
}

// judge says which bounds are broken.
func (r *result) judge() {
	bad := func(format string, values ...any) { r.broken = append(r.broken, fmt.Sprintf(format, values...)) }
	switch {
	case r.killed:
		bad("killed at %s of memory that is not of files", mib(r.peak.memory.Anon))
		return
	case r.stopped != nil:
		if r.stopped.never {
			bad("it did not end for %s", seconds(r.stopped.took))
		} else if r.stopped.behind > boundStop {
			bad("it took %s to end behind the last answer, bound %s", seconds(r.stopped.behind), seconds(boundStop))
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
