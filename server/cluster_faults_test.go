package server_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/internal/nodes"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// hostileEngine is an engine that does all that engines may do.
func hostileEngine(fold engine.Fold) engine.Engine { return enginetest.NewMemory(fold, true) }

// TestClusterPausedWrite stops a node while it writes, until its lease is over and an index has been built without it.
func TestClusterPausedWrite(t *testing.T) {
	c := nodes.RunT(t, 2, nodes.Options{})
	first, second := dialNode(t, c.Node(0)), dialNode(t, c.Node(1))
	ask(t, first, clusterKeyspace)
	ask(t, first, "CREATE TABLE k.t (a int PRIMARY KEY, b int)")
	ask(t, second, "INSERT INTO k.t (a, b) VALUES (0, 7)")
	c.Node(1).Pause()
	written := make(chan error, 1)
	go func() {
		_, err := tryAsk(second, "INSERT INTO k.t (a, b) VALUES (1, 7)")
		written <- err
	}()
	eventually(t, "the write is stopped", func() bool { return c.Node(1).Stopped() > 0 })
	ask(t, first, "CREATE INDEX ON k.t (b)")
	ask(t, first, "CREATE TABLE k.u (a int PRIMARY KEY)")
	built := func(n *nodes.Node) func() bool { return func() bool { return n.Store().BuildsWaiting() == 0 } }
	eventually(t, "the index is built", built(c.Node(0)))
	c.Node(1).Resume()
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	for i, conn := range []*client.Conn{first, second} {
		eventually(t, "the index is read", built(c.Node(i)))
		if got := ask(t, conn, "SELECT a FROM k.t WHERE b = 7"); len(got) != 2 {
			t.Errorf("by the index there is %v", got)
		}
	}
	ask(t, second, "INSERT INTO k.u (a) VALUES (1)") // a table that was made while the node was stopped
}

// TestClusterPausedViews stops a node while it overwrites and deletes rows, until its lease is over and a view has
// been built of these rows.
func TestClusterPausedViews(t *testing.T) {
	c := nodes.RunT(t, 2, nodes.Options{})
	first := dialNode(t, c.Node(0))
	for _, text := range []string{
		clusterKeyspace,
		"CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))",
		"INSERT INTO k.t (a, b, c) VALUES (1, 1, 7)",
		"INSERT INTO k.t (a, b, c) VALUES (1, 2, 7)",
		"INSERT INTO k.t (a, b, c) VALUES (2, 1, 7)",
		"INSERT INTO k.t (a, b, c) VALUES (3, 1, 7)",
	} {
		ask(t, first, text)
	}
	ask(t, dialNode(t, c.Node(1)), "DELETE FROM k.t WHERE a = 9") // the node knows that the table may have tombstones
	late := []string{
		"UPDATE k.t SET c = 8 WHERE a = 1 AND b = 1", "DELETE FROM k.t WHERE a = 2", "INSERT INTO k.t (a, b, c) VALUES (4, 1, 8)",
	}
	conns := make([]*client.Conn, len(late))
	for i := range late {
		conns[i] = dialNode(t, c.Node(1))
	}
	c.Node(1).Pause()
	written := make(chan error, len(late))
	for i, text := range late {
		go func() {
			_, err := tryAsk(conns[i], text)
			written <- err
		}()
	}
	eventually(t, "the writes are stopped", func() bool { return c.Node(1).Stopped() == len(late) })
	ask(t, first, "CREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL "+
		"PRIMARY KEY (c, a, b)")
	eventually(t, "the view is built", func() bool { return c.Node(0).Store().BuildsWaiting() == 0 })
	before := ask(t, first, "SELECT c, a, b FROM k.v")
	slices.Sort(before)
	if want := []string{"7 1 1", "7 1 2", "7 2 1", "7 3 1"}; !slices.Equal(before, want) {
		t.Fatalf("before the writes the view has %v, want %v", before, want)
	}
	c.Node(1).Resume()
	for range late {
		if err := <-written; err != nil {
			t.Error(err)
		}
	}
	after := ask(t, first, "SELECT c, a, b FROM k.v")
	slices.Sort(after)
	if want := []string{"7 1 2", "7 3 1", "8 1 1", "8 4 1"}; !slices.Equal(after, want) {
		t.Errorf("after the writes the view has %v, want %v", after, want)
	}
}

