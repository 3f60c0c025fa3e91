package main

import (
	"flag"
	"os/exec"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/local"
	"github.com/cqld/cqld/cluster/tikv/tikvtest"
)

var (
	all   = flag.Bool("all", false, "run the scripts in all modes, also on a server that is no node; it takes long")
	every = flag.Bool("every", false, "with -all: bind values in every version and with pages of every size")
)

// fewModes are the modes that scripts are run in without -all: as different as they can be. On several nodes it is
// the first of them.
const (
	fewModes = "^(v5_plain_page5000|v4_prepared_page1)$"
	oneMode  = "^v5_plain_page5000$"
)

// showNodes are the scripts whose answers tell how many nodes there are: tables of peers, a row for each node that has
// built a view, and warnings of more replicas than nodes.
const showNodes = "^(virtual_tables|system_tables|metrics_tables|334_gossip|built_views|alter_keyspace|batch_sizes|" +
	"106_alter_system_keyspace)$"

// TestScripts runs the scripts of cqld's own tests against a node whose data is in a cluster of several regions.
func TestScripts(t *testing.T) {
	runScripts(t, serve(t, tikvtest.New(t, 3)).addr, fewModes)
}

// TestScriptsOnNodes runs them against three nodes. Each connection is to another node than the one before.
func TestScriptsOnNodes(t *testing.T) {
	c := tikvtest.New(t, 3)
	c.Interval = 50 * time.Millisecond // as PD moves its clock
	var addresses []string
	for range 3 {
		addresses = append(addresses, serve(t, c).addr)
	}
	gate, err := local.OpenGate(addresses...)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	runScripts(t, gate.Addr(), oneMode, "-skip", "^TestScripts$/./"+showNodes)
}

// TestScriptsAlone is TestScripts for a server that is no node.
func TestScriptsAlone(t *testing.T) {
	if !*all {
		t.Skip("without -all the scripts are run on nodes only")
	}
	runScripts(t, start(t, tikvtest.New(t, 3), nil).addr, fewModes)
}

// atOnce is how many scripts are run at the same time. Much of their time are definitions, which wait for all nodes.
const atOnce = "12"

// runScripts runs scripts in some modes, with -all in all modes.
func runScripts(t *testing.T, to, modes string, args ...string) {
	t.Helper()
	only := "^TestScripts$/././" + modes
	if *all {
		only = "^TestScripts$"
	}
	args = append(args, "-args", "-addr", to)
	if *every {
		args = append(args, "-every")
	}
	args = append([]string{
		"test", "-count=1", "-timeout=60m", "./compat_tests", "-run", only, "-parallel", atOnce,
	}, args...)
	tests := exec.CommandContext(t.Context(), "go", args...)
	tests.Dir = "../../.."
	out, err := tests.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
