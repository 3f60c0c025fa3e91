package cqltest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// ringSchema has keyspaces on a ring of dc1=3,dc2=3. Every node is a replica of what is in the keyspace all, and one
// node of each partition in the keyspace one.
const ringSchema = `
CREATE KEYSPACE all WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3, 'dc2': 3};
CREATE KEYSPACE one WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1};
CREATE KEYSPACE two WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1, 'dc2': 1};
CREATE KEYSPACE simple WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2};
CREATE KEYSPACE five WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 5};
CREATE TABLE all.t (k int PRIMARY KEY, v int);
CREATE TABLE all.n (k int PRIMARY KEY, n counter);
CREATE TABLE one.t (k int PRIMARY KEY, v int);
CREATE TABLE two.t (k int PRIMARY KEY, v int);
CREATE TABLE simple.t (k int PRIMARY KEY, v int);
CREATE TABLE five.t (k int PRIMARY KEY, v int);
INSERT INTO all.t (k, v) VALUES (0, 0);`

// ringSnapshot is a ring with ringSchema. Scenarios begin with forks of it.
func ringSnapshot(t *testing.T) *cqltest.Snapshot {
	t.Helper()
	s := cqltest.RunT(t, cqltest.RingOf("dc1=3,dc2=3"))
	s.Exec(t, ringSchema)
	return s.Snapshot()
}

// near is the policy of an application in a datacenter.
func near(datacenter string) gocql.HostSelectionPolicy {
	return gocql.DCAwareRoundRobinPolicy(datacenter)
}

// scenario is what happens to a ring and what an application sees of it through gocql.
type scenario struct {
	name    string
	stopped []int         // nodes
	cut     []int         // nodes that are partitioned
	slow    []int         // nodes that answer after the timeouts are over
	lag     time.Duration // of the slow nodes, if they answer in time
	from    int           // the node that the driver connects to first; 0: the first one that is up and fast
	only    bool          // the driver uses no other node
	policy  gocql.HostSelectionPolicy
	retry   gocql.RetryPolicy
	spec    gocql.SpeculativeExecutionPolicy

	query  string
	batch  []string // instead of query
	kind   gocql.BatchType
	level  gocql.Consistency
	serial gocql.SerialConsistency

	want string // the error; "": none
	on   []int  // nodes that may coordinate the request
	runs int    // how many coordinators it takes; 0: one
	rows int    // of all.t afterwards with k = 1, if it was written to: 1 or 0; -1: it does not matter
}

const (
	insert    = "INSERT INTO all.t (k, v) VALUES (1, 1)"
	read      = "SELECT v FROM all.t WHERE k = 0"
	scan      = "SELECT v FROM all.t"
	decide    = "INSERT INTO all.t (k, v) VALUES (1, 1) IF NOT EXISTS"
	increment = "UPDATE all.n SET n = n + 1 WHERE k = 1"
)

var both = []string{insert, "INSERT INTO all.t (k, v) VALUES (2, 2)"}

// noLevel is the level ANY, as gocql numbers it.
const noLevel = gocql.Any

