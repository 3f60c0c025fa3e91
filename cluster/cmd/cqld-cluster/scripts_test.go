package main

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/local"
	"github.com/cqld/cqld/cluster/tikv/tikvtest"
)

// full has the tests do all that they can. CI sets it.
var full = os.Getenv("TEST_CQLD_FULL") != ""

var (
	all   = flag.Bool("all", false, "run the scripts in all modes, also on a server that is no node; it takes long")
	every = flag.Bool("every", false, "with -all: bind values in every version and with pages of every size")
)

// The modes that scripts are run in without -all: as different as they can be. A quick run on one node takes the
// second, in which there are more requests; on several nodes it is the first.
const (
	fewModes  = "^(v5_plain_page5000|v5_prepared_page1)$"
	oneMode   = "^v5_plain_page5000$"
	otherMode = "^v5_prepared_page1$"
)

// onNodes are the scripts of a quick run on several nodes: a few of each kind of definition and write. Most of the time
// of scripts are definitions, which wait for all nodes.
const onNodes = "^operations$/^(alter_table_(add|drop|views)|alter_type|batch|conditions_(batch|insert|static|update)|" +
	"create_(function|index|type|view)|delete|delete_ranges|drop_index|insert|insert_ttl|keyspaces|select_by_key|" +
	"select_indexed_tokens|select_slices|truncate|update)$"

// showNodes are the scripts whose answers tell how many nodes there are: tables of peers, a row for each node that has
// built a view, and warnings of more replicas than nodes.
const showNodes = "^(virtual_tables|system_tables|metrics_tables|334_gossip|built_views|alter_keyspace|batch_sizes|" +
	"106_alter_system_keyspace)$"

// enabled are flags of servers for scripts, because these were recorded from a Cassandra with users' functions.
var enabled = []string{"--set", "user_defined_functions_enabled=true"}

// TestScripts runs the scripts of cqld's own tests against a node whose data is in a cluster of several regions.
func TestScripts(t *testing.T) {
	modes := otherMode
	if full {
		modes = fewModes
	}
	runScripts(t, serve(t, tikvtest.New(t, 3), enabled...).addr, "./.", modes)
}

// TestScriptsOnNodes runs them against three nodes. Each connection is to another node than the one before.
func TestScriptsOnNodes(t *testing.T) {
	c := tikvtest.New(t, 3)
	c.Clock.Step = 50 * time.Millisecond // as PD moves its clock
	var addresses []string
	for range 3 {
		addresses = append(addresses, serve(t, c, enabled...).addr)
	}
	gate, err := local.OpenGate(addresses...)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	scripts := onNodes
	if full {
		scripts = "./."
	}
	runScripts(t, gate.Addr(), scripts, oneMode, "-skip", "^TestScripts$/./"+showNodes)
}

// TestScriptsAlone is TestScripts for a server that is no node.
func TestScriptsAlone(t *testing.T) {
	if !*all {
		t.Skip("without -all the scripts are run on nodes only")
	}
	runScripts(t, start(t, tikvtest.New(t, 3), nil, enabled...).addr, "./.", fewModes)
}

// atOnce is how many scripts are run at the same time. Much of their time are definitions, which wait for all nodes.
const atOnce = "12"

// runScripts runs scripts in some modes, with -all all scripts in all modes.
func runScripts(t *testing.T, to, scripts, modes string, args ...string) {
	t.Helper()
	only := "^TestScripts$/" + scripts + "/" + modes
	if *all {
		only = "^TestScripts$"
	}
	args = append(args, "-args", "-addr", to)
	if *every {
		args = append(args, "-every")
	}
	args = append([]string{
		"test", "-v", "-count=1", "-timeout=60m", "./compat_tests", "-run", only, "-parallel", atOnce,
	}, args...)
	tests := exec.CommandContext(t.Context(), "go", args...)
	tests.Dir = "../../.."
	out, err := tests.CombinedOutput()
	var told []string
	passed := 0
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.Contains(line, "--- PASS: TestScripts/"):
			passed++
		case !strings.HasPrefix(line, "=== "):
			told = append(told, line)
		}
	}
	if err != nil || passed == 0 {
		t.Errorf("%d passed, %v\n%s", passed, err, strings.Join(told, ""))
	}
}
