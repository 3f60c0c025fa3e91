package main

import (
	"flag"
	"os/exec"
	"testing"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/cluster"
)

var (
	all   = flag.Bool("all", false, "run the scripts in all modes, also on a server that is no node; it takes minutes")
	every = flag.Bool("every", false, "with -all: bind values in every version and with pages of every size")
)

// fewModes are the modes that scripts are run in without -all: as different as they can be.
const fewModes = "^(v5_plain_page5000|v4_prepared_page1)$"

// TestScripts runs the scripts of cqld's own tests against a node whose data is in a cluster of several regions.
func TestScripts(t *testing.T) {
	runScripts(t, new(cluster.Options))
}

// TestScriptsAlone is TestScripts for a server that is no node.
func TestScriptsAlone(t *testing.T) {
	if !*all {
		t.Skip("without -all the scripts are run on a node only")
	}
	runScripts(t, nil)
}

func runScripts(t *testing.T, node *cluster.Options) {
	t.Helper()
	to := start(t, tikvtest.New(t, 3), node).addr
	only := "^TestScripts$/././" + fewModes
	if *all {
		only = "^TestScripts$"
	}
	args := []string{"test", "-count=1", "-timeout=20m", "./compat_tests", "-run", only, "-parallel=4", "-args", "-addr", to}
	if *every {
		args = append(args, "-every")
	}
	tests := exec.CommandContext(t.Context(), "go", args...)
	tests.Dir = "../../.."
	out, err := tests.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