func scenarios() []scenario {
	first, second := []int{1, 2, 3}, []int{4, 5, 6}
	return []scenario{
		{name: "QUORUM with one node down", stopped: []int{2}, policy: near("dc1"), query: insert, level: gocql.Quorum, on: []int{1, 3}, rows: 1},
		{name: "ALL with one node down", stopped: []int{2}, policy: near("dc1"), query: read, level: gocql.All, want: "unavailable ALL 6 5", on: []int{1, 3}},
		{name: "EACH_QUORUM with one node down", stopped: []int{5}, policy: near("dc1"), query: insert, level: gocql.EachQuorum, on: first, rows: 1},
		{name: "scan at ALL with one node down", stopped: []int{6}, policy: near("dc1"), query: scan, level: gocql.All, want: "unavailable ALL 6 5", on: first},

		{name: "LOCAL_QUORUM with two nodes of the datacenter down", stopped: []int{2, 3}, policy: near("dc1"), query: insert, level: gocql.LocalQuorum, want: "unavailable LOCAL_QUORUM 2 1", on: []int{1}},
		{name: "LOCAL_QUORUM in the other datacenter", stopped: []int{2, 3}, policy: near("dc2"), query: insert, level: gocql.LocalQuorum, on: second, rows: 1},
		{name: "EACH_QUORUM with two nodes of a datacenter down", stopped: []int{2, 3}, policy: near("dc2"), query: insert, level: gocql.EachQuorum, want: "unavailable EACH_QUORUM 2 0", on: second},
		{name: "EACH_QUORUM read with two nodes of a datacenter down", stopped: []int{2, 3}, policy: near("dc2"), query: read, level: gocql.EachQuorum, want: "unavailable EACH_QUORUM 2 0", on: second},
		{name: "QUORUM with two nodes down", stopped: []int{2, 3}, policy: near("dc1"), query: read, level: gocql.Quorum, on: []int{1}},
		{name: "conditional with two nodes down", stopped: []int{2, 3}, policy: near("dc1"), query: decide, level: gocql.Quorum, serial: gocql.Serial, on: []int{1}, rows: 1},
		{name: "conditional in a datacenter with two nodes down", stopped: []int{2, 3}, policy: near("dc1"), query: decide, level: gocql.Quorum, serial: gocql.LocalSerial, want: "unavailable LOCAL_SERIAL 2 1", on: []int{1}},
		{name: "conditional that commits in a datacenter with two nodes down", stopped: []int{2, 3}, policy: near("dc1"), query: decide, level: gocql.LocalQuorum, serial: gocql.Serial, want: "unavailable LOCAL_QUORUM 2 1", on: []int{1}},
		{name: "serial read in a datacenter with two nodes down", stopped: []int{2, 3}, policy: near("dc1"), query: read, level: gocql.Consistency(gocql.LocalSerial), want: "unavailable LOCAL_SERIAL 2 1", on: []int{1}},
		{name: "logged batch without another node of the datacenter", stopped: []int{2, 3}, policy: near("dc1"), batch: both, kind: gocql.LoggedBatch, level: gocql.One, want: "unavailable TWO 2 0", on: []int{1}},
		{name: "logged batch of one partition", stopped: []int{2, 3}, policy: near("dc1"), batch: both[:1], kind: gocql.LoggedBatch, level: gocql.One, on: []int{1}, rows: 1},
		{name: "logged batch at ANY", stopped: []int{2, 3}, policy: near("dc1"), batch: both, kind: gocql.LoggedBatch, level: noLevel, want: "unavailable TWO 2 1", on: []int{1}},
		{name: "unlogged batch", stopped: []int{2, 3}, policy: near("dc1"), batch: both, kind: gocql.UnloggedBatch, level: gocql.One, on: []int{1}, rows: 1},
		{name: "counter with two nodes of the datacenter down", stopped: []int{2, 3}, policy: near("dc1"), query: increment, level: gocql.LocalQuorum, want: "unavailable LOCAL_QUORUM 2 1", on: []int{1}},

		{name: "datacenter down, the driver goes to the other", stopped: first, policy: near("dc1"), query: insert, level: gocql.LocalQuorum, on: second, rows: 1},
		{name: "QUORUM with a datacenter down", stopped: first, policy: near("dc1"), query: read, level: gocql.Quorum, want: "unavailable QUORUM 4 3", on: second},
		{name: "conditional with a datacenter down", stopped: first, policy: near("dc2"), query: decide, level: gocql.One, serial: gocql.Serial, want: "unavailable SERIAL 4 3", on: second},
		{name: "no replica up", stopped: first, policy: near("dc2"), query: "SELECT v FROM one.t WHERE k = 1", level: gocql.One, want: "unavailable ONE 1 0", on: second},
		{name: "ANY without a replica", stopped: first, policy: near("dc2"), query: "INSERT INTO one.t (k) VALUES (1)", level: noLevel, on: second, rows: -1},
		{name: "TRUNCATE with one node down", stopped: []int{4}, policy: near("dc1"), query: "TRUNCATE all.t", level: gocql.One, want: "0x1003 Error during truncate: Cannot achieve consistency level ALL", on: first},

		{name: "partitioned node, LOCAL_ONE", cut: []int{1}, from: 1, only: true, policy: gocql.RoundRobinHostPolicy(), query: read, level: gocql.LocalOne, on: []int{1}},
		{name: "partitioned node, QUORUM", cut: []int{1}, from: 1, only: true, policy: gocql.RoundRobinHostPolicy(), query: insert, level: gocql.Quorum, want: "unavailable QUORUM 4 1", on: []int{1}},
		{name: "partitioned node, the others", cut: []int{1}, from: 4, policy: near("dc2"), query: insert, level: gocql.All, want: "unavailable ALL 6 5", on: second},

		{name: "slow datacenter, LOCAL_QUORUM", slow: second, policy: near("dc1"), query: read, level: gocql.LocalQuorum, on: first},
		{name: "slow datacenter, write at QUORUM", slow: second, policy: near("dc1"), query: insert, level: gocql.Quorum, want: "write timeout SIMPLE QUORUM 3 4", on: first, rows: 1},
		{name: "slow datacenter, read at QUORUM", slow: second, policy: near("dc1"), query: read, level: gocql.Quorum, want: "read timeout QUORUM 3 4 data 1", on: first},
		{name: "slow datacenter, scan at QUORUM", slow: second, policy: near("dc1"), query: scan, level: gocql.Quorum, want: "read timeout QUORUM 3 4 data 1", on: first},
		{name: "slow datacenter, EACH_QUORUM", slow: second, policy: near("dc1"), query: insert, level: gocql.EachQuorum, want: "write timeout SIMPLE EACH_QUORUM 3 4", on: first, rows: 1},
		{name: "slow datacenter, conditional", slow: second, policy: near("dc1"), query: decide, level: gocql.One, serial: gocql.Serial, want: "write timeout CAS SERIAL 3 4", on: first},
		{name: "slow datacenter, conditional commits late", slow: second, policy: near("dc1"), query: decide, level: gocql.All, serial: gocql.LocalSerial, want: "write timeout SIMPLE ALL 3 6", on: first, rows: 1},
		{name: "slow datacenter, serial read", slow: second, policy: near("dc1"), query: read, level: gocql.Consistency(gocql.Serial), want: "read timeout SERIAL 0 4 data 0", on: first},
		{name: "slow datacenter, unlogged batch", slow: second, policy: near("dc1"), batch: both, kind: gocql.UnloggedBatch, level: gocql.All, want: "write timeout UNLOGGED_BATCH ALL 3 6", on: first, rows: 1},
		{name: "slow datacenter, counter", slow: second, policy: near("dc1"), query: increment, level: gocql.Quorum, want: "write timeout COUNTER QUORUM 3 4", on: first},
		{name: "slow nodes, logged batch", slow: []int{2, 3}, only: true, from: 1, policy: gocql.RoundRobinHostPolicy(), batch: both, kind: gocql.LoggedBatch, level: gocql.One, want: "write timeout BATCH_LOG TWO 0 2", on: []int{1}},
		{name: "nodes slow within the timeout", slow: second, lag: 20 * time.Millisecond, policy: near("dc1"), query: insert, level: gocql.All, on: first, rows: 1},

		{name: "replication factor of two at THREE", policy: near("dc1"), query: "INSERT INTO simple.t (k) VALUES (1)", level: gocql.Three, want: "unavailable THREE 3 2", on: first},
		{name: "more replicas than nodes, QUORUM", policy: near("dc1"), query: "INSERT INTO five.t (k) VALUES (1)", level: gocql.Quorum, on: first, rows: -1},
		{name: "more replicas than nodes, ALL", policy: near("dc1"), query: "INSERT INTO five.t (k) VALUES (1)", level: gocql.All, want: "unavailable ALL 5 3", on: first},
		{name: "LOCAL_ONE where the datacenter has no replica", policy: near("dc2"), query: "SELECT v FROM five.t WHERE k = 1", level: gocql.LocalOne, want: "unavailable LOCAL_ONE 1 0", on: second},

		{name: "retries on other nodes", stopped: []int{6}, policy: near("dc1"), retry: &gocql.SimpleRetryPolicy{NumRetries: 3}, query: read, level: gocql.All, want: "unavailable ALL 6 5", on: []int{1, 2, 3, 4, 5}, runs: 4},
		{name: "retries at a lower level", stopped: first, policy: near("dc2"), retry: &gocql.DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []gocql.Consistency{gocql.Two}}, query: insert, level: gocql.Quorum, on: second, runs: 2, rows: 1},
		{name: "speculative execution on another node", slow: []int{1}, lag: 2 * time.Second, from: 2, policy: &startingWith{HostSelectionPolicy: gocql.RoundRobinHostPolicy(), ip: "127.0.0.1"}, spec: &gocql.SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 10 * time.Millisecond}, query: read, level: gocql.One, on: []int{2, 3, 4, 5, 6}, runs: 1},
	}
}

