package command

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/server"
)

// servedLog is what a server logs.
type servedLog struct{ lockedBuffer }

// await waits until the log matches, or the server has ended, and returns the first group of the match.
func (l *servedLog) await(t *testing.T, pattern string, ended <-chan int) string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		over := len(ended) > 0
		if m := wanted.FindStringSubmatch(l.String()); m != nil {
			return m[len(m)-1]
		}
		if over {
			break
		}
	}
	t.Fatalf("the log does not have %q:\n%s", pattern, l.String())
	return ""
}

// awaitFrom waits until the part of the log from an index on matches.
func (l *servedLog) awaitFrom(t *testing.T, from int, pattern string) {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if wanted.MatchString(l.String()[from:]) {
			return
		}
	}
	t.Fatalf("the terminal does not show %q after %q", pattern, l.String()[max(0, from-600):])
}

// startServe runs serve until the test ends or stop is called. stop returns the exit code.
func startServe(t *testing.T, env map[string]string, args ...string) (log *servedLog, ended chan int, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log, ended = new(servedLog), make(chan int, 1)
	c := &console{stdin: strings.NewReader(""), stdout: log, stderr: log, getenv: func(k string) string { return env[k] }}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, args...)
	go func() { ended <- run(ctx, c, args) }()
	stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { stop() })
	return log, ended, stop
}

const listening = `Starting listening for CQL clients on /(\S+) \(unencrypted\)`

// writeFiles makes a folder with files.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const shopKeyspace = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};\n"

// TestInit runs scripts before clients are served, once for a data folder, with and without logins.
func TestInit(t *testing.T) {
	scripts := writeFiles(t, map[string]string{
		"1.cql": shopKeyspace + "USE shop;", "2.cql": "CREATE TABLE t (k int PRIMARY KEY);\nINSERT INTO t (k) VALUES (7);", "x.sh": "",
	})
	data := filepath.Join(t.TempDir(), "data")
	for _, test := range []struct {
		name, said string
		args       []string
		env        map[string]string
	}{
		{"memory", `"scripts":2`, []string{"--memory"}, nil},
		{
			"logins", `"scripts":2`,
			[]string{"--memory", "--auth", "password"},
			map[string]string{"CQLD_USERNAME": "cassandra", "CQLD_PASSWORD": "cassandra"},
		},
		{"folder", `"scripts":2`, []string{"--data", data}, nil},
		{"folder again", "skipping the scripts of --init", []string{"--data", data}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			log, ended, stop := startServe(t, test.env, append(test.args, "--init", scripts)...)
			addr := log.await(t, listening, ended)
			code, out, errs := cqld(t, test.env, "exec", addr, "-e", "SELECT * FROM shop.t")
			if code != 0 || !strings.Contains(out, "\n 7\n") {
				t.Errorf("exit %d, %s%s", code, out, errs)
			}
			text := log.String()
			if at := strings.Index(text, test.said); at < 0 || at > strings.Index(text, "Startup complete") {
				t.Errorf("before the start is complete the log does not have %s:\n%s", test.said, text)
			}
			if code := stop(); code != 0 {
				t.Errorf("exit %d:\n%s", code, log)
			}
		})
	}
}

