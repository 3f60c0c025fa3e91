package cqltest_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

var (
	realRing = flag.String("ring", "", "ask the six new nodes of Cassandra at these addresses, with commas between them, "+
		"and write what they answer into testdata/ring_levels.txt; they have the layout dc1=3,dc2=3")
	realNode = flag.String("ring-node", "", "with -ring: a command that gets stop, start, pause or resume and the number of a node, "+
		"and ends when that is done")
)

const ringLevels = "testdata/ring_levels.txt"

// levelsSchema has keyspaces whose replicas are the same nodes for all keys, or all down where they are asked.
const levelsSchema = `
CREATE KEYSPACE all WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3, 'dc2': 3};
CREATE KEYSPACE first WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3};
CREATE KEYSPACE second WITH replication = {'class': 'NetworkTopologyStrategy', 'dc2': 3};
CREATE KEYSPACE simple WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 6};
CREATE KEYSPACE many WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 5, 'dc2': 3};
CREATE KEYSPACE one WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1};
CREATE KEYSPACE two WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1, 'dc2': 1};`

var levelsKeyspaces = []string{"all", "first", "second", "simple", "many", "one", "two"}

// aRing is six nodes in two datacenters, of cqld or of Cassandra.
type aRing interface {
	addr(node int) string
	do(t *testing.T, what string, node int)
}

type ourRing struct{ *cqltest.Server }

func (r ourRing) addr(node int) string { return r.Node(node).Addr() }

func (r ourRing) do(t *testing.T, what string, node int) {
	switch n := r.Node(node); what {
	case "stop":
		n.Stop()
	case "start":
		n.Start()
	case "pause":
		n.Slow(time.Hour)
	case "resume":
		n.Slow(0)
	default:
		t.Fatalf("a node is told to %s", what)
	}
}

type theirRing []string

func (r theirRing) addr(node int) string { return r[node-1] }

func (r theirRing) do(t *testing.T, what string, node int) {
	if out, err := exec.Command(*realNode, what, strconv.Itoa(node)).CombinedOutput(); err != nil {
		t.Fatalf("%s %s %d: %v\n%s", *realNode, what, node, err, out)
	}
}

