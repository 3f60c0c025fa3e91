package gocqltest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
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

func (s selected) Mark(error) {}

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
			sc.run(t, snapshot.Fork(t, cqltest.WithTimeouts(cqltest.Timeouts{
				Read: limit, Range: limit, Write: limit, Counter: limit, Conditional: limit,
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
	if got := s.Query(t, "SELECT count(*) FROM all.t WHERE k = 1").String(); got != fmt.Sprint(sc.rows) {
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
