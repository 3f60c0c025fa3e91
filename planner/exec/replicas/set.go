package replicas

import (
	"maps"
	"slices"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/exec/ring"
)

// Set is the replicas of a partition.
type Set struct {
	keyspace   *schema.Keyspace // nil: it was dropped
	datacenter string           // the coordinator's; "": the node counts as all replicas
	factor     int              // how many there should be
	alive      int
	near       int // alive in the coordinator's datacenter

	view  *ring.View // nil: there is no ring
	nodes []int      // in the view
}

// Alone returns the replicas of a keyspace on a node without a ring. The node counts as all replicas, or as one in a
// datacenter if that is not "". A nil keyspace was dropped.
func Alone(k *schema.Keyspace, datacenter string) Set {
	s := Set{keyspace: k, datacenter: datacenter, factor: 1}
	if k != nil {
		s.factor = k.Replicas()
	}
	if s.alive = s.factor; datacenter != "" {
		s.alive = min(s.local(), 1)
	}
	s.near = s.alive
	return s
}

// On returns the replicas on some nodes of a ring.
func On(v *ring.View, k *schema.Keyspace, nodes []int) Set {
	s := Set{keyspace: k, datacenter: v.Datacenter(), factor: 1, view: v, nodes: nodes}
	if k != nil {
		s.factor = k.Replicas()
	}
	s.alive, s.near = v.Alive(nodes, ""), v.Alive(nodes, s.datacenter)
	return s
}

// Keyspace is the keyspace of the partition; nil: it was dropped.
func (s *Set) Keyspace() *schema.Keyspace { return s.keyspace }

// Read refuses a read at a level that the replicas cannot reach, and returns how long it waits for them. With serial it
// is a read of one partition, and may have a serial level.
func (s *Set) Read(cl cqlerr.Consistency, serial bool, timeout time.Duration) (Wait, error) {
	if serial && cl.IsSerial() {
		late := func(_, blockFor int) *cqlerr.Error { return cqlerr.ReadLate(cl, 0, blockFor) }
		return s.awaitAgreement(timeout, cl, late), s.checkSerial(cl)
	}
	late := func(received, blockFor int) *cqlerr.Error { return cqlerr.ReadLate(cl, received, blockFor) }
	return s.await(timeout, cl, late), s.checkRead(cl)
}

// Write refuses a write of a kind, as the protocol names it, at a level that the replicas cannot reach. It returns how
// long the write waits for them.
func (s *Set) Write(cl cqlerr.Consistency, kind string, counter bool, timeout time.Duration) (Wait, error) {
	check := s.checkWrite
	if counter {
		check = s.checkCounter
	}
	if err := check(cl); err != nil {
		return Wait{}, err
	}
	w := s.await(timeout, cl, writeLate(cl, kind))
	if counter && w.Late != nil && !slices.Contains(s.nodes, s.view.Self) {
		w.Late = cqlerr.WriteLate(cqlerr.One, 0, 1, kind) // the coordinator waits for the replica that leads the others
	}
	if cl == cqlerr.Any && kind != loggedBatch {
		w.Late = nil // the coordinator keeps the write when its time is over
	}
	return w, nil
}

// loggedBatch is the protocol's name for the kind of a logged batch.
const loggedBatch = "BATCH"

// Agree refuses a conditional write at a serial level that the replicas cannot reach, and returns how long it waits for
// them to agree.
func (s *Set) Agree(cl cqlerr.Consistency, kind string, timeout time.Duration) (Wait, error) {
	if err := s.checkSerial(cl); err != nil {
		return Wait{}, err
	}
	return s.awaitAgreement(timeout, cl, casLate(cl, kind)), nil
}

// Commit refuses to store a conditional write at a level that the replicas cannot reach, and returns how long it waits
// for them to take it.
func (s *Set) Commit(cl cqlerr.Consistency, timeout time.Duration) (Wait, error) {
	if err := s.checkWrite(cl); err != nil || cl == cqlerr.Any {
		return Wait{}, err
	}
	return s.await(timeout, cl, casLate(cl, "SIMPLE")), nil
}