// TestClusterOrder writes a value on one node after the other, whose machines have clocks that are apart.
func TestClusterOrder(t *testing.T) {
	t.Parallel()
	c := nodes.RunT(t, 3, nodes.Options{Apart: -3 * time.Second})
	var conns []*client.Conn
	for _, n := range c.Nodes() {
		conns = append(conns, dialNode(t, n))
	}
	ask(t, conns[0], clusterKeyspace)
	ask(t, conns[0], "CREATE TABLE k.t (a int PRIMARY KEY, b int)")
	for i := range 300 {
		ask(t, conns[i%3], fmt.Sprintf("UPDATE k.t SET b = %d WHERE a = 1", i))
		if got := ask(t, conns[(i+1)%3], "SELECT b FROM k.t WHERE a = 1"); !slices.Equal(got, []string{fmt.Sprint(i)}) {
			t.Fatalf("after %d was written there is %v", i, got)
		}
		if i%7 == 0 {
			ask(t, conns[(i+2)%3], "DELETE FROM k.t WHERE a = 1")
			if got := ask(t, conns[i%3], "SELECT b FROM k.t WHERE a = 1"); len(got) != 0 {
				t.Fatalf("after the row was deleted there is %v", got)
			}
		}
	}
}

// TestClusterHalfway kills a node that has begun to drop an index, when the others have followed the first of two
// versions.
func TestClusterHalfway(t *testing.T) {
	t.Parallel()
	for range 20 {
		if testHalfway(t) {
			return
		}
	}
	t.Error("a node was never killed before it had dropped the index")
}

// testHalfway reports false if the index was dropped before the node was killed.
func testHalfway(t *testing.T) bool {
	t.Helper()
	c := nodes.RunT(t, 3, nodes.Options{Lease: 800 * time.Millisecond, Down: 400 * time.Millisecond})
	first, second := dialNode(t, c.Node(0)), dialNode(t, c.Node(1))
	built := func() bool { return c.Node(1).Store().BuildsWaiting() == 0 }
	ask(t, first, clusterKeyspace)
	ask(t, first, "CREATE TABLE k.t (a int PRIMARY KEY, b int)")
	ask(t, first, "CREATE INDEX by_b ON k.t (b)")
	eventually(t, "the index is built", built)
	c.Node(2).Pause() // so that the others wait for its lease to end
	go tryAsk(first, "DROP INDEX k.by_b")
	eventually(t, "the index is not used any more", func() bool { return !built() })
	c.Node(0).Kill()
	c.Node(2).Resume()
	ask(t, second, "INSERT INTO k.t (a, b) VALUES (1, 7)")
	if len(ask(t, second, "SELECT index_name FROM system_schema.indexes WHERE keyspace_name = 'k'")) == 0 {
		return false
	}
	eventually(t, "the index is built again", built)
	if got := ask(t, second, "SELECT a FROM k.t WHERE b = 7"); !slices.Equal(got, []string{"1"}) {
		t.Errorf("by the index there is %v", got)
	}
	return true
}

