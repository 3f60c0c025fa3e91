package main

import (
	"bufio"
	"context"
	"flag"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cluster/tikv"
	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/command"
	"github.com/cqld/cqld/store/engine"
)

// every has the scripts run in every mode, which takes minutes.
var every = flag.Bool("every", false, "run the scripts in every mode")

var listening = regexp.MustCompile(`listening for CQL clients on /([0-9.:]+)`)

// serve runs the program on a cluster in this process, and returns the address of its server.
func serve(t *testing.T, c *tikvtest.Cluster) string {
	t.Helper()
	open := func(f engine.Fold, log zerolog.Logger) (engine.Engine, error) {
		// Cassandra takes longer keys than TiKV does where its setting for that is the default.
		return tikv.Open(c.Connect(t), tikv.Options{Prefix: "scripts", MaxKey: 1 << 18, Log: log}, f)
	}
	log, end := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	p := command.Program{
		Args: []string{
			"serve", "--listen", "127.0.0.1:0", "--log-format", "json", // and no timeouts, on a machine that does other things
			"--read-timeout", "5m", "--range-timeout", "5m", "--write-timeout", "5m", "--counter-timeout", "5m",
			"--cas-timeout", "5m", "--truncate-timeout", "5m",
		},
		Stdin: strings.NewReader(""), Stdout: end, Stderr: end, Getenv: func(string) string { return "" },
		Engine: &command.Engine{Flags: func(*flag.FlagSet) {}, Open: open},
	}
	go func() {
		ended <- p.Run(ctx)
		_ = end.Close()
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("the server ends with %d", code)
		}
	})
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() {
					if strings.Contains(lines.Text(), `"level":"error"`) {
						t.Error(lines.Text())
					}
				}
			}()
			return m[1]
		}
	}
	t.Fatalf("the server did not start, exit code %d", <-ended)
	return ""
}

// TestScripts runs the scripts of cqld's own tests against a server whose data is in a cluster of several regions.
func TestScripts(t *testing.T) {
	c := tikvtest.New(t, 3)
	to := serve(t, c)
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