// startingWith is a policy that tries one host before those of another policy.
type startingWith struct {
	gocql.HostSelectionPolicy
	ip    string
	hosts []*gocql.HostInfo
}

func (p *startingWith) AddHost(h *gocql.HostInfo) {
	p.hosts = append(p.hosts, h)
	p.HostSelectionPolicy.AddHost(h)
}

func (p *startingWith) Pick(q gocql.ExecutableQuery) gocql.NextHost {
	next, begun := p.HostSelectionPolicy.Pick(q), false
	return func() gocql.SelectedHost {
		if !begun {
			begun = true
			for _, h := range p.hosts {
				if h.ConnectAddress().String() == p.ip {
					return selected{h}
				}
			}
		}
		h := next()
		for h != nil && h.Info().ConnectAddress().String() == p.ip {
			h = next()
		}
		return h
	}
}

type selected struct{ info *gocql.HostInfo }

func (s selected) Info() *gocql.HostInfo { return s.info }
func (s selected) Mark(error)            {}

// outcome prints an error with its fields.
func outcome(err error) string {
	var unavailable *gocql.RequestErrUnavailable
	var read *gocql.RequestErrReadTimeout
	var write *gocql.RequestErrWriteTimeout
	var other gocql.RequestError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &unavailable):
		return fmt.Sprintf("unavailable %s %d %d", level(unavailable.Consistency), unavailable.Required, unavailable.Alive)
	case errors.As(err, &read):
		return fmt.Sprintf("read timeout %s %d %d data %d", level(read.Consistency), read.Received, read.BlockFor, read.DataPresent)
	case errors.As(err, &write):
		return fmt.Sprintf("write timeout %s %s %d %d", write.WriteType, level(write.Consistency), write.Received, write.BlockFor)
	case errors.As(err, &other):
		return fmt.Sprintf("0x%04x %s", other.Code(), other.Message())
	}
	return err.Error()
}