// TestClusterBegun goes on from a definition that another node has begun, while a third one has not followed it.
func TestClusterBegun(t *testing.T) {
	t.Parallel()
	c := nodes.RunT(t, 3, nodes.Options{Lease: time.Second, Down: time.Second})
	first, second, third := dialNode(t, c.Node(0)), dialNode(t, c.Node(1)), dialNode(t, c.Node(2))
	ask(t, first, clusterKeyspace)
	ask(t, first, "CREATE TABLE k.t (a int PRIMARY KEY, b int)")
	ask(t, first, "CREATE INDEX by_b ON k.t (b)")
	eventually(t, "the index is built", func() bool { return c.Node(2).Store().BuildsWaiting() == 0 })
	ask(t, first, "INSERT INTO k.t (a, b) VALUES (1, 6)")
	begin := func(node int, text string) (end func()) {
		conn := dialNode(t, c.Node(node))
		ended := make(chan error, 1)
		go func() {
			_, err := tryAsk(conn, text)
			ended <- err
		}()
		return func() {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	version := func(node int) uint64 {
		number, _ := c.Node(node).Store().Version()
		return number
	}
	await := func(node int, least uint64) {
		eventually(t, "the definitions have changed", func() bool { return version(node) >= least })
	}

	// The second one drops the index too, and a row is written on it meanwhile.
	before := version(0)
	end := begin(0, "DROP INDEX IF EXISTS k.by_b")
	await(0, before+1)
	endSecond := begin(1, "DROP INDEX IF EXISTS k.by_b")
	await(1, before+2)
	ask(t, second, "INSERT INTO k.t (a, b) VALUES (2, 7)")
	if got := ask(t, third, "SELECT a FROM k.t WHERE b = 7 ALLOW FILTERING"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("while the index is dropped there is %v", got)
	}
	end()
	endSecond()

	// The second one knows that the table may have tombstones, because it has followed for another reason.
	before = version(0)
	end = begin(0, "DELETE FROM k.t WHERE a = 3")
	await(0, before+1)
	ask(t, second, "DROP INDEX IF EXISTS k.by_c")
	ask(t, second, "DELETE FROM k.t WHERE a = 1")
	if got := ask(t, third, "SELECT a FROM k.t WHERE a = 1"); len(got) != 0 {
		t.Errorf("after the row was deleted there is %v", got)
	}
	end()

	// The second one truncates the table too, and a row is written on the third one meanwhile.
	before = version(0)
	end = begin(0, "TRUNCATE k.t")
	await(0, before+1)
	endSecond = begin(1, "TRUNCATE k.t")
	await(1, before+2)
	ask(t, third, "INSERT INTO k.t (a, b) VALUES (4, 8)")
	got := ask(t, third, "SELECT a FROM k.t")
	end()
	endSecond()
	if len(got) > 1 {
		t.Errorf("after TRUNCATE there is %v", got)
	}
}

// TestClusterCounters adds to the same counters on all nodes.
func TestClusterCounters(t *testing.T) {
	for name, open := range map[string]func(engine.Fold) engine.Engine{"memory": nil, "hostile": hostileEngine} {
		t.Run(name, func(t *testing.T) {
			c := nodes.RunT(t, 3, nodes.Options{Open: open})
			first := dialNode(t, c.Node(0))
			ask(t, first, clusterKeyspace)
			ask(t, first, "CREATE TABLE k.t (a int PRIMARY KEY, n counter)")
			const each = 60
			var running sync.WaitGroup
			for i := range 6 {
				conn := dialNode(t, c.Node(i%3))
				running.Go(func() {
					for j := range each {
						text := fmt.Sprintf("UPDATE k.t SET n = n + 1 WHERE a = %d", j%2)
						if j%10 == 0 {
							text = "BEGIN COUNTER BATCH UPDATE k.t SET n = n + 1 WHERE a = 0; UPDATE k.t SET n = n - 1 WHERE a = 2; APPLY BATCH"
						}
						if _, err := tryAsk(conn, text); err != nil {
							t.Error(err)
						}
					}
				})
			}
			running.Wait()
			got := ask(t, first, "SELECT a, n FROM k.t")
			slices.Sort(got)
			if want := []string{"0 180", "1 180", "2 -36"}; !slices.Equal(got, want) {
				t.Errorf("the counters are %v, want %v", got, want)
			}
		})
	}
}

var (
	chaosFor  = flag.Duration("chaos", 2*time.Second, "how long nodes are stopped and killed while clients define and write")
	chaosSeed = flag.Uint64("chaos-seed", 0, "of what is done to nodes and by clients; 0: another one each time")
)

// chaos is clients that define and write on all nodes, which are stopped and killed meanwhile.
type chaos struct {
	*testing.T
	cluster *nodes.Cluster
	end     time.Time
	seed    uint64

	mu     sync.RWMutex // held for reading by clients that use a node, and for writing to kill or to start it
	values atomic.Int64
	acks   atomic.Int64
	tables atomic.Int64
}

// client connects to a node that runs.
func (x *chaos) client(random *rand.Rand) *client.Conn {
	for time.Now().Before(x.end) {
		n := x.cluster.Node(random.IntN(len(x.cluster.Nodes())))
		x.mu.RLock()
		running := n.Running()
		x.mu.RUnlock()
		if !running {
			continue
		}
		if c, err := client.Dial(x.Context(), n.Addr(), client.Options{}); err == nil {
			return c
		}
	}
	return nil
}

// refused reports whether an error says that nothing was done.
func refused(err error) bool {
	var e *cqlerr.Error
	return errors.As(err, &e) && (e.Code == cqlerr.Invalid || e.Code == cqlerr.AlreadyExists || e.Code == cqlerr.Overloaded ||
		e.Code == cqlerr.ConfigError || e.Code == cqlerr.SyntaxError)
}

// run sends statements until the time is over, to another node when one fails.
func (x *chaos) run(number uint64, next func(*rand.Rand) (text string, done func(rows []string, err error))) {
	random := rand.New(rand.NewPCG(x.seed, number))
	var c *client.Conn
	for time.Now().Before(x.end) {
		if c == nil {
			if c = x.client(random); c == nil {
				return
			}
		}
		text, done := next(random)
		rows, err := tryAsk(c, text)
		done(rows, err)
		if err == nil {
			x.acks.Add(1)
		}
		if err != nil && !refused(err) || random.IntN(8) == 0 {
			c.Close()
			c = nil
		}
	}
	if c != nil {
		c.Close()
	}
}

// written is what a client knows of the rows that it writes: the value that was acknowledged, and those that may have
// been written since. 0 is no row.
type written struct {
	sure  int64
	maybe []int64
}

// write writes to rows of k.t that are the client's own.
func (x *chaos) write(client int, rows map[int]*written) func(*rand.Rand) (string, func([]string, error)) {
	return func(random *rand.Rand) (string, func([]string, error)) {
		key := client*1000 + random.IntN(20)
		row := rows[key]
		if row == nil {
			row = &written{}
			rows[key] = row
		}
		if row.sure != 0 && len(row.maybe) == 0 && random.IntN(2) == 0 {
			text := fmt.Sprintf("SELECT a FROM k.t WHERE b = %d ALLOW FILTERING", row.sure)
			return text, func(got []string, err error) {
				if err == nil && !slices.Contains(got, fmt.Sprint(key)) {
					x.Errorf("%s returns %v, and not %d", text, got, key)
				}
			}
		}
		value := x.values.Add(1)
		text := fmt.Sprintf("INSERT INTO k.t (a, b, c) VALUES (%d, %d, %d)", key, value, value%5)
		switch random.IntN(8) {
		case 0:
			value = 0
			text = fmt.Sprintf("DELETE FROM k.t WHERE a = %d", key)
		case 1:
			text = fmt.Sprintf("BEGIN BATCH INSERT INTO k.t (a, b, c) VALUES (%d, %d, %d); INSERT INTO k.pairs (a, b) VALUES (%[1]d, %[2]d); "+
				"INSERT INTO k.pairs (a, b) VALUES (%[4]d, %[2]d); APPLY BATCH", key, value, value%5, -key-1)
		}
		return text, func(_ []string, err error) {
			switch {
			case err == nil:
				row.sure, row.maybe = value, nil
			case !refused(err):
				row.maybe = append(row.maybe, value)
			}
		}
	}
}

// define creates, changes and drops tables and indexes. live has the tables of this client that must be there.
func (x *chaos) define(client int, live map[string]bool) func(*rand.Rand) (string, func([]string, error)) {
	return func(random *rand.Rand) (string, func([]string, error)) {
		ignore := func([]string, error) {}
		switch random.IntN(9) {
		case 0:
			return "CREATE INDEX IF NOT EXISTS by_b ON k.t (b)", ignore
		case 1:
			return "DROP INDEX IF EXISTS k.by_b", ignore
		case 2:
			return "CREATE INDEX IF NOT EXISTS by_c ON k.t (c)", ignore
		case 3:
			return "DROP INDEX IF EXISTS k.by_c", ignore
		case 4:
			return "CREATE MATERIALIZED VIEW IF NOT EXISTS k.v AS SELECT * FROM k.t WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY KEY (b, a)", ignore
		case 5:
			return "DROP MATERIALIZED VIEW IF EXISTS k.v", ignore
		case 6:
			for name := range live {
				if live[name] {
					return "DROP TABLE k." + name, func([]string, error) { delete(live, name) } // with an error it may be there or not
				}
			}
		}
		name := fmt.Sprintf("own%d_%d", client, x.tables.Add(1))
		return "CREATE TABLE k." + name + " (a int PRIMARY KEY, b int)", func(_ []string, err error) {
			if err == nil {
				live[name] = true
			}
		}
	}
}

// disturb stops, kills and starts nodes until the time is over. One node is left alone at a time.
func (x *chaos) disturb() {
	random := rand.New(rand.NewPCG(x.seed, 0))
	all := x.cluster.Nodes()
	for time.Now().Before(x.end) {
		n := all[random.IntN(len(all))]
		switch random.IntN(3) {
		case 0, 1:
			n.Pause()
			time.Sleep(time.Duration(random.IntN(600)) * time.Millisecond)
			n.Resume()
		case 2:
			x.mu.Lock()
			n.Kill()
			x.mu.Unlock()
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
			x.mu.Lock()
			n.Start()
			x.mu.Unlock()
		}
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
	}
}

func TestClusterChaos(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(engine.Fold) engine.Engine{"memory": nil, "hostile": hostileEngine} {
		t.Run(name, func(t *testing.T) {
			x := &chaos{T: t, seed: *chaosSeed}
			if x.seed == 0 {
				x.seed = rand.Uint64()
			}
			t.Logf("-chaos-seed=%d", x.seed)
			x.cluster = nodes.RunT(t, 4, nodes.Options{Open: open, Apart: 2 * time.Second})
			first := dialNode(t, x.cluster.Node(0))
			ask(t, first, clusterKeyspace)
			ask(t, first, "CREATE TABLE k.t (a int PRIMARY KEY, b int, c int)")
			ask(t, first, "CREATE TABLE k.pairs (a int PRIMARY KEY, b int)")
			x.end = time.Now().Add(*chaosFor)
			var running sync.WaitGroup
			rows := [4]map[int]*written{}
			live := [3]map[string]bool{}
			for i := range rows {
				rows[i] = map[int]*written{}
				running.Go(func() { x.run(uint64(1+i), x.write(i, rows[i])) })
			}
			for i := range live {
				live[i] = map[string]bool{}
				running.Go(func() { x.run(uint64(100+i), x.define(i, live[i])) })
			}
			running.Go(x.disturb)
			running.Wait()
			t.Logf("%d statements acknowledged", x.acks.Load())
			x.examine(rows[:], live[:])
		})
	}
}

// examine holds what is stored against what was acknowledged, on all nodes.
func (x *chaos) examine(rows []map[int]*written, live []map[string]bool) {
	tables := map[string]bool{}
	for _, own := range live {
		for name := range own {
			tables[name] = true
		}
	}
	stored := map[string]string{} // by key, as b
	for number, n := range x.cluster.Nodes() {
		c := dialNode(x.T, n)
		there := map[string]bool{}
		for _, name := range ask(x.T, c, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'k'") {
			there[name] = true
		}
		for name := range tables {
			if !there[name] {
				x.Errorf("node %d has lost table %s", number, name)
			}
			ask(x.T, c, "INSERT INTO k."+name+" (a, b) VALUES (1, 1)")
		}
		clear(stored)
		for _, row := range ask(x.T, c, "SELECT a, b FROM k.t") {
			key, value, _ := strings.Cut(row, " ")
			stored[key] = value
		}
	}
	for _, own := range rows {
		for key, row := range own {
			value := stored[fmt.Sprint(key)]
			if value == "" {
				value = "0"
			}
			may := []string{fmt.Sprint(row.sure)}
			for _, v := range row.maybe {
				may = append(may, fmt.Sprint(v))
			}
			if !slices.Contains(may, value) {
				x.Errorf("row %d has %s, which was acknowledged or may have been written: %v", key, value, may)
			}
		}
	}
	c := dialNode(x.T, x.cluster.Node(1))
	pairs := map[string]string{}
	for _, row := range ask(x.T, c, "SELECT a, b FROM k.pairs") {
		key, value, _ := strings.Cut(row, " ")
		pairs[key] = value
	}
	for key, value := range pairs {
		var n int
		fmt.Sscan(key, &n)
		if other := pairs[fmt.Sprint(-n-1)]; other != value {
			x.Errorf("a logged batch is torn: %s and %s", value, other)
		}
	}
	x.compareIndexes(c, stored)
}

// compareIndexes makes the indexes and the view be there and built, and holds what is read by them against the rows.
func (x *chaos) compareIndexes(c *client.Conn, stored map[string]string) {
	for _, text := range []string{
		"CREATE INDEX IF NOT EXISTS by_b ON k.t (b)", "CREATE INDEX IF NOT EXISTS by_c ON k.t (c)",
		"CREATE MATERIALIZED VIEW IF NOT EXISTS k.v AS SELECT * FROM k.t WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY KEY (b, a)",
	} {
		ask(x.T, c, text)
	}
	eventually(x.T, "the indexes and the view are built", func() bool { return x.cluster.Node(1).Store().BuildsWaiting() == 0 })
	for key, value := range stored {
		for _, text := range []string{"SELECT a FROM k.t WHERE b = " + value, "SELECT a FROM k.v WHERE b = " + value} {
			if got := ask(x.T, c, text); !slices.Contains(got, key) {
				x.Errorf("%s returns %v, and not %s", text, got, key)
			}
		}
	}
	for rest := range 5 {
		want := 0
		for _, value := range stored {
			var n int
			fmt.Sscan(value, &n)
			if n%5 == rest {
				want++
			}
		}
		if got := ask(x.T, c, fmt.Sprintf("SELECT a FROM k.t WHERE c = %d", rest)); len(got) != want {
			x.Errorf("%d rows have c = %d by the index, and %d by their values", len(got), rest, want)
		}
	}
}
