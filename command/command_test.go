package command

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/store/engine/disk"
)

// cqld runs a command and returns its exit code and what it printed.
func cqld(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &console{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs,
		getenv: func(k string) string { return env[k] },
	}
	code = run(t.Context(), c, args)
	return code, out.String(), errs.String()
}

func TestWrongUsageIsOneLine(t *testing.T) {
	for _, args := range [][]string{
		{"nope"},
		{"serve", "--nope"},
		{"serve", "extra"},
		{"--log-level", "loud"},
		{"--log-format", "xml"},
		{"--commitlog-sync", "weekly"},
		{"--purge-every", "0s"},
		{"--read-timeout", "0s"},
		{"--range-timeout", "-1s"},
		{"--write-timeout", "soon"},
		{"--counter-timeout", "0s"},
		{"--cas-timeout", "-1ms"},
		{"--truncate-timeout", "late"},
		{"--client-memory", "much"},
		{"--client-memory", "1MiB"},
		{"--memtable", "1KiB"},
		{"--memtable", "large"},
		{"--purge-every", "often"},
		{"--advertise", "not an address"},
		{"--ring", "3"},
		{"--ring", "dc1=3,dc2=none"},
		{"--ring", "dc1=3", "--strict-replicas"},
		{"--ring", "dc1=3", "--advertise", "10.0.0.1"},
		{"--ring", "dc1=3", "--datacenter", "dc1"},
		{"exec"},
		{"exec", "-e", "x", "-f", "y"},
		{"exec", "one", "two", "-e", "x"},
		{"version", "extra"},
	} {
		code, stdout, stderr := cqld(t, nil, args...)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "cqld: ") || stdout != "" {
			t.Errorf("%q: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// TestServeRing starts a ring, whose nodes answer at addresses of their own and know each other.
func TestServeRing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log := new(lockedBuffer)
	c := &console{stdin: strings.NewReader(""), stdout: log, stderr: log, getenv: func(string) string { return "" }}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, c, []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--ring", "dc1=2,dc2:r1=1", "--log-format", "json"})
	}()
	addresses := regexp.MustCompile(`CQL clients on /(\S+) `)
	var found [][]string
	for end := time.Now().Add(time.Minute); !strings.Contains(log.String(), "Startup complete"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the ring does not start:\n%s", log)
		}
	}
	if found = addresses.FindAllStringSubmatch(log.String(), -1); len(found) != 3 {
		t.Fatalf("%d nodes listen:\n%s", len(found), log)
	}
	for i, want := range []string{"dc1", "dc1", "dc2"} {
		conn, err := client.Dial(ctx, found[i][1], client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		local, err := conn.Query(ctx, "SELECT data_center FROM system.local", nil, nil)
		if err != nil || string(local.Rows[0][0]) != want {
			t.Errorf("node %d is in %s, error %v", i+1, local.Rows, err)
		}
		if peers, err := conn.Query(ctx, "SELECT host_id FROM system.peers_v2", nil, nil); err != nil || len(peers.Rows) != 2 {
			t.Errorf("node %d has %d peers, error %v", i+1, len(peers.Rows), err)
		}
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d:\n%s", code, log)
	}
}

// lockedBuffer is a buffer that may be read while it is written to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestServeRefusals(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"another process has this port": {"--memory", "--listen", l.Addr().String()},
		"make the data folder":          {"--listen", "127.0.0.1:0", "--data", filepath.Join(file, "data")},
	} {
		code, _, stderr := cqld(t, nil, args...)
		if code != exitFailed || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}

// TestServeRefusesFolder starts a server on a folder that another has open, and on one that is damaged.
func TestServeRefusesFolder(t *testing.T) {
	dir := t.TempDir()
	e, err := disk.Open(disk.Options{Dir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want string) {
		t.Helper()
		code, _, stderr := cqld(t, nil, "serve", "--listen", "127.0.0.1:0", "--data", dir)
		if code != exitFailed || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, %q", want, code, stderr)
		}
	}
	expect("cqld: the folder " + dir + " is in use by another process")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "MANIFEST")
	if err := os.Truncate(list, 4); err != nil {
		t.Fatal(err)
	}
	expect("cqld: the data is damaged: " + list + ": it is not a list of tables: manifest has bad magic; --repair opens")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var log bytes.Buffer
	c := &console{stdin: strings.NewReader(""), stdout: &log, stderr: &log, getenv: func(string) string { return "" }}
	if code := run(ctx, c, []string{"serve", "--listen", "127.0.0.1:0", "--data", dir, "--repair"}); code != 0 || !strings.Contains(log.String(), list) {
		t.Errorf("with --repair: exit %d, %s", code, log.String())
	}
	if info, err := os.Stat(filepath.Join(dir, "set-aside", "MANIFEST")); err != nil || info.Size() != 4 {
		t.Errorf("what is set aside: %v, error %v", info, err)
	}
}

