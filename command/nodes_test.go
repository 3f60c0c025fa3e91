package command

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/internal/nodes"
)

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
