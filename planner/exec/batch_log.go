package exec

import (
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
)

// checkBatchLog refuses a logged batch of several partitions that no other node of the datacenter can keep until it is
// applied. It returns how long the batch waits for two that can.
//
// A datacenter of one or two nodes takes all of them, whether they are alive or not, as Cassandra does: the batch fails
// when its time is over.
func checkBatchLog(o *Options) (awaited, error) {
	v := o.View
	members := v.Members(v.Datacenter())
	late := func(level cqlerr.Consistency) lateAnswer { return writeLate(level, "BATCH_LOG") }
	if n := len(members); n <= logReplicas {
		return until(o, delays(v, members, ""), n, late(logLevel(n))), nil
	}
	others := delays(v, slices.DeleteFunc(members, func(i int) bool { return i == v.Self }), "")
	switch n := min(len(others), logReplicas); {
	case n > 0:
		return until(o, others, n, late(logLevel(n))), nil
	case o.Consistency == cqlerr.Any: // the coordinator could keep it, but two have to
		return awaited{}, cqlerr.NotEnoughReplicas(cqlerr.Two, logReplicas, 1)
	}
	return awaited{}, cqlerr.NoBatchLog(logReplicas)
}

// logReplicas is how many nodes keep a logged batch until it is applied.
const logReplicas = 2

// logLevel is the consistency level that a batch is kept at by one or two nodes.
func logLevel(nodes int) cqlerr.Consistency {
	if nodes == 1 {
		return cqlerr.One
	}
	return cqlerr.Two
}