// level prints a level. gocql has names for the serial ones as levels of their own.
func level(c gocql.Consistency) string {
	if c == gocql.Consistency(gocql.Serial) || c == gocql.Consistency(gocql.LocalSerial) {
		return gocql.SerialConsistency(c).String()
	}
	return c.String()
}

// connectGocql opens a session with the nodes of a ring.
func connectGocql(t *testing.T, s *cqltest.Server, node int, change func(*gocql.ClusterConfig)) *gocql.Session {
	t.Helper()
	cluster := gocqltest.Cluster(s.Node(node).Addr())
	cluster.Timeout, cluster.ConnectTimeout = time.Minute, time.Minute
	cluster.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1, Interval: time.Millisecond}
	change(cluster)
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

// TestRingScenarios has nodes of a ring fail, and asks for things through gocql's policies: what error the application
// gets, which nodes have coordinated its requests, and what is written.
func TestRingScenarios(t *testing.T) {
	snapshot := ringSnapshot(t)
	for _, sc := range scenarios() {
		t.Run(strings.ReplaceAll(sc.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if len(sc.slow) > 0 && sc.lag == 0 {
				limit = 500 * time.Millisecond
			}
			sc.run(t, snapshot.Fork(t, cqltest.WithLimits(server.Limits{
				ReadTimeout: limit, RangeTimeout: limit, WriteTimeout: limit, CounterTimeout: limit, CASTimeout: limit,
			})))
		})
	}
}

