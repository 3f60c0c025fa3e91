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
	for name, value := range env {
		c.environ = append(c.environ, name+"="+value)
	}
	code = run(t.Context(), c, args)
	return code, out.String(), errs.String()
}

// TestWrongUsage wants one line that says what to do, and exit code 2.
func TestWrongUsage(t *testing.T) {
	config := filepath.Join(t.TempDir(), "cqld.yaml")
	if err := os.WriteFile(config, []byte("# guardrails\ntables_warn_treshold: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, want string }{
		{"nope", `there is no command "nope"; cqld help lists all commands`},
		{"exce", `there is no command "exce": did you mean exec?`},
		{"help exce", `there is no command "exce": did you mean exec?`},
		{"serve --nope", "there is no flag --nope; --help lists the flags"},
		{"--lissten 9042", "there is no flag --lissten: did you mean --listen?"},
		{"-memory", "there is no flag -memory: did you mean --memory?"},
		{"ping -x", "there is no flag -x; --help lists the flags"},
		{"exec --e x", "there is no flag --e: did you mean -e?"},
		{"serve --listen", "--listen needs a value: --listen ADDRESS"},
		{"serve extra", `serve takes no argument "extra"`},
		{"--listen 127.0.0.1:99999", `--listen "127.0.0.1:99999": want HOST:PORT, a host, or a port from 0 to 65535`},
		{"--log-level loud", `--log-level "loud": want debug, info, warn or error`},
		{"--log-level inof", `--log-level "inof": did you mean info? It takes debug, info, warn or error`},
		{"--log-format xml", `--log-format "xml": want auto, console or json`},
		{"--auth pasword", `--auth "pasword": did you mean password? It takes none, password, mtls or mtls-or-password`},
		{"--commitlog-sync weekly", `--commitlog-sync "weekly": want periodic or batch`},
		{"--purge-every 0s", `--purge-every "0s": want a duration, such as 10s`},
		{"--purge-every often", `--purge-every "often": want a duration, such as 5s or 1m30s`},
		{"--read-timeout 5", `--read-timeout "5": a duration needs a unit, such as 5s for seconds`},
		{"--read-timeout 0s", `--read-timeout "0s": want a duration, such as 5s`},
		{"--range-timeout -1s", `--range-timeout "-1s": want a duration, such as 5s`},
		{"--write-timeout soon", `--write-timeout "soon": want a duration, such as 5s or 1m30s`},
		{"--counter-timeout 0s", `--counter-timeout "0s": want`},
		{"--cas-timeout -1ms", `--cas-timeout "-1ms": want`},
		{"--truncate-timeout late", `--truncate-timeout "late": want`},
		{"--max-requests many", `--max-requests "many": want a whole number`},
		{"--memory=maybe", `--memory "maybe": want true or false`},
		{"--memory --data d", `--data "d": cannot be used with --memory, which keeps no data on disk`},
		{"--memory --repair", `--repair "true": cannot be used with --memory`},
		{"--client-memory much", `--client-memory "much": want a number of bytes of at least 16MiB`},
		{"--client-memory 1MiB", `--client-memory "1MiB": want a number of bytes of at least 16MiB`},
		{"--memtable 1KiB", `--memtable "1KiB": want a number of bytes from 64KiB to 4GiB`},
		{"--memtable large", `--memtable "large": want`},
		{"--advertise nowhere", `--advertise "nowhere": want an IP address`},
		{"--ring 0", `--ring "datacenter1=0": want`},
		{"--ring dc1=3,dc2=none", `--ring "dc1=3,dc2=none": want`},
		{"--ring dc1=3 --strict-replicas", `--ring "dc1=3": cannot be used with --strict-replicas`},
		{"--ring dc1=3 --advertise 10.0.0.1", `--ring "dc1=3": cannot be used with --advertise`},
		{"--ring dc1=3 --datacenter dc1", `--ring "dc1=3": cannot be used with --datacenter`},
		{"--set tables_warn_treshold=5", "--set: tables_warn_treshold is not a setting: did you mean tables_warn_threshold?"},
		{"--set tables_warn_threshold=x", "--set: tables_warn_threshold: "},
		{"--config " + config, config + ":2: tables_warn_treshold is not a setting: did you mean tables_warn_threshold?"},
		{"--config " + config + ".missing", "--config: cannot read " + config + ".missing: no such file or directory"},
		{"--http 127.0.0.1:0 --http-host http://db.test", `--http-host "http://db.test": want names of hosts`},
		{"--http-host db.test", `--http-host "db.test": it needs --http`},
		{"--http-pprof", `--http-pprof "true": it needs --http`},
		{"--console-write", `--console-write "true": it needs --http`},
		{"exec -e x -f y", "exec takes either -f FILE or -e STATEMENTS"},
		{"shell -e x -f y", "shell takes either -f FILE or -e STATEMENTS"},
		{"shell --encoding latin1", `--encoding "latin1": only utf-8 is known`},
		{"exec one two -e x", `exec takes [ADDR], so "two" is one argument too many`},
		{"snapshot one", "snapshot needs ADDR FILE; see the command help snapshot"},
		{"version extra", `version takes no argument "extra"`},
		{"export one two --parts 0", `--parts "0": want a number from 1 to 9999`},
		{"diagram a.cql --logical --physical", "diagram takes either --logical or --physical"},
		{"diagram a.cql --traffic", "--traffic needs a server instead of a file"},
		{"diagram --out a.png", `--out "a.png": want a name that ends in .svg, .txt or .md, or -`},
		{"completion tcsh", `completion "tcsh": want bash, zsh or fish`},
	} {
		code, stdout, stderr := cqld(t, nil, strings.Fields(test.args)...)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "cqld: "+test.want) || stdout != "" {
			t.Errorf("%s: exit %d, %s%s, want %s", test.args, code, stderr, stdout, test.want)
		}
	}
}