// TestRingLevels asks a ring for everything at all consistency levels, while nodes are down or do not answer, and
// compares with what a ring of Cassandra answered.
func TestRingLevels(t *testing.T) {
	recorded, err := os.ReadFile(ringLevels)
	if err != nil {
		t.Fatal(err)
	}
	if *realRing != "" {
		got := askLevels(t, theirRing(strings.Split(*realRing, ",")), string(recorded))
		if err := os.WriteFile(ringLevels, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	down, paused, _ := strings.Cut(string(recorded), "! paused")
	t.Run("down", func(t *testing.T) { compareLevels(t, down, time.Minute) })
	t.Run("paused", func(t *testing.T) { compareLevels(t, "! paused"+paused, time.Second) })
}

// compareLevels asks a ring whose timeouts are a limit for what was recorded.
func compareLevels(t *testing.T, recorded string, limit time.Duration) {
	t.Parallel()
	s := cqltest.RunT(t, cqltest.RingOf("dc1=3,dc2=3"), cqltest.WithTimeouts(cqltest.Timeouts{
		Read: limit, Range: limit, Write: limit, Counter: limit, Conditional: limit,
	}))
	got, want := strings.Split(askLevels(t, ourRing{s}, recorded), "\n"), strings.Split(recorded, "\n")
	place := ""
	for i, line := range want {
		if strings.HasPrefix(line, "!") {
			place = line
		}
		if strings.HasPrefix(line, ">") {
			place, _, _ = strings.Cut(place, " >")
			place += " " + line
		}
		if i < len(got) && got[i] != line {
			t.Errorf("%s\n got %s\nwant %s", place, got[i], line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d lines, want %d", len(got), len(want))
	}
}

// askLevels runs the statements of a file, which stand behind ">", and writes what they answer below them. A line
// behind "!" has the nodes that are down or pause, and the coordinator of the statements below it. In front of a
// statement stand the keyspaces that {ks} is, and behind "but" the levels that it is not asked at. {k} is another key
// each time.
func askLevels(t *testing.T, r aRing, file string) string {
	t.Helper()
	setup := connectRing(t, r.addr(1))
	defer setup.Close()
	for text := range strings.SplitSeq(strings.TrimSpace(levelsSchema), "\n") {
		must(t, setup, text)
	}
	for _, ks := range levelsKeyspaces {
		must(t, setup, "CREATE TABLE "+ks+".t (k int PRIMARY KEY, v int)")
		must(t, setup, "CREATE TABLE "+ks+".n (k int PRIMARY KEY, n counter)")
	}
	awaitAgreement(t, setup)
	must(t, setup, "INSERT INTO all.t (k, v) VALUES (0, 0)")

	var b strings.Builder
	a := levelsAsked{ring: r, key: 1}
	for line := range strings.Lines(file) {
		text := strings.TrimSuffix(line, "\n")
		switch state, isState := strings.CutPrefix(text, "! "); {
		case isState:
			b.WriteString(line)
			a.setState(t, state)
		case strings.HasPrefix(text, "> "):
			b.WriteString(line)
			a.ask(t, &b, text[2:])
		case strings.HasPrefix(text, "#"), text == "":
			b.WriteString(line)
		}
	}
	a.setState(t, "from 1")
	return b.String()
}

// levelsAsked is a ring that is asked.
type levelsAsked struct {
	ring         aRing
	down, paused []int
	from         int
	key          int
}

// setState stops, starts, pauses and resumes nodes, so that they are as a line says: "down 1 2; paused 3; from 4".
func (a *levelsAsked) setState(t *testing.T, state string) {
	t.Helper()
	was := *a
	a.down, a.paused = nil, nil
	for part := range strings.SplitSeq(state, "; ") {
		word, rest, _ := strings.Cut(part, " ")
		var nodes []int
		for _, n := range strings.Fields(rest) {
			number, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, number)
		}
		switch word {
		case "down":
			a.down = nodes
		case "paused":
			a.paused = nodes
		case "from":
			a.from = nodes[0]
		}
	}
	for _, n := range was.down {
		if !slices.Contains(a.down, n) {
			a.ring.do(t, "start", n)
		}
	}
	for _, n := range a.down {
		if !slices.Contains(was.down, n) {
			a.ring.do(t, "stop", n)
		}
	}
	a.awaitNodes(t)
}

// ask runs a statement in the keyspaces in front of it at all levels; a conditional one with each serial level.
func (a *levelsAsked) ask(t *testing.T, b *strings.Builder, statement string) {
	t.Helper()
	keyspaces, statement, _ := strings.Cut(statement, ": ")
	keyspaces, without, _ := strings.Cut(keyspaces, " but ")
	type question struct{ name, answer string }
	var questions []*question
	var running sync.WaitGroup
	begin := make(chan struct{})
	conn := connectRing(t, a.ring.addr(a.from))
	defer conn.Close()
	for ks := range strings.FieldsSeq(keyspaces) {
		for _, level := range levelsOf(statement) {
			if slices.Contains(strings.Fields(without), level.String()) {
				continue
			}
			for _, serial := range serialLevelsOf(statement) {
				a.key += 10
				text := strings.NewReplacer("{ks}", ks, "{k}", strconv.Itoa(a.key), "{k2}", strconv.Itoa(a.key+1)).Replace(statement)
				q := &question{name: ks + " " + level.String()}
				if serial != 0 {
					q.name += " " + serial.String()
				}
				questions = append(questions, q)
				if len(a.paused) == 0 {
					q.answer = atLevel(t, conn, text, level, serial)
					continue
				}
				conn := connectRing(t, a.ring.addr(a.from))
				running.Go(func() {
					defer conn.Close()
					<-begin
					q.answer = atLevel(t, conn, text, level, serial)
				})
			}
		}
	}
	for _, n := range a.paused {
		a.ring.do(t, "pause", n)
	}
	close(begin)
	running.Wait()
	for _, n := range a.paused {
		a.ring.do(t, "resume", n)
	}
	if len(a.paused) > 0 {
		a.awaitNodes(t)
	}
	for _, q := range questions {
		fmt.Fprintf(b, "%s: %s\n", q.name, q.answer)
	}
}

// awaitNodes waits until the coordinator sees the nodes that are not down.
func (a *levelsAsked) awaitNodes(t *testing.T) {
	t.Helper()
	conn := connectRing(t, a.ring.addr(a.from))
	defer conn.Close()
	want := "ok"
	if n := 6 - len(a.down); n < 6 {
		want = fmt.Sprintf("unavailable 6 %d: Cannot achieve consistency level LEVEL", n)
	}
	for range 1200 {
		if atLevel(t, conn, "SELECT v FROM all.t WHERE k = 0", cqlerr.All, 0) == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nodes %v should be down, and no others", a.down)
}

// serialLevelsOf are the serial levels that a statement is asked at.
func serialLevelsOf(statement string) []cqlerr.Consistency {
	if strings.Contains(statement, " IF ") {
		return []cqlerr.Consistency{cqlerr.Serial, cqlerr.LocalSerial}
	}
	return []cqlerr.Consistency{0}
}

// levelsOf are the levels that a statement is asked at.
func levelsOf(statement string) []cqlerr.Consistency {
	if strings.HasPrefix(statement, "TRUNCATE") {
		return []cqlerr.Consistency{cqlerr.One}
	}
	return []cqlerr.Consistency{
		cqlerr.Any, cqlerr.One, cqlerr.Two, cqlerr.Three, cqlerr.Quorum, cqlerr.All, cqlerr.LocalQuorum, cqlerr.EachQuorum,
		cqlerr.Serial, cqlerr.LocalSerial, cqlerr.LocalOne,
	}
}

// atLevel is what a statement answers at a consistency level.
func atLevel(t *testing.T, conn *client.Conn, text string, level, serial cqlerr.Consistency) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	m := &protocol.Query{Query: text}
	m.Parameters.Consistency = level
	if serial != 0 {
		m.Parameters.Flags, m.Parameters.SerialConsistency = protocol.WithSerialConsistency, serial
	}
	_, err := conn.Do(ctx, m)
	var e *cqlerr.Error
	switch {
	case err == nil:
		return "ok"
	case !errors.As(err, &e):
		t.Errorf("%s at %s: %v", text, level, err)
		return err.Error()
	}
	given := func(c cqlerr.Consistency) string {
		if c == level {
			return ""
		}
		return " " + c.String()
	}
	message := strings.ReplaceAll(e.Message, "level "+level.String(), "level LEVEL")
	switch d := e.Detail.(type) {
	case cqlerr.UnavailableDetail:
		return fmt.Sprintf("unavailable%s %d %d: %s", given(d.Consistency), d.Required, d.Alive, message)
	case cqlerr.TimeoutDetail:
		return fmt.Sprintf("timeout %04x%s %d %d %s %v: %s",
			uint32(e.Code), given(d.Consistency), d.Received, d.BlockFor, d.WriteType, d.DataPresent, message)
	case cqlerr.FailureDetail:
		return fmt.Sprintf("failure %04x%s %d %d %s %v: %s",
			uint32(e.Code), given(d.Consistency), d.Received, d.BlockFor, d.WriteType, d.DataPresent, message)
	}
	return fmt.Sprintf("error %04x: %s", uint32(e.Code), message)
}

// connectRing connects to a node.
func connectRing(t *testing.T, addr string) *client.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// awaitAgreement waits until all nodes have the same definitions.
func awaitAgreement(t *testing.T, conn *client.Conn) {
	t.Helper()
	for range 600 {
		versions := must(t, conn, "SELECT schema_version FROM system.peers").Rows
		versions = append(versions, must(t, conn, "SELECT schema_version FROM system.local").Rows...)
		if len(versions) == 6 && !slices.ContainsFunc(versions, func(v [][]byte) bool { return !bytes.Equal(v[0], versions[0][0]) }) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the nodes have not agreed about their definitions in a minute")
}

// must runs a statement that has to succeed.
func must(t *testing.T, conn *client.Conn, text string) *client.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	result, err := conn.Query(ctx, text, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return result
}