// TestServeStops starts a server and ends it as a signal would.
func TestServeStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var log bytes.Buffer
	c := &console{
		stdin: strings.NewReader(""), stdout: &log, stderr: &log,
		getenv: func(string) string { return "" },
	}
	cancel()
	if code := run(ctx, c, []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}); code != 0 {
		t.Errorf("exit %d: %s", code, log.String())
	}
	for _, want := range []string{"Starting listening for CQL clients on /127.0.0.1:", "Startup complete", "stopped"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
}

func TestPingAndExec(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	if code, out, errs := cqld(t, map[string]string{"CQLD_LISTEN": addr}, "ping"); code != 0 {
		t.Errorf("ping: exit %d, %s%s", code, out, errs)
	}
	script := filepath.Join(t.TempDir(), "script.cql")
	err := os.WriteFile(script, []byte(`
CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
USE k;
CREATE TABLE t (a int PRIMARY KEY, name text); -- a table
INSERT INTO t (a, name) VALUES (1, 'Bären; 北京');
SELECT nope FROM t;
SELECT * FROM t;`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	code, out, errs := cqld(t, nil, "exec", addr, "-f", script)
	want := "\n a | name\n---+-------------\n 1 | Bären; 北京\n\n(1 rows)\n"
	if code != exitFailed || out != want || !strings.Contains(errs, script+":6: Undefined column name nope in table k.t") {
		t.Errorf("exit %d\n%s\nwant\n%s\n%s", code, out, want, errs)
	}
}

// Where clients log in exec does too, and ping needs not.
func TestPingAndExecWithLogins(t *testing.T) {
	addr := cqltest.RunT(t, cqltest.WithAuth()).Addr()
	if code, out, errs := cqld(t, nil, "ping", addr); code != 0 || !strings.Contains(out, "asks for a password") {
		t.Errorf("ping: exit %d, %s%s", code, out, errs)
	}
	const list = "LIST USERS"
	for _, test := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{nil, nil, "the server asks for a user and a password"},
		{nil, []string{"--username", "cassandra", "--password", "guess"}, "are incorrect"},
		{nil, []string{"--username", "cassandra", "--password", "cassandra"}, "cassandra |  True"},
		{map[string]string{"CQLD_USERNAME": "cassandra", "CQLD_PASSWORD": "cassandra"}, nil, "cassandra |  True"},
	} {
		_, out, errs := cqld(t, test.env, append([]string{"exec", addr, "-e", list}, test.args...)...)
		if !strings.Contains(out+errs, test.want) {
			t.Errorf("%v %v: %s%s", test.env, test.args, out, errs)
		}
	}
}

// TestHelp lists the commands before the flags, and flags with the dashes that people type.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}} {
		code, out, errs := cqld(t, map[string]string{"CQLD_PURGE_EVERY": "no time"}, args...)
		commands, flags := strings.Index(out, "  cqld exec "), strings.Index(out, "\n  --commitlog-sync mode\n")
		if code != 0 || errs != "" || commands < 0 || flags < commands || strings.Contains(out, "\n  -d") {
			t.Errorf("%q: exit %d, %s\n%s", args, code, errs, out)
		}
	}
	code, out, errs := cqld(t, nil, "exec", "--help")
	for _, want := range []string{"--password from CQLD_PASSWORD", "\n  -f file\n", "\n  --timeout time\n"} {
		if code != 0 || errs != "" || !strings.Contains(out, want) {
			t.Errorf("exec --help: exit %d, %s, not %q in\n%s", code, errs, want, out)
		}
	}
}
