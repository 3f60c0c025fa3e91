package shell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol/client/model"
)

// ringNode is a node.
type ringNode struct{ address, datacenter, rack string }

// vnode is a token and its node.
type vnode struct {
	token int64
	node  *ringNode
}

// showReplicas is SHOW REPLICAS token [keyspace]: it prints the addresses of the nodes with a token's replicas, as the
// driver of cqlsh computes them from the tables of the server.
func (s *Session) showReplicas(ctx context.Context, a arguments) error {
	rest := a.tokens[1:]
	sign := ""
	if rest[0].text == "-" {
		sign, rest = "-", rest[1:]
	}
	if len(rest) == 0 || len(rest) > 2 || len(rest) == 2 && !rest[1].isName() {
		return a.improper()
	}
	token, err := strconv.ParseInt(sign+rest[0].text, 10, 64)
	if err != nil {
		return a.improper()
	}
	keyspace := s.keyspace
	if len(rest) == 2 {
		keyspace = rest[1].identifier()
	}
	ring, err := s.ring(ctx)
	if err != nil {
		return err
	}
	replication, err := s.replication(ctx, keyspace)
	if err != nil {
		return err
	}
	var addresses []string
	for _, n := range replicas(ring, token, replication) {
		addresses = append(addresses, pythonString(n.address))
	}
	s.print("[%s]\n", strings.Join(addresses, ", "))
	return nil
}

// ring reads the tokens of all nodes, in order.
func (s *Session) ring(ctx context.Context) (ring []vnode, err error) {
	for _, table := range []string{"local", "peers"} {
		r, err := s.all(ctx, "SELECT * FROM system."+table)
		if e, ok := cqlerr.As(err); ok && table == "peers" && e.Code == cqlerr.Invalid {
			break // a service without this table
		}
		if err != nil {
			return nil, err
		}
		for row := range model.Records(r) {
			n := &ringNode{
				address: row.Address("rpc_address"), datacenter: row.Text("data_center"),
				rack: row.Text("rack"),
			}
			for _, t := range row.Texts("tokens") {
				if token, err := strconv.ParseInt(t, 10, 64); err == nil {
					ring = append(ring, vnode{token, n})
				}
			}
		}
	}
	slices.SortFunc(ring, func(a, b vnode) int { return cmp.Compare(a.token, b.token) })
	return ring, nil
}

// replicas returns the nodes with the replicas of a token, by the strategy of a keyspace.
func replicas(ring []vnode, token int64, replication map[string]string) (all []*ringNode) {
	if len(ring) == 0 {
		return nil
	}
	first, _ := slices.BinarySearchFunc(ring, token, func(v vnode, t int64) int { return cmp.Compare(v.token, t) })
	_, strategy, _ := strings.Cut("."+replication["class"], ".")
	strategy = strategy[strings.LastIndexByte(strategy, '.')+1:]
	wanted := map[string]int{} // by datacenter
	racks := map[string]map[string]bool{}
	nodes := map[string]map[*ringNode]bool{}
	for _, v := range ring {
		dc := v.node.datacenter
		factor := replication[dc]
		switch strategy {
		case "SimpleStrategy":
			dc, factor = "", replication["replication_factor"]
		case "LocalStrategy":
			return []*ringNode{ring[0].node}
		case "EverywhereStrategy":
			dc, factor = "", strconv.Itoa(len(ring))
		}
		count, _, _ := strings.Cut(factor, "/") // of transient replicas
		n, err := strconv.Atoi(count)
		if err != nil {
			continue
		}
		if nodes[dc] == nil {
			racks[dc], nodes[dc] = map[string]bool{}, map[*ringNode]bool{}
		}
		racks[dc][v.node.rack], nodes[dc][v.node] = true, true
		wanted[dc] = min(n, len(nodes[dc]))
	}
	usedRacks := map[string]bool{}
	var skipped []*ringNode // whose rack has a replica already
	chosen := map[*ringNode]bool{}
	for i := range ring {
		n := ring[(first+i)%len(ring)].node
		dc := n.datacenter
		if strategy != "NetworkTopologyStrategy" {
			dc = ""
		}
		rack := fmt.Sprintf("%s/%s", dc, n.rack)
		switch {
		case wanted[dc] == 0 || chosen[n]:
		case dc != "" && usedRacks[rack] && len(racks[dc]) > 0 && !allRacksUsed(usedRacks, dc, racks[dc]):
			if !slices.Contains(skipped, n) {
				skipped = append(skipped, n)
			}
		default:
			usedRacks[rack], chosen[n] = true, true
			all = append(all, n)
			wanted[dc]--
			if dc == "" || !allRacksUsed(usedRacks, dc, racks[dc]) {
				continue
			}
			for _, n := range skipped {
				if n.datacenter == dc && wanted[dc] > 0 && !chosen[n] {
					chosen[n] = true
					all = append(all, n)
					wanted[dc]--
				}
			}
		}
	}
	return all
}

func allRacksUsed(used map[string]bool, dc string, racks map[string]bool) bool {
	for rack := range racks {
		if !used[dc+"/"+rack] {
			return false
		}
	}
	return true
}
