package main

import (
	"flag"
	"os/exec"
	"testing"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
)

// every has the scripts run in every mode, which takes minutes.
var every = flag.Bool("every", false, "run the scripts in every mode")

// TestScripts runs the scripts of cqld's own tests against a server whose data is in a cluster of several regions.
func TestScripts(t *testing.T) {
	c := tikvtest.New(t, 3)
	to := start(t, c, nil).addr // the scripts have not been run to their end on a node
	args := []string{"test", "-count=1", "-timeout=9m", "./compat_tests", "-run", "^TestScripts$", "-parallel=4", "-args", "-addr", to}
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