func (sc *scenario) run(t *testing.T, s *cqltest.Server) {
	for _, n := range sc.stopped {
		s.Node(n).Stop()
	}
	for _, n := range sc.cut {
		s.Node(n).Partition()
	}
	from := sc.from
	for _, n := range s.Nodes() {
		if i := n.Number(); from == 0 && !slices.Contains(sc.stopped, i) && !slices.Contains(sc.slow, i) {
			from = i
		}
	}
	session := connectGocql(t, s, from, func(c *gocql.ClusterConfig) {
		c.PoolConfig.HostSelectionPolicy = sc.policy
		if sc.only {
			host, _, _ := net.SplitHostPort(s.Node(from).Addr())
			c.HostFilter = gocql.WhiteListHostFilter(host)
		}
	})
	for _, n := range sc.slow {
		if s.Node(n).Slow(time.Hour); sc.lag > 0 {
			s.Node(n).Slow(sc.lag)
		}
	}
	s.Record()
	began := time.Now()
	err := sc.execute(session)
	if got := outcome(err); got != sc.want {
		t.Errorf("the driver got %q, want %q", got, sc.want)
	}
	if took := time.Since(began); err == nil && sc.lag > 0 && sc.spec == nil && took < sc.lag {
		t.Errorf("it took %v, with nodes that take %v", took, sc.lag)
	}
	var on []int
	for _, st := range s.Statements() {
		if st.Opcode != "PREPARE" {
			on = append(on, st.Node)
		}
	}
	if len(on) != max(sc.runs, 1) || slices.ContainsFunc(on, func(n int) bool { return !slices.Contains(sc.on, n) }) {
		t.Errorf("coordinated by %v, want %d of %v", on, max(sc.runs, 1), sc.on)
	}
	for _, n := range sc.stopped {
		s.Node(n).Start()
	}
	if sc.rows < 0 || strings.HasPrefix(sc.query, "SELECT") || strings.Contains(sc.query, "all.n") {
		return
	}
	if got := one(t, s, "SELECT count(*) FROM all.t WHERE k = 1"); got != fmt.Sprint(sc.rows) {
		t.Errorf("%s rows are written, want %d", got, sc.rows)
	}
}

// execute runs the query or the batch.
func (sc *scenario) execute(session *gocql.Session) error {
	if sc.batch != nil {
		b := session.NewBatch(sc.kind)
		for _, text := range sc.batch {
			b.Query(text)
		}
		b.SetConsistency(sc.level)
		return session.ExecuteBatch(b)
	}
	q := session.Query(sc.query).Consistency(sc.level).RetryPolicy(sc.retry)
	if sc.serial != 0 {
		q = q.SerialConsistency(sc.serial)
	}
	if sc.spec != nil {
		q = q.Idempotent(true).SetSpeculativeExecutionPolicy(sc.spec)
	}
	return q.WithContext(context.Background()).Exec()
}

