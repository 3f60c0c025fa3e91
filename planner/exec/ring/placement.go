package ring

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
)

// Placement is where the rows of a keyspace are.
type Placement struct {
	// Everywhere says that each node has rows of its own, which the others do not have: LocalStrategy.
	Everywhere bool

	topology *Topology
	ranges   [][]int // the indexes of the replicas of each range, in the order of Cassandra
}

// Replicas returns the replicas of the range that a token is in, as indexes in Topology.Nodes. Nobody changes them.
func (p *Placement) Replicas(token int64) []int { return p.ranges[p.topology.rangeOf(token)] }

// Each calls fn for the ranges that have a token from first to last, until it returns an error. It calls fn once for
// ranges that have the same replicas.
func (p *Placement) Each(first, last int64, fn func(replicas []int) error) error {
	from, to := p.topology.rangeOf(first), p.topology.rangeOf(last)
	if last > p.topology.tokens[len(p.topology.tokens)-1] {
		to = len(p.ranges) // the first range, whose other end is behind the last token
	}
	var done [][]int
	for i := from; i <= to; i++ {
		replicas := p.ranges[i%len(p.ranges)]
		if slices.ContainsFunc(done, func(d []int) bool { return slices.Equal(d, replicas) }) {
			continue
		}
		if err := fn(replicas); err != nil {
			return err
		}
		done = append(done, replicas)
	}
	return nil
}

// place computes the placement of a keyspace.
func (t *Topology) place(k *schema.Keyspace) *Placement {
	p := &Placement{topology: t}
	if k.Virtual || strings.HasSuffix(k.Replication["class"], "LocalStrategy") {
		p.Everywhere = true
		return p
	}
	p.ranges = make([][]int, len(t.tokens))
	for i := range p.ranges {
		if factors := k.ByDatacenter(); factors != nil {
			p.ranges[i] = t.byTopology(i, factors)
		} else {
			p.ranges[i] = t.simple(i, k.Replicas())
		}
	}
	return p
}

// around calls fn with the owners of the tokens from the i-th one on, once around the ring, until it returns false.
func (t *Topology) around(i int, fn func(owner int) bool) {
	for n := range t.owners {
		if !fn(t.owners[(i+n)%len(t.owners)]) {
			return
		}
	}
}

// simple returns the replicas of a range as SimpleStrategy chooses them: the next nodes on the ring.
func (t *Topology) simple(i, factor int) []int {
	var replicas []int
	t.around(i, func(owner int) bool {
		if len(replicas) < factor && !slices.Contains(replicas, owner) {
			replicas = append(replicas, owner)
		}
		return len(replicas) < factor
	})
	return replicas
}

// filling is what NetworkTopologyStrategy still needs in one datacenter.
type filling struct {
	missing int             // replicas
	repeats int             // replicas that may be in racks that have one
	racks   map[string]bool // that have a replica
}

// byTopology returns the replicas of a range as NetworkTopologyStrategy chooses them: in each datacenter the next nodes
// on the ring in racks that have no replica yet. Where there are fewer racks than replicas, the next nodes in any rack
// fill the difference.
func (t *Topology) byTopology(i int, factors map[string]int) []int {
	var replicas []int
	open := make(map[string]*filling)
	for datacenter, factor := range factors {
		if missing := min(factor, t.nodes[datacenter]); missing > 0 {
			open[datacenter] = &filling{missing, factor - t.racks[datacenter], make(map[string]bool)}
		}
	}
	t.around(i, func(owner int) bool {
		n := t.Nodes[owner]
		f := open[n.Datacenter]
		if f == nil || slices.Contains(replicas, owner) {
			return len(open) > 0
		}
		switch {
		case !f.racks[n.Rack]:
			f.racks[n.Rack] = true
		case f.repeats > 0:
			f.repeats--
		default:
			return true
		}
		replicas = append(replicas, owner)
		if f.missing--; f.missing == 0 {
			delete(open, n.Datacenter)
		}
		return len(open) > 0
	})
	return replicas
}
