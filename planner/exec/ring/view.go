package ring

import "time"

// View is a ring as one of its nodes sees it. It never changes.
type View struct {
	*Topology
	Self  int             // the index in Nodes of the node whose view it is
	Up    []bool          // which of Nodes answer it
	Delay []time.Duration // how much later than usual they answer the node; nil: no node is slow
	Own   time.Duration   // how much later than usual the node answers its clients
}

// Datacenter returns the datacenter of the view's node.
func (v *View) Datacenter() string { return v.Nodes[v.Self].Datacenter }

// Alive returns how many of some nodes are up, in all datacenters or in one of them.
func (v *View) Alive(nodes []int, datacenter string) (alive int) {
	for _, i := range nodes {
		if v.Up[i] && (datacenter == "" || v.Nodes[i].Datacenter == datacenter) {
			alive++
		}
	}
	return alive
}

// Members returns the nodes of a datacenter.
func (v *View) Members(datacenter string) (nodes []int) {
	for i, n := range v.Nodes {
		if n.Datacenter == datacenter {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// AllUp reports whether the node sees all nodes.
func (v *View) AllUp() bool { return v.Alive(v.all(), "") == len(v.Nodes) }

func (v *View) all() []int {
	all := make([]int, len(v.Nodes))
	for i := range all {
		all[i] = i
	}
	return all
}

// Slowest returns how late the last of all nodes answers.
func (v *View) Slowest() (last time.Duration) {
	for _, d := range v.Delay {
		last = max(last, d)
	}
	return last
}
