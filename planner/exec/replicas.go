package exec

import (
	"maps"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/exec/ring"
)

// StrictReplicas makes the executor answer Unavailable where a consistency level needs more replicas than the one that
// this node is, in a datacenter. Otherwise the node stands for all replicas that a keyspace asks for. It is called
// before the first execution. It does not matter to requests with a View, whose ring has nodes to be replicas.
func (e *Executor) StrictReplicas(datacenter string) { e.strictIn = datacenter }

// replicas are those of a partition: how many there should be, and how many are alive.
type replicas struct {
	keyspace   *schema.Keyspace // nil: it was dropped
	datacenter string           // the coordinator's; "": the node stands for all replicas
	factor     int
	alive      int
	near       int // those of alive that are in the coordinator's datacenter

	view  *ring.View // nil: there is no ring
	nodes []int      // in the view
}

// replicasOf returns the replicas of a table's rows on a node without a ring.
func (e *Executor) replicasOf(t *schema.Table) replicas {
	r := replicas{keyspace: e.store.Catalog().Keyspace(t.Keyspace), datacenter: e.strictIn, factor: 1}
	if r.keyspace != nil {
		r.factor = r.keyspace.Replicas()
	}
	if r.alive = r.factor; r.datacenter != "" {
		r.alive = min(r.local(), 1)
	}
	r.near = r.alive
	return r
}

// replicasIn returns the replicas on some nodes of a ring.
func replicasIn(v *ring.View, k *schema.Keyspace, nodes []int) replicas {
	r := replicas{keyspace: k, datacenter: v.Datacenter(), factor: 1, view: v, nodes: nodes}
	if k != nil {
		r.factor = k.Replicas()
	}
	r.alive, r.near = v.Alive(nodes, ""), v.Alive(nodes, r.datacenter)
	return r
}

// byDatacenter returns how many replicas there should be in each datacenter; nil: they are not told apart.
func (r *replicas) byDatacenter() map[string]int {
	if r.keyspace == nil || r.datacenter == "" {
		return nil
	}
	return r.keyspace.ByDatacenter()
}

// local is how many replicas there should be in the coordinator's datacenter.
func (r *replicas) local() int {
	if factors := r.byDatacenter(); factors != nil {
		return factors[r.datacenter]
	}
	return r.factor
}

// aliveIn returns how many replicas are alive in a datacenter.
func (r *replicas) aliveIn(datacenter string) int {
	switch {
	case datacenter == r.datacenter:
		return r.near
	case r.view != nil:
		return r.view.Alive(r.nodes, datacenter)
	}
	return 0
}

// checkWrite refuses a write at a level that the replicas cannot reach.
func (r *replicas) checkWrite(cl cqlerr.Consistency) error {
	if cl == cqlerr.EachQuorum && r.byDatacenter() != nil {
		return r.checkEach()
	}
	alive := r.alive
	if isLocal(cl) {
		alive = r.near
	}
	if required := r.required(cl); required > alive {
		return cqlerr.NotEnoughReplicas(cl, required, alive)
	}
	return nil
}

// checkEach refuses EACH_QUORUM where a datacenter has too few replicas that are alive.
func (r *replicas) checkEach() error {
	factors := r.byDatacenter()
	for _, datacenter := range slices.Sorted(maps.Keys(factors)) {
		if required := factors[datacenter]/2 + 1; required > r.aliveIn(datacenter) {
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

// checkCounter refuses a change of a counter, which one of the replicas reads before it is written.
func (r *replicas) checkCounter(cl cqlerr.Consistency) error {
	if r.view != nil && r.alive == 0 {
		return cqlerr.NotEnoughReplicas(cl, r.blockFor(cl), 0)
	}
	return r.checkRead(cl)
}

// checkSerial refuses conditions and reads of one partition at a serial level that the replicas cannot reach. In a ring
// most of the replicas that there are have to agree first. Then the level that rows are read at has to be reached; it
// fails first, if there are replicas at all.
func (r *replicas) checkSerial(cl cqlerr.Consistency) error {
	if r.view != nil {
		required, alive := r.agreement(cl)
		if required > alive {
			return cqlerr.NotEnoughReplicas(cl, required, alive)
		}
	}
	if r.alive > 0 {
		cl = readLevel(cl)
	}
	return r.checkRead(cl)
}

// agreement returns how many of the replicas of a ring have to agree on a serial operation, and how many are alive.
func (r *replicas) agreement(cl cqlerr.Consistency) (required, alive int) {
	if cl != cqlerr.LocalSerial {
		return len(r.nodes)/2 + 1, r.alive
	}
	there := 0
	for _, i := range r.nodes {
		if r.view.Nodes[i].Datacenter == r.datacenter {
			there++
		}
	}
	return there/2 + 1, r.near
}

// readLevel is the level that a serial operation reads rows at.
func readLevel(cl cqlerr.Consistency) cqlerr.Consistency {
	switch cl {
	case cqlerr.Serial:
		return cqlerr.Quorum
	case cqlerr.LocalSerial:
		return cqlerr.LocalQuorum
	}
	return cl
}

// required is how many replicas have to be alive.
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

// blockFor is how many answers of replicas a request waits for.
func (r *replicas) blockFor(cl cqlerr.Consistency) int {
	factors := r.byDatacenter()
	if cl != cqlerr.EachQuorum || factors == nil {
		return max(r.required(cl), 1)
	}
	all := 0
	for _, factor := range factors {
		all += factor/2 + 1
	}
	return all
}

// isLocal reports whether only replicas in the coordinator's datacenter count.
func isLocal(cl cqlerr.Consistency) bool {
	return cl == cqlerr.LocalOne || cl == cqlerr.LocalQuorum || cl == cqlerr.LocalSerial
}
