package command

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/nodes"
)

// A node of a ring that a test has stopped, or cut off from the node that is asked, is down.
func TestNodesOfRing(t *testing.T) {
	srv := cqltest.RunT(t, cqltest.Ring(3), cqltest.WithControls())
	states := func(node int) (all string) {
		code, out, errs := cqld(t, nil, "nodes", srv.Node(node).Addr())
		if code != 0 {
			t.Fatal(errs)
		}
		for line := range strings.Lines(out) {
			if words := strings.Fields(line); words[0] != "STATE" {
				all += words[0] + " "
			}
		}
		return all
	}
	for _, step := range []struct {
		change      string // of node 2
		first, last string // the states of nodes 1, 2 and 3 that nodes 1 and 3 show
	}{
		{"up = false", "up down up ", "up down up "},
		{"up = true", "up up up ", "up up up "},
		{"partitioned = true", "up down up ", "up down up "},
	} {
		change := "UPDATE cqld_control.nodes SET " + step.change + " WHERE number = 2"
		code, _, errs := cqld(t, nil, "exec", srv.Node(1).Addr(), "-e", change)
		if first, last := states(1), states(3); code != 0 || first != step.first || last != step.last {
			t.Errorf("%s: nodes 1 and 3 show %q and %q, want %q and %q; %s", step.change, first, last, step.first, step.last,
				errs)
		}
	}
	if got := states(2); got != "down up down " {
		t.Errorf("the node that is cut off shows %q", got)
	}
}

func TestNodes(t *testing.T) {
	c := nodes.RunT(t, 3, nodes.Options{Down: 500 * time.Millisecond})
	c.Node(2).Kill()
	want := []string{"down " + c.Node(2).Addr(), "up " + c.Node(0).Addr(), "up " + c.Node(1).Addr()}
	slices.Sort(want)
	for i := range want {
		want[i] += " datacenter1 rack1 16 5.0.8"
	}
	var got []string
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && !slices.Equal(got, want); time.Sleep(10 * time.Millisecond) {
		code, out, errs := cqld(t, nil, "nodes", c.Node(0).Addr())
		if code != 0 {
			t.Fatal(errs)
		}
		got = nil
		for line := range strings.Lines(out) {
			if words := strings.Fields(line); words[0] != "STATE" {
				got = append(got, strings.Join(words[:6], " "))
			}
		}
		slices.Sort(got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the nodes are %q, want %q", got, want)
	}
	if code, _, _ := cqld(t, nil, "nodes", "127.0.0.1:1", "--timeout", "1s"); code != exitFailed {
		t.Error("nodes of no server are listed")
	}
}

// TestLapse stops a node until its lease has ended. It is ready for a moment longer, because statements wait for the
// lease, and on a busy machine it is often renewed too late.
func TestLapse(t *testing.T) {
	c := nodes.RunT(t, 1, nodes.Options{})
	n := c.Node(0)
	r := &reach{calls: newEngineCalls(), node: n.Store().Cluster()}
	n.Pause()
	defer n.Resume()
	var ready, late bool // after the end of the lease
	for end := time.Now().Add(30 * time.Second); !late && time.Now().Before(end); time.Sleep(time.Millisecond) {
		lapsed := r.node.Lapsed()
		switch err := r.outage(); {
		case err == nil && lapsed > lapseTolerance:
			t.Fatalf("the node is ready %v after its lease", lapsed)
		case err != nil && r.node.Lapsed() <= lapseTolerance:
			t.Fatalf("the node is not ready %v after its lease", lapsed)
		default:
			ready, late = ready || err == nil && lapsed > 0, err != nil
		}
	}
	if !ready || !late {
		t.Errorf("the node was ready after its lease: %v, and later was not: %v", ready, late)
	}
}