// byDatacenter returns how many replicas there should be in each datacenter; nil: datacenters do not matter.
func (s *Set) byDatacenter() map[string]int {
	if s.keyspace == nil || s.datacenter == "" {
		return nil
	}
	return s.keyspace.ByDatacenter()
}

// local is how many replicas there should be in the coordinator's datacenter.
func (s *Set) local() int {
	if factors := s.byDatacenter(); factors != nil {
		return factors[s.datacenter]
	}
	return s.factor
}

// aliveIn returns how many replicas are alive in a datacenter.
func (s *Set) aliveIn(datacenter string) int {
	switch {
	case datacenter == s.datacenter:
		return s.near
	case s.view != nil:
		return s.view.Alive(s.nodes, datacenter)
	}
	return 0
}

// checkWrite refuses a write at a level that the replicas cannot reach.
func (s *Set) checkWrite(cl cqlerr.Consistency) error {
	if cl == cqlerr.EachQuorum && s.byDatacenter() != nil {
		return s.checkEach()
	}
	alive := s.alive
	if isLocal(cl) {
		alive = s.near
	}
	if required := s.required(cl); required > alive {
		return cqlerr.NotEnoughReplicas(cl, required, alive)
	}
	return nil
}

// checkEach refuses EACH_QUORUM if a datacenter has too few replicas that are alive.
func (s *Set) checkEach() error {
	factors := s.byDatacenter()
	for _, datacenter := range slices.Sorted(maps.Keys(factors)) {
		if required := factors[datacenter]/2 + 1; required > s.aliveIn(datacenter) {
			return cqlerr.NotEnoughIn(datacenter, cqlerr.EachQuorum, required)
		}
	}
	return nil
}

// checkRead refuses a read at a level that the replicas cannot reach.
func (s *Set) checkRead(cl cqlerr.Consistency) error {
	if err := s.checkWrite(cl); err != nil {
		return err
	}
	if s.alive == 0 {
		return cqlerr.NoFullReplica(cl)
	}
	return nil
}

// checkCounter refuses a change of a counter, which one of the replicas reads before it is written.
func (s *Set) checkCounter(cl cqlerr.Consistency) error {
	if s.view != nil && s.alive == 0 {
		return cqlerr.NotEnoughReplicas(cl, s.blockFor(cl), 0)
	}
	return s.checkRead(cl)
}

// checkSerial refuses conditions and reads of one partition at a serial level that the replicas cannot reach. In a ring
// a majority of the replicas has to agree first. Then rows are read, at a level that fails first if any replica is
// alive.
func (s *Set) checkSerial(cl cqlerr.Consistency) error {
	if s.view != nil {
		required, alive := s.agreement(cl)
		if required > alive {
			return cqlerr.NotEnoughReplicas(cl, required, alive)
		}
	}
	if s.alive > 0 {
		cl = readLevel(cl)
	}
	return s.checkRead(cl)
}

// agreement returns how many replicas of a ring have to agree on a serial operation, and how many are alive.
func (s *Set) agreement(cl cqlerr.Consistency) (required, alive int) {
	if cl != cqlerr.LocalSerial {
		return len(s.nodes)/2 + 1, s.alive
	}
	members := 0
	for _, i := range s.nodes {
		if s.view.Nodes[i].Datacenter == s.datacenter {
			members++
		}
	}
	return members/2 + 1, s.near
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
func (s *Set) required(cl cqlerr.Consistency) int {
	switch cl {
	case cqlerr.Any:
		return 0
	case cqlerr.Two:
		return 2
	case cqlerr.Three:
		return 3
	case cqlerr.All:
		return s.factor
	case cqlerr.LocalQuorum, cqlerr.LocalSerial:
		return s.local()/2 + 1
	case cqlerr.Quorum, cqlerr.EachQuorum, cqlerr.Serial:
		return s.factor/2 + 1
	}
	return 1
}

// blockFor is how many answers of replicas a request waits for.
func (s *Set) blockFor(cl cqlerr.Consistency) int {
	factors := s.byDatacenter()
	if cl != cqlerr.EachQuorum || factors == nil {
		return max(s.required(cl), 1)
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
