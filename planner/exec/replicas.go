package exec

import (
	"maps"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// StrictReplicas makes the executor answer Unavailable where a consistency level needs more replicas than the one that
// this node is, in a datacenter. Otherwise the node stands for all replicas that a keyspace asks for. It is called
// before the first execution.
func (e *Executor) StrictReplicas(datacenter string) { e.strictIn = datacenter }

// replicas are those of a keyspace: how many there should be, and how many are alive.
type replicas struct {
	keyspace *schema.Keyspace // nil: it was dropped
	strictIn string           // the node's datacenter, where the node is one replica; "": it stands for all
	factor   int
	alive    int
}

// replicasOf returns the replicas of a table's rows.
func (e *Executor) replicasOf(t *schema.Table) replicas {
	r := replicas{keyspace: e.store.Catalog().Keyspace(t.Keyspace), strictIn: e.strictIn, factor: 1}
	if r.keyspace != nil {
		r.factor = r.keyspace.Replicas()
	}
	if r.alive = r.factor; r.strictIn != "" {
		r.alive = min(r.local(), 1)
	}
	return r
}

// local is how many replicas there should be in the node's datacenter.
func (r *replicas) local() int {
	if r.keyspace == nil || r.strictIn == "" || r.keyspace.ByDatacenter() == nil {
		return r.factor
	}
	return r.keyspace.ByDatacenter()[r.strictIn]
}

// checkWrite refuses a write at a level that the replicas cannot reach.
func (r *replicas) checkWrite(cl cqlerr.Consistency) error {
	if cl == cqlerr.EachQuorum && r.strictIn != "" && r.keyspace != nil && r.keyspace.ByDatacenter() != nil {
		return r.checkEach()
	}
	if required := r.required(cl); required > r.alive {
		return cqlerr.NotEnoughReplicas(cl, required, r.alive)
	}
	return nil
}

// checkEach refuses EACH_QUORUM where a datacenter has too few replicas that are alive.
func (r *replicas) checkEach() error {
	factors := r.keyspace.ByDatacenter()
	for _, datacenter := range slices.Sorted(maps.Keys(factors)) {
		alive := 0
		if datacenter == r.strictIn {
			alive = r.alive
		}
		if required := factors[datacenter]/2 + 1; required > alive {
			return cqlerr.NotEnoughIn(datacenter, cqlerr.EachQuorum, required)
		}
	}
	return nil
}

// checkRead refuses a read at a level that the replicas cannot reach.
func (r *replicas) checkRead(cl cqlerr.Consistency) error {
	if err := r.checkWrite(cl); err != nil {
		return err
	}
	if r.alive == 0 {
		return cqlerr.NoFullReplica(cl)
	}
	return nil
}

// checkSerial refuses conditions and reads of one partition at a serial level that the replicas cannot reach. The level
// that rows are read at fails first, if there are replicas at all.
func (r *replicas) checkSerial(cl cqlerr.Consistency) error {
	switch {
	case r.alive == 0:
	case cl == cqlerr.Serial:
		cl = cqlerr.Quorum
	case cl == cqlerr.LocalSerial:
		cl = cqlerr.LocalQuorum
	}
	return r.checkRead(cl)
}

// required is how many replicas have to answer.
func (r *replicas) required(cl cqlerr.Consistency) int {
	switch cl {
	case cqlerr.Any:
		return 0
	case cqlerr.Two:
		return 2
	case cqlerr.Three:
		return 3
	case cqlerr.All:
		return r.factor
	case cqlerr.LocalQuorum, cqlerr.LocalSerial:
		return r.local()/2 + 1
	case cqlerr.Quorum, cqlerr.EachQuorum, cqlerr.Serial:
		return r.factor/2 + 1
	}
	return 1
}
