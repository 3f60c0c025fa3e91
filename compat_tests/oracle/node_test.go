package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSettings wants further lines of cassandra.yaml to be written as they are given.
func TestSettings(t *testing.T) {
	n := &node{folder: t.TempDir(), port: 19999, settings: "tables_warn_threshold=3; table_properties_warned=[comment, cdc]"}
	if err := n.configure(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(n.home(), "cassandra.yaml"))
	if err != nil || !strings.HasSuffix(string(content), "\ntables_warn_threshold: 3\ntable_properties_warned: [comment, cdc]\n") {
		t.Errorf("%v, the end is not the settings in\n%s", err, content)
	}
	n.settings = "tables_warn_threshold"
	if err := n.configure(); err == nil {
		t.Error("a setting without a value is written")
	}
}

// TestConfiguration wants every brace of the configuration filled in, and the two authenticators told apart.
func TestConfiguration(t *testing.T) {
	for _, auth := range []bool{false, true} {
		n := &node{folder: t.TempDir(), address: "127.0.0.1", port: 19999, auth: auth}
		if err := n.configure(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(n.home(), "cassandra.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if at := strings.IndexByte(line, '{'); !strings.HasPrefix(line, "#") && at >= 0 && !strings.Contains(line, "{seeds:") {
				t.Errorf("left as it was: %s", line)
			}
		}
		for _, want := range []string{
			"native_transport_port: 19999\n", `seeds: "127.0.0.1:20000"`, "commitlog_directory: " + n.home() + "/commitlog\n",
		} {
			if !strings.Contains(string(content), want) {
				t.Errorf("no %q in\n%s", want, content)
			}
		}
		if got := strings.Contains(string(content), "authenticator: PasswordAuthenticator\n"); got != auth {
			t.Errorf("auth %v: PasswordAuthenticator %v", auth, got)
		}
	}
}

// TestRelease wants the pom to name a release of Cassandra 5.0.
func TestRelease(t *testing.T) {
	if version, err := release(); err != nil || !strings.HasPrefix(version, "5.0.") {
		t.Errorf("release %q, %v", version, err)
	}
}

// TestProcess tells a node's process from another one that has its number.
func TestProcess(t *testing.T) {
	n := &node{folder: t.TempDir(), port: 19999}
	if err := os.MkdirAll(n.home(), 0o755); err != nil {
		t.Fatal(err)
	}
	if n.running() || n.stop() == nil {
		t.Error("a node runs that was never started")
	}
	for _, c := range []struct {
		argument string
		running  bool
	}{{n.home(), true}, {"another", false}} {
		cmd := exec.Command("sh", "-c", "echo; read line", c.argument)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // until then its command line may be empty
			t.Fatal(err)
		}
		if err := os.WriteFile(n.pidFile(), fmt.Append(nil, cmd.Process.Pid), 0o644); err != nil {
			t.Fatal(err)
		}
		if n.running() != c.running {
			t.Errorf("a process with argument %s: running is %v", c.argument, !c.running)
		}
		in.Close()
		_ = cmd.Wait() // read found the end of its input
		if n.running() {
			t.Error("a node runs that has ended")
		}
	}
}

// TestRunTakesTheNodeThatIsThere runs a command beside a node that is named already.
func TestRunTakesTheNodeThatIsThere(t *testing.T) {
	t.Setenv(addrVariable, "127.0.0.1:1")
	n := &node{folder: t.TempDir(), address: "127.0.0.1", port: 19999}
	if err := run(context.Background(), n, []string{"sh", "-c", `test "$CASSANDRA_ADDR" = 127.0.0.1:1`}); err != nil {
		t.Error(err)
	}
	if err := run(context.Background(), n, []string{"false"}); err == nil {
		t.Error("a command that fails is no failure")
	}
}
