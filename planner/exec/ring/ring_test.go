package ring_test

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/exec/ring"
)

// keyspace returns a keyspace of a catalog.
func keyspace(t *testing.T, replication map[string]string) *schema.Keyspace {
	t.Helper()
	c := (&schema.Catalog{}).WithKeyspace(&schema.Keyspace{Name: "k", Replication: replication})
	return c.Keyspace("k")
}

// TestPlacements compares replicas with those that Cassandra's strategies choose.
func TestPlacements(t *testing.T) {
	file, err := os.ReadFile("testdata/placements.txt")
	if err != nil {
		t.Fatal(err)
	}
	var nodes []*ring.Node
	var topology *ring.Topology
	var k *schema.Keyspace
	compared := 0
	for line := range strings.Lines(string(file)) {
		words := strings.Fields(line)
		switch words[0] {
		case "#":
		case "ring":
			nodes = nil
		case "node":
			n := &ring.Node{Number: len(nodes) + 1, Datacenter: words[2], Rack: words[3]}
			for _, text := range words[4:] {
				n.Tokens = append(n.Tokens, number(t, text))
			}
			nodes = append(nodes, n)
		case "keyspace":
			topology = ring.New(nodes)
			replication := map[string]string{"class": "org.apache.cassandra.locator." + words[1]}
			for _, option := range words[2:] {
				name, factor, _ := strings.Cut(option, "=")
				replication[name] = factor
			}
			k = keyspace(t, replication)
		default:
			var got []string
			for _, i := range topology.Placement(k).Replicas(number(t, strings.TrimSuffix(words[0], ":"))) {
				got = append(got, strconv.Itoa(topology.Nodes[i].Number))
			}
			// NetworkTopologyStrategy's order is that of the ring, as ours.
			if !slices.Equal(got, words[1:]) {
				t.Errorf("%d nodes, %v: token %s has replicas %v, want %v", len(nodes), k.Replication, words[0], got, words[1:])
			}
			compared++
		}
	}
	if compared < 500 {
		t.Errorf("only %d tokens are compared", compared)
	}
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// owned returns which part of the ring each node is the first replica of in its datacenter.
func owned(nodes []*ring.Node) map[int]float64 {
	parts := map[int]float64{}
	for _, n := range nodes {
		all := []int64{}
		for _, other := range nodes {
			if other.Datacenter == n.Datacenter {
				all = append(all, other.Tokens...)
			}
		}
		slices.Sort(all)
		for _, token := range n.Tokens {
			i := slices.Index(all, token)
			parts[n.Number] += float64(uint64(token-all[(i+len(all)-1)%len(all)])) / math.Exp2(64)
		}
	}
	return parts
}

// The nodes of each datacenter own equal parts of the ring, and no two nodes have the same token. A node that joins
// takes a part that is about as large as the others have.
func TestTokens(t *testing.T) {
	var nodes []*ring.Node
	for i, datacenter := range []string{"a", "a", "a", "b", "b", "c"} {
		nodes = append(nodes, &ring.Node{Number: i + 1, Datacenter: datacenter})
	}
	ring.ShareOut(nodes)
	check := func(tolerance float64) {
		t.Helper()
		seen, members := map[int64]bool{}, map[string]int{}
		for _, n := range nodes {
			members[n.Datacenter]++
			if len(n.Tokens) != ring.TokensPerNode || !slices.IsSorted(n.Tokens) {
				t.Errorf("node %d has tokens %v", n.Number, n.Tokens)
			}
			for _, token := range n.Tokens {
				if seen[token] || token == math.MinInt64 {
					t.Errorf("token %d is of two nodes, or the smallest", token)
				}
				seen[token] = true
			}
		}
		for number, part := range owned(nodes) {
			n := ring.New(nodes).ByNumber(number)
			if want := 1 / float64(members[n.Datacenter]); members[n.Datacenter] > 1 && math.Abs(part-want) > tolerance {
				t.Errorf("node %d owns %.3f of the ring, want %.3f", number, part, want)
			}
		}
	}
	check(0.001)
	for _, datacenter := range []string{"a", "c", "d"} {
		nodes = append(nodes, &ring.Node{
			Number: len(nodes) + 1, Datacenter: datacenter, Tokens: ring.New(nodes).Join(datacenter),
		})
		check(0.13)
	}
}

// Each goes over the ranges between two tokens, also around the end of the ring.
func TestEachRange(t *testing.T) {
	topology := ring.New([]*ring.Node{
		{Number: 1, Datacenter: "d", Tokens: []int64{-100}},
		{Number: 2, Datacenter: "d", Tokens: []int64{0}},
		{Number: 3, Datacenter: "d", Tokens: []int64{100}},
	})
	p := topology.Placement(keyspace(t, map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}))
	for _, test := range []struct {
		first, last int64
		want        []int
	}{
		{math.MinInt64, math.MaxInt64, []int{0, 1, 2}},
		{-99, 0, []int{1}},
		{-100, 1, []int{0, 1, 2}},
		{50, 100, []int{2}},
		{50, 101, []int{2, 0}},
		{101, 200, []int{0}},
		{-200, -150, []int{0}},
	} {
		var got []int
		if err := p.Each(test.first, test.last, func(replicas []int) error {
			got = append(got, replicas...)
			return nil
		}); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("from %d to %d: %v, want %v", test.first, test.last, got, test.want)
		}
	}
}