// Token-aware requests go to the nodes that are replicas: gocql finds them on its own, from the tokens and the
// replication. When a node is down, exactly the partitions that gocql has looked for there are unavailable.
func TestRingTokenAware(t *testing.T) {
	s := ringSnapshot(t).Fork(t)
	s.Record()
	replica, owned := map[int]int{}, map[int]int{}
	for _, keyspace := range []string{"one", "two"} { // gocql knows the replicas of the session's keyspace
		session := connectGocql(t, s, 1, func(c *gocql.ClusterConfig) {
			c.Keyspace = keyspace
			c.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.DCAwareRoundRobinPolicy("dc1"))
		})
		for k := range 60 {
			if err := session.Query("INSERT INTO t (k, v) VALUES (?, 1)", k).Consistency(gocql.One).Exec(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, st := range s.Statements() {
		if st.Opcode != "EXECUTE" {
			continue
		}
		if st.Node > 3 {
			t.Errorf("%v was coordinated by node %d", st, st.Node)
		}
		var k int
		fmt.Sscan(st.Keys[0], &k)
		if st.Keyspace == "one" {
			replica[k] = st.Node
			owned[st.Node]++
		}
	}
	for n := 1; n <= 3; n++ {
		if owned[n] < 6 {
			t.Errorf("node %d has %d of 60 partitions", n, owned[n])
		}
	}
	s.Node(2).Stop()
	far := connectGocql(t, s, 4, func(c *gocql.ClusterConfig) {
		c.PoolConfig.HostSelectionPolicy = gocql.DCAwareRoundRobinPolicy("dc2")
	})
	for k := range 60 {
		want := ""
		if replica[k] == 2 {
			want = "unavailable ONE 1 0"
		}
		err := far.Query("SELECT v FROM one.t WHERE k = ?", k).Consistency(gocql.One).Exec()
		if got := outcome(err); got != want {
			t.Errorf("the partition %d of node %d: %q, want %q", k, replica[k], got, want)
		}
	}
	if got := outcome(far.Query("SELECT v FROM one.t").Consistency(gocql.One).Exec()); got != "unavailable ONE 1 0" {
		t.Errorf("a scan without node 2: %q", got)
	}
}

// An open session goes on without a node that stops, and uses it again when it is back; it uses a node that is added,
// and none that is removed.
func TestRingChanges(t *testing.T) {
	s := cqltest.RunT(t, cqltest.Ring(3))
	s.Exec(t, "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3}",
		"CREATE TABLE k.t (k int PRIMARY KEY)")
	session := connectGocql(t, s, 1, func(c *gocql.ClusterConfig) {
		c.PoolConfig.HostSelectionPolicy = gocql.RoundRobinHostPolicy()
		c.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 3}
		c.ReconnectInterval = 50 * time.Millisecond // gocql waits 10 seconds after the event UP of a release x.0
	})
	s.Record()
	coordinators := func() (on []int) {
		t.Helper()
		s.Reset()
		for range 12 {
			if err := session.Query("SELECT k FROM k.t WHERE k = ?", 1).Consistency(gocql.Quorum).Idempotent(true).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		for _, st := range s.Statements() {
			if !slices.Contains(on, st.Node) {
				on = append(on, st.Node)
			}
		}
		slices.Sort(on)
		return on
	}
	expect := func(what string, nodes ...int) {
		t.Helper()
		var on []int
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if on = coordinators(); slices.Equal(on, nodes) {
				return
			}
		}
		t.Fatalf("%s: coordinated by %v, want %v", what, on, nodes)
	}
	expect("at first", 1, 2, 3)
	s.Node(2).Stop()
	expect("node 2 is stopped", 1, 3)
	s.Node(2).Start()
	expect("node 2 is back", 1, 2, 3)
	added := s.AddNode("datacenter1", "")
	expect("node 4 is added", 1, 2, 3, 4)
	added.Remove()
	expect("node 4 is removed", 1, 2, 3)
}

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
			about := fmt.Sprintf("'%s' '%s' '%s' %s", state.Address.Addr(), state.Datacenter, state.Rack, types.UUID.Format(state.HostID[:]))
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