// TestInitStops ends the server at the first error, with its place, before it listens. A data folder that was left
// halfway is refused.
func TestInitStops(t *testing.T) {
	scripts := writeFiles(t, map[string]string{"1.cql": shopKeyspace, "2.cql": "USE shop;\n\nCREATE TABLE t (k int);", "3.cql": "nope"})
	data := filepath.Join(t.TempDir(), "data")
	log, _, stop := startServe(t, nil, "--data", data, "--init", scripts)
	want := filepath.ToSlash(scripts) + "/2.cql:3: "
	log.await(t, regexp.QuoteMeta(want), nil)
	if code := stop(); code != exitFailed || strings.Contains(log.String(), "Starting listening") {
		t.Errorf("exit %d:\n%s", code, log)
	}
	log, _, stop = startServe(t, nil, "--data", data, "--init", scripts)
	log.await(t, "stopped halfway when the data folder .* was created", nil)
	if code := stop(); code != exitFailed {
		t.Errorf("exit %d:\n%s", code, log)
	}
	code, _, errs := cqld(t, nil, "serve", "--memory", "--listen", "127.0.0.1:0", "--init", filepath.Join(scripts, "nope"))
	if code != exitFailed || !strings.Contains(errs, "cannot read "+filepath.Join(scripts, "nope")+": no such file") {
		t.Errorf("a folder that is not there: exit %d, %s", code, errs)
	}
}

