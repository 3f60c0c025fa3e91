package cqltest_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
)

// Nodes have prepared statements of their own, which stay when they are stopped.
func TestRingPrepares(t *testing.T) {
	s := cqltest.RunT(t, cqltest.Ring(2), cqltest.WithStatements())
	s.Exec(t, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.t (k int PRIMARY KEY)")
	p, err := dialNode(t, s, 1).Prepare(t.Context(), "SELECT k FROM k.t", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 1} {
		s.Node(1).Stop()
		s.Node(1).Start()
		if _, err := dialNode(t, s, n).Execute(t.Context(), p, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	prepared := map[int]int{} // by node; the client prepares again what a node does not know
	for _, st := range s.Statements() {
		if st.Opcode == "PREPARE" {
			prepared[st.Node]++
		}
	}
	if prepared[1] != 1 || prepared[2] != 1 {
		t.Errorf("prepared so many times on each node: %v", prepared)
	}
}

// dialNode opens a connection to a node that is closed with the test.
func dialNode(t *testing.T, s *cqltest.Server, number int) *client.Conn {
	t.Helper()
	c, err := client.Dial(t.Context(), s.Node(number).Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Each node shows the ring from its place: itself in system.local and all others in system.peers.
func TestRingTables(t *testing.T) {
	s := cqltest.RunT(t, cqltest.RingOf("dc1:r1=1,dc1:r2=1,dc2=1"))
	s.Exec(t, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}")
	s.Node(2).Stop()
	s.Node(2).Start()
	schemas := map[string]bool{}
	for _, n := range s.Nodes() {
		c := dialNode(t, s, n.Number())
		query := func(text string) (rows []string) {
			t.Helper()
			r, err := c.Query(t.Context(), text, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Rows {
				var values []string
				for i, v := range row {
					values = append(values, r.Columns[i].Type.Format(v))
				}
				rows = append(rows, strings.Join(values, " "))
			}
			slices.Sort(rows)
			return rows
		}
		var wantPeers, wantNodes []string
		for _, other := range s.Nodes() {
			state := other.State()
			about := fmt.Sprintf("'%s' '%s' '%s' %s", state.Address.Addr(), state.Datacenter, state.Rack, state.HostID)
			if other.Number() == n.Number() {
				if got := query("SELECT rpc_address, data_center, rack, host_id FROM system.local"); !slices.Equal(got, []string{about}) {
					t.Errorf("system.local of node %d: %s, want %s", n.Number(), got, about)
				}
				continue
			}
			wantPeers = append(wantPeers, about)
			wantNodes = append(wantNodes, fmt.Sprintf("%s %d", about, state.Address.Port()))
		}
		if got := query("SELECT rpc_address, data_center, rack, host_id FROM system.peers"); !slices.Equal(got, wantPeers) {
			t.Errorf("system.peers of node %d: %s, want %s", n.Number(), got, wantPeers)
		}
		if got := query("SELECT native_address, data_center, rack, host_id, native_port FROM system.peers_v2"); !slices.Equal(got, wantNodes) {
			t.Errorf("system.peers_v2 of node %d: %s, want %s", n.Number(), got, wantNodes)
		}
		for _, version := range append(query("SELECT schema_version FROM system.local"), query("SELECT schema_version FROM system.peers")...) {
			schemas[version] = true
		}
		if got := query("SELECT address FROM system_views.gossip_info"); len(got) != 3 {
			t.Errorf("gossip_info of node %d: %s", n.Number(), got)
		}
		if got := query("SELECT port FROM system_views.clients"); len(got) != 1 && (n.Number() > 1 || len(got) != 2) {
			t.Errorf("clients of node %d: %s", n.Number(), got)
		}
		query("USE k")
		owners := query("DESCRIBE CLUSTER")[0]
		if got := strings.Count(owners, "['/127.0.0."); got != 3*16 || strings.Count(owners, ":7000'") != 2*3*16 {
			t.Errorf("DESCRIBE CLUSTER on node %d has %d tokens: %s", n.Number(), got, owners)
		}
	}
	if len(schemas) != 1 {
		t.Errorf("the nodes have schema versions %v", schemas)
	}
}

// A fork of a ring is a ring with the same tokens, whose nodes are up; a keyspace may ask for replicas in all its
// datacenters, and in no others. Nothing is left of a ring when its test is over.
func TestRingForks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("ring", func(t *testing.T) {
		s := cqltest.RunT(t, cqltest.RingOf("a=2,b=1"))
		s.AddNode("c", "r9")
		s.Node(2).Stop()
		s.Node(1).Slow(time.Millisecond)
		fork := s.Fork(t)
		for i, n := range fork.Nodes() {
			got, want := n.State(), s.Nodes()[i].State()
			if got.Stopped || got.Slow != 0 || got.Datacenter != want.Datacenter || got.Rack != want.Rack ||
				!slices.Equal(got.Tokens, want.Tokens) || got.HostID == want.HostID || got.Address.Port() == want.Address.Port() {
				t.Errorf("node %d of the fork is %+v, that of the ring %+v", n.Number(), got, want)
			}
		}
		fork.Node(1).Stop()
		fork.Exec(t, "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}")
		c := dialNode(t, fork, 4)
		r, err := c.Query(t.Context(), "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = 'k'", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Columns[0].Type.Format(r.Rows[0][0]); !strings.Contains(got, "'a': '1', 'b': '1', 'c': '1'") {
			t.Errorf("replication %s", got)
		}
		_, err = c.Query(t.Context(), "CREATE KEYSPACE l WITH replication = {'class': 'NetworkTopologyStrategy', 'd': 1}", nil, nil)
		if err == nil || !strings.Contains(err.Error(), "Unrecognized strategy option {d}") {
			t.Errorf("a datacenter that does not exist: %v", err)
		}
		alone := s.Fork(t, cqltest.Ring(1))
		if n := len(alone.Nodes()); n != 1 {
			t.Errorf("a fork with an option has %d nodes", n)
		}
	})
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// BenchmarkRing starts and stops rings of six nodes.
func BenchmarkRing(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := cqltest.RunT(b, cqltest.RingOf("dc1=3,dc2=3")).Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