// TestEnvironment refuses names that no flag has, and takes those of flags of other commands and of Kubernetes.
func TestEnvironment(t *testing.T) {
	for _, test := range []struct{ variable, want string }{
		{"CQLD_LISTN=9042", "the environment has CQLD_LISTN, but no flag has this name: did you mean CQLD_LISTEN?"},
		{"CQLD_COLOUR=red", "the environment has CQLD_COLOUR, but no flag has this name"},
		{"CQLD_PORT=9042", "the environment has CQLD_PORT, but no flag has this name: did you mean CQLD_PORT_FILE?"},
		{"CQLD_TIMEOUT=5", `CQLD_TIMEOUT="5": a duration needs a unit, such as 5s for seconds`},
		{"CQLD_LISTN=", ""},
		{"CQLD_DATA=/data", ""},
		{"CQLD_PORT=tcp://10.0.0.1:9042", ""},
		{"CQLD_SHOP_SERVICE_PORT_CQL=9042", ""},
		{"CQLD_PORT_9042_TCP_ADDR=10.0.0.1", ""},
	} {
		name, value, _ := strings.Cut(test.variable, "=")
		code, _, stderr := cqld(t, map[string]string{name: value}, "ping", "127.0.0.1:1")
		if test.want == "" && (code != exitFailed || stderr != "cqld: connect to 127.0.0.1:1: connection refused\n") ||
			test.want != "" && (code != exitUsage || stderr != "cqld: "+test.want+"\n") {
			t.Errorf("%s: exit %d, %s", test.variable, code, stderr)
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
		"another process uses this port":                                                     {"--memory", "--listen", l.Addr().String()},
		"cannot read " + filepath.Join(file, "data") + ": not a directory":                   {"--listen", "127.0.0.1:0", "--data", filepath.Join(file, "data")},
		"the folder " + filepath.Dir(file) + " has files of another program, such as file: ": {"--listen", "127.0.0.1:0", "--data", filepath.Dir(file)},
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
	if code != exitFailed || out != want || !strings.Contains(errs, script+`:7:InvalidRequest: Error from server: code=2200 [Invalid query] message="Undefined column name nope in table k.t"`) {
		t.Errorf("exit %d\n%s\nwant\n%s\n%s", code, out, want, errs)
	}
}

// Statements of -e that end inside a text, a comment or a batch are an error, because a script that runs exec in a
// shell loses a quote easily. None of them is run, and a comment at the end is nothing incomplete.
func TestExecIncomplete(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	const keyspace = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"
	for _, incomplete := range []string{
		"SELECT 'a", "SELECT key FROM system.local /* a", keyspace + " SELECT 'a;", `SELECT "a FROM system.local`,
		keyspace + "BEGIN BATCH INSERT INTO k.t (a) VALUES (1);", "CREATE FUNCTION f () AS $$ return 1;",
	} {
		for _, command := range [][]string{{"exec", addr}, {"shell", addr}} {
			code, out, errs := cqld(t, nil, append(command, "-e", incomplete)...)
			if code == 0 || out != "" || !strings.Contains(errs, "Incomplete statement: nothing was run") {
				t.Errorf("%s -e %q: exit %d, %s%s", command[0], incomplete, code, out, errs)
			}
		}
	}
	code, out, errs := cqld(t, nil, "exec", addr, "-e", "SELECT key FROM system.local -- no more")
	if code != 0 || !strings.Contains(out, "local") {
		t.Errorf("a comment: exit %d, %s%s", code, out, errs)
	}
	if code, _, errs = cqld(t, nil, "exec", addr, "-e", keyspace); code != 0 {
		t.Errorf("a statement before an incomplete one was run: %s", errs)
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