// TestInitHealth wants a server to be unhealthy until its scripts have run.
func TestInitHealth(t *testing.T) {
	data := t.TempDir()
	st, onDisk, err := openStore(t.Context(), &settings{data: data, purgeEvery: time.Minute}, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := server.New(server.Options{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Shutdown(t.Context())
	web, err := listenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer web.close()
	web.serve(&settings{}, srv, st, onDisk, http.NotFoundHandler(), nil, zerolog.Nop())
	health := func() int {
		answer := httptest.NewRecorder()
		web.health(answer, nil)
		return answer.Code
	}
	first := &initialisation{scripts: []cqlfiles.File{{Name: "a.cql", Text: shopKeyspace}}, record: filepath.Join(data, initRecord), steps: new(progress)}
	var shown []string
	first.steps.print = func(line string) { shown = append(shown, line) }
	if code := health(); code != http.StatusServiceUnavailable {
		t.Errorf("health is %d before", code)
	}
	s := &settings{listen: "127.0.0.1:0"}
	l, err := openListeners(s, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	l.pause()
	if err := first.prepare(t.Context(), s, srv, onDisk, l); err != nil {
		t.Fatal(err)
	}
	if len(shown) != 1 || !strings.HasPrefix(shown[0], "--init: 99%, a.cql, 1 statements, ") {
		t.Errorf("its progress is %q", shown)
	}
	if code := health(); code != http.StatusServiceUnavailable || st.Catalog().Keyspace("shop") == nil {
		t.Errorf("health is %d before clients are served", code)
	}
	if web.serving(true); health() != http.StatusOK {
		t.Error("health is bad afterwards")
	}
}

// TestInitRing keeps the ports of a ring's nodes closed until the scripts have run, also those of nodes that a script
// starts and adds, and leaves a node stopped that a script stops.
func TestInitRing(t *testing.T) {
	s, err := readSettings(&console{getenv: func(string) string { return "" }},
		[]string{"--memory", "--ring", "dc1=2,dc2=2", "--listen", "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := openListeners(s, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	open := func(addr string) bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}
	l.pause()
	st, _, err := openStore(t.Context(), s, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := server.New(server.Options{Store: st, Ring: l.ring})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Shutdown(t.Context())
	ring := srv.Ring()
	added, err := ring.Add("dc2", "")
	if err := errors.Join(err, ring.Stop(2), ring.Start(2), ring.Stop(3)); err != nil {
		t.Fatal(err)
	}
	for _, n := range ring.Nodes() {
		if open(n.Address.String()) {
			t.Errorf("node %d can be reached before the scripts have run", n.Number)
		}
	}
	first := &initialisation{scripts: []cqlfiles.File{{Name: "a.cql", Text: shopKeyspace}}, steps: new(progress)}
	if err := first.prepare(t.Context(), s, srv, nil, l); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- l.serve(srv) }()
	for _, n := range ring.Nodes() {
		if got := open(n.Address.String()); got != (n.Number != 3) {
			t.Errorf("node %d can be reached: %v", n.Number, got)
		}
	}
	code, out, errs := cqld(t, nil, "exec", added.Address.String(), "-e", "SELECT keyspace_name FROM system_schema.tables; USE shop")
	if code != 0 {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// The wait strategies of the Testcontainers modules for Cassandra: the patterns they search the log for, and the
// commands they run in the container.
func TestWaitStrategies(t *testing.T) {
	for _, format := range []string{"json", "console"} {
		t.Run(format, func(t *testing.T) {
			log, ended, _ := startServe(t, nil, "--memory", "--log-format", format)
			addr := log.await(t, `CQL clients on /(\S+) `, ended)
			log.await(t, "Startup complete", ended)
			for user, pattern := range map[string]string{
				"Python's wait_for_logs":                           `(?m)Startup complete`,
				"Java's Wait.forLogMessage, of a line as a whole":  `(?s)^.*Starting listening for CQL clients on .*\n$`,
				"Java's Wait.forLogMessage, of the last line":      `(?s)^.*Startup complete.*\n$`,
				"Go's wait.ForLog":                                 `Starting listening for CQL clients on`,
				"Node's Wait.forLogMessage":                        `.*Startup complete.*`,
				"scripts that look for the port":                   `CQL clients on /127\.0\.0\.1:\d+ \(unencrypted\)\.\.\.`,
				"a line of JSON or of the console without colours": `(?m)^(\{.*\}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d INF .*)\n`,
			} {
				found := false
				for line := range strings.Lines(log.String()) {
					found = found || regexp.MustCompile(pattern).MatchString(line)
				}
				if !found {
					t.Errorf("%s does not find %s in\n%s", user, pattern, log)
				}
			}
			host, port, _ := strings.Cut(addr, ":")
			for want, args := range map[string][]string{
				"COMPLETED":  {"-e", "SELECT bootstrapped FROM system.local"},                                          // Go
				"5.0":        {"-u", "cassandra", "-p", "cassandra", "-e", "SELECT release_version FROM system.local"}, // Java
				"local\n":    {"--no-color", "--connect-timeout=20", "-f", writeFiles(t, map[string]string{"a.cql": "SELECT key FROM system.local"}) + "/a.cql"},
				"\n(1 rows)": {"-k", "system", host, port, "-e", "SELECT key FROM local"},
			} {
				code, out, errs := cqld(t, map[string]string{"CQLSH_HOST": host, "CQLSH_PORT": port}, append([]string{"cqlsh"}, args...)...)
				if code != 0 || !strings.Contains(out, want) {
					t.Errorf("cqlsh %q: exit %d, %s%s", args, code, out, errs)
				}
			}
		})
	}
}

// TestAllInterfaces wants the log to name all interfaces as they were given.
func TestAllInterfaces(t *testing.T) {
	for given, logged := range map[string]string{"0.0.0.0:0": "0.0.0.0:", "[::]:0": "[::]:"} {
		opened, err := openListeners(&settings{listen: given}, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		defer opened.alone.Close()
		if all := opened.logged(); len(all) != 1 || !strings.HasPrefix(all[0], logged) {
			t.Errorf("%s is logged as %q", given, all)
		}
	}
}

// TestCassandraEnv takes the names of Cassandra's image where they mean something, below flags and CQLD_ names, and
// tells of the others.
func TestCassandraEnv(t *testing.T) {
	for _, test := range []struct {
		name  string
		env   map[string]string
		args  []string
		check func(*settings) bool
		told  []string
	}{
		{"names", map[string]string{
			"CASSANDRA_CLUSTER_NAME": "shop", "CASSANDRA_ENDPOINT_SNITCH": "GossipingPropertyFileSnitch",
			"CASSANDRA_DC": "eu", "CASSANDRA_RACK": "r7",
		}, nil, func(s *settings) bool {
			return s.clusterName == "shop" && s.datacenter == "eu" && s.rack == "r7"
		}, nil},
		{"the snitch's own names", map[string]string{
			"CASSANDRA_ENDPOINT_SNITCH": "org.apache.cassandra.locator.GossipingPropertyFileSnitch",
		}, nil, func(s *settings) bool { return s.datacenter == "dc1" && s.rack == "rack1" }, nil},
		{
			"no snitch",
			map[string]string{"CASSANDRA_DC": "eu", "CASSANDRA_ENDPOINT_SNITCH": "SimpleSnitch"},
			nil,
			func(s *settings) bool { return s.datacenter == "datacenter1" },
			[]string{"CASSANDRA_DC "},
		},
		{"addresses", map[string]string{
			"CASSANDRA_RPC_ADDRESS": "0.0.0.0", "CASSANDRA_BROADCAST_ADDRESS": "10.0.0.1",
			"CASSANDRA_BROADCAST_RPC_ADDRESS": "10.0.0.2",
		}, nil, func(s *settings) bool { return s.listen == "0.0.0.0:9042" && s.advertise.String() == "10.0.0.2:9042" }, nil},
		{
			"auto",
			map[string]string{"CASSANDRA_BROADCAST_ADDRESS": "auto", "CASSANDRA_LISTEN_ADDRESS": "auto"},
			nil,
			func(s *settings) bool { return !s.advertise.IsValid() },
			[]string{"CASSANDRA_LISTEN_ADDRESS "},
		},
		{"flags win", map[string]string{
			"CASSANDRA_CLUSTER_NAME": "a", "CASSANDRA_RPC_ADDRESS": "0.0.0.0", "CQLD_LISTEN": "127.0.0.1:1",
		}, []string{"--cluster-name", "b"}, func(s *settings) bool {
			return s.clusterName == "b" && s.listen == "127.0.0.1:1"
		}, nil},
		{"without effect", map[string]string{
			"CASSANDRA_SEEDS": "a,b", "CASSANDRA_NUM_TOKENS": "256", "CASSANDRA_PASSWORD": "secret",
			"CASSANDRA_ENDPOINT_SNITCH": "Ec2Snitch",
		}, nil, func(*settings) bool { return true }, []string{
			"CASSANDRA_ENDPOINT_SNITCH ", "CASSANDRA_SEEDS ", "CASSANDRA_NUM_TOKENS ", "CASSANDRA_PASSWORD ",
		}},
	} {
		c := &console{getenv: func(k string) string { return test.env[k] }}
		s, err := readSettings(c, append([]string{"--memory"}, test.args...))
		if err != nil || !test.check(s) {
			t.Errorf("%s: %+v, error %v", test.name, s, err)
			continue
		}
		if len(s.warnings) != len(test.told) {
			t.Errorf("%s: told %q, want %q", test.name, s.warnings, test.told)
			continue
		}
		for i, begin := range test.told {
			if !strings.HasPrefix(s.warnings[i], begin) || strings.Contains(s.warnings[i], "secret") {
				t.Errorf("%s: told %q, want it to begin with %q", test.name, s.warnings[i], begin)
			}
		}
	}
}

// TestImage wants the Dockerfile to set nothing that cqld does not know.
func TestImage(t *testing.T) {
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"PATH": true}
	for _, from := range cassandraFlags {
		known[cassandraPrefix+from.name] = true
	}
	flags := new(settings).flags()
	set := regexp.MustCompile(`(?m)^(?:ENV|   ) ([A-Z_]+)=(\S+)`).FindAllStringSubmatch(string(text), -1)
	if len(set) < 3 {
		t.Fatalf("only %d names are set", len(set))
	}
	for _, m := range set {
		name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(m[1], envPrefix), "_", "-"))
		if !known[m[1]] && flags.Lookup(name) == nil {
			t.Errorf("the image sets %s, which is no flag", m[1])
		}
		if strings.HasPrefix(m[2], "/docker") && !strings.Contains(string(text), "/image"+m[2]) {
			t.Errorf("the image has no folder %s", m[2])
		}
	}
}
