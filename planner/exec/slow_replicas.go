package exec

import (
	"maps"
	"slices"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec/ring"
)

// awaited is how long a request waits for replicas that are slow: for the last one that it needs, however many round
// trips Cassandra would make.
type awaited struct {
	time time.Duration
	late *cqlerr.Error // what is answered after that time; nil: the replicas have answered
}

// add makes the request wait for more replicas. A request that is too late stays so.
func (a *awaited) add(more awaited) {
	if a.late == nil && (more.late != nil || more.time > a.time) {
		*a = more
	}
}

// wait waits for the replicas, and returns the error if they are too late.
func (a *awaited) wait(o *Options) error {
	if a.time > 0 {
		if err := o.Sleep(a.time); err != nil {
			return err
		}
	}
	if a.late != nil {
		return a.late
	}
	return nil
}

// lateAnswer makes the error of a request that has got too few answers in time.
type lateAnswer func(received, blockFor int) *cqlerr.Error

// readLate makes the error of a read.
func readLate(cl cqlerr.Consistency) lateAnswer {
	return func(received, blockFor int) *cqlerr.Error { return cqlerr.ReadLate(cl, received, blockFor) }
}

// writeLate makes the error of a write.
func writeLate(cl cqlerr.Consistency, kind string) lateAnswer {
	return func(received, blockFor int) *cqlerr.Error { return cqlerr.WriteLate(cl, received, blockFor, kind) }
}

// casLate makes the error of a conditional write, whose replicas agree on it or take what it writes.
func casLate(cl cqlerr.Consistency, kind string) lateAnswer {
	return func(received, blockFor int) *cqlerr.Error { return cqlerr.CASLate(cl, received, blockFor, kind) }
}

// await returns how long a request waits until so many replicas as its level asks for have answered. The fastest ones
// count: Cassandra reads from those, and writes to all.
func (r *replicas) await(o *Options, cl cqlerr.Consistency, late lateAnswer) awaited {
	if r.view == nil || r.view.Delay == nil {
		return awaited{}
	}
	factors := r.byDatacenter()
	if cl != cqlerr.EachQuorum || factors == nil {
		datacenter := ""
		if isLocal(cl) {
			datacenter = r.datacenter
		}
		answers := delays(r.view, r.nodes, datacenter)
		return until(o, answers, min(r.blockFor(cl), max(len(answers), r.required(cl))), late)
	}
	var last time.Duration
	received := 0
	for _, datacenter := range slices.Sorted(maps.Keys(factors)) {
		answers := delays(r.view, r.nodes, datacenter)
		received += inTime(answers, o.Timeout)
		if required := factors[datacenter]/2 + 1; required <= len(answers) {
			last = max(last, answers[required-1])
		}
	}
	if last > o.Timeout {
		return awaited{o.Timeout, late(min(received, r.blockFor(cl)-1), r.blockFor(cl))}
	}
	return awaited{time: last}
}

// awaitAgreement returns how long a serial operation waits for its replicas.
func (r *replicas) awaitAgreement(o *Options, cl cqlerr.Consistency, late lateAnswer) awaited {
	if r.view == nil || r.view.Delay == nil {
		return awaited{}
	}
	datacenter := ""
	if cl == cqlerr.LocalSerial {
		datacenter = r.datacenter
	}
	required, _ := r.agreement(cl)
	a := until(o, delays(r.view, r.nodes, datacenter), required, late)
	a.add(r.await(o, readLevel(cl), late))
	return a
}

// until returns how long a request waits for a number of answers.
func until(o *Options, answers []time.Duration, blockFor int, late lateAnswer) awaited {
	if blockFor == 0 {
		return awaited{}
	}
	if received := inTime(answers, o.Timeout); received < blockFor {
		return awaited{o.Timeout, late(received, blockFor)}
	}
	return awaited{time: answers[blockFor-1]}
}

// inTime returns how many answers come in time. The first ones come first.
func inTime(answers []time.Duration, timeout time.Duration) int {
	n, _ := slices.BinarySearch(answers, timeout+1)
	return n
}

// delays returns how late nodes answer that are up, in all datacenters or in one of them, in order.
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
