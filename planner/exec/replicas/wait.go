package replicas

import (
	"maps"
	"slices"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec/ring"
)

// Wait is how long a request waits for slow replicas: for the last one that it needs, however many round trips
// Cassandra would make.
type Wait struct {
	Time time.Duration
	Late *cqlerr.Error // the answer after Time; nil: the replicas have answered by then
}

// Add makes the request wait for more replicas. A request that is too late stays so.
func (w *Wait) Add(more Wait) {
	if w.Late == nil && (more.Late != nil || more.Time > w.Time) {
		*w = more
	}
}

// Sleep waits for the replicas with a function that sleeps, and returns the error if they are too late.
func (w *Wait) Sleep(sleep func(time.Duration) error) error {
	if w.Time > 0 {
		if err := sleep(w.Time); err != nil {
			return err
		}
	}
	if w.Late != nil {
		return w.Late
	}
	return nil
}

// lateError makes the error of a request that has got too few answers in time.
type lateError func(received, blockFor int) *cqlerr.Error

func writeLate(cl cqlerr.Consistency, kind string) lateError {
	return func(received, blockFor int) *cqlerr.Error { return cqlerr.WriteLate(cl, received, blockFor, kind) }
}

// casLate makes the error of a conditional write, whose replicas agree on it or take its mutations.
func casLate(cl cqlerr.Consistency, kind string) lateError {
	return func(received, blockFor int) *cqlerr.Error { return cqlerr.CASLate(cl, received, blockFor, kind) }
}

// await returns how long a request waits until as many replicas as its level asks for have answered. The fastest ones
// count: Cassandra reads from those, and writes to all.
func (s *Set) await(timeout time.Duration, cl cqlerr.Consistency, late lateError) Wait {
	if s.view == nil || s.view.Delay == nil {
		return Wait{}
	}
	factors := s.byDatacenter()
	if cl != cqlerr.EachQuorum || factors == nil {
		datacenter := ""
		if isLocal(cl) {
			datacenter = s.datacenter
		}
		answers := delays(s.view, s.nodes, datacenter)
		return until(timeout, answers, min(s.blockFor(cl), max(len(answers), s.required(cl))), late)
	}
	var last time.Duration
	received := 0
	for _, datacenter := range slices.Sorted(maps.Keys(factors)) {
		answers := delays(s.view, s.nodes, datacenter)
		received += inTime(answers, timeout)
		if required := factors[datacenter]/2 + 1; required <= len(answers) {
			last = max(last, answers[required-1])
		}
	}
	if last > timeout {
		return Wait{timeout, late(min(received, s.blockFor(cl)-1), s.blockFor(cl))}
	}
	return Wait{Time: last}
}

// awaitAgreement returns how long a serial operation waits for its replicas.
func (s *Set) awaitAgreement(timeout time.Duration, cl cqlerr.Consistency, late lateError) Wait {
	if s.view == nil || s.view.Delay == nil {
		return Wait{}
	}
	datacenter := ""
	if cl == cqlerr.LocalSerial {
		datacenter = s.datacenter
	}
	required, _ := s.agreement(cl)
	w := until(timeout, delays(s.view, s.nodes, datacenter), required, late)
	w.Add(s.await(timeout, readLevel(cl), late))
	return w
}

// until returns how long a request waits for a number of answers.
func until(timeout time.Duration, answers []time.Duration, blockFor int, late lateError) Wait {
	if blockFor == 0 {
		return Wait{}
	}
	if received := inTime(answers, timeout); received < blockFor {
		return Wait{timeout, late(received, blockFor)}
	}
	return Wait{Time: answers[blockFor-1]}
}

// inTime returns how many answers, which are sorted, come in time.
func inTime(answers []time.Duration, timeout time.Duration) int {
	n, _ := slices.BinarySearch(answers, timeout+1)
	return n
}

// delays returns how late the nodes that are up answer, sorted, in all datacenters or in one of them.
func delays(v *ring.View, nodes []int, datacenter string) []time.Duration {
	var all []time.Duration
	for _, i := range nodes {
		if !v.Up[i] || datacenter != "" && v.Nodes[i].Datacenter != datacenter {
			continue
		}
		if v.Delay == nil {
			all = append(all, 0)
		} else {
			all = append(all, v.Delay[i])
		}
	}
	slices.Sort(all)
	return all
}

// maxLogReplicas is how many nodes keep a logged batch until it is applied.
const maxLogReplicas = 2

// BatchLog refuses a logged batch of several partitions that no other node of the datacenter can keep until it is
// applied. It returns how long the batch waits for two that can.
//
// A datacenter of one or two nodes needs all of them, whether they are alive or not, as Cassandra does: the batch fails
// when its time is over.
func BatchLog(v *ring.View, cl cqlerr.Consistency, timeout time.Duration) (Wait, error) {
	wait := func(answers []time.Duration, n int) Wait {
		level := cqlerr.Two
		if n == 1 {
			level = cqlerr.One
		}
		return until(timeout, answers, n, writeLate(level, "BATCH_LOG"))
	}
	members := v.Members(v.Datacenter())
	if n := len(members); n <= maxLogReplicas {
		return wait(delays(v, members, ""), n), nil
	}
	others := delays(v, slices.DeleteFunc(members, func(i int) bool { return i == v.Self }), "")
	switch n := min(len(others), maxLogReplicas); {
	case n > 0:
		return wait(others, n), nil
	case cl == cqlerr.Any: // the coordinator could keep it, but two have to
		return Wait{}, cqlerr.NotEnoughReplicas(cqlerr.Two, maxLogReplicas, 1)
	}
	return Wait{}, cqlerr.NoBatchLog(maxLogReplicas)
}
