package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cqld/cqld/cqltest"
)

// startProxy runs a proxy until the test ends or stop is called, which returns the exit code.
func startProxy(t *testing.T, args ...string) (addr string, log *servedLog, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log = new(servedLog)
	ended := make(chan int, 1)
	c := &console{stdin: strings.NewReader(""), stdout: log, stderr: log, getenv: func(string) string { return "" }}
	go func() { ended <- run(ctx, c, append([]string{"proxy", "--at", "127.0.0.1:0"}, args...)) }()
	stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { stop() })
	return log.await(t, `the traffic from (\S+) to`, ended), log, stop
}

// TestProxyAndReplay records a session into a file that nobody else can read, plays it against another server, and
// fails where answers differ.
func TestProxyAndReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "recording.txt")
	addr, log, stop := startProxy(t, "--to", cqltest.RunT(t).Addr(), "--out", file)
	if code, _, errs := cqld(t, nil, "exec", addr, "-e", shopKeyspace+"SELECT * FROM system_schema.tables; SELECT nope"); code != exitFailed {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code := stop(); code != 0 {
		t.Errorf("proxy: exit %d, %s", code, log)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, error %v", info, err)
	}
	other := cqltest.RunT(t).Addr()
	code, out, errs := cqld(t, nil, "replay", file, "--against", other)
	if want := "2 compared, 0 different; not compared: 1 of system tables"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("exit %d, %s%s, want %s", code, out, errs, want)
	}
	code, out, errs = cqld(t, nil, "replay", file, "--against", other) // where the keyspace is by now
	if code != exitFailed || !strings.Contains(out, "Cannot add existing keyspace") || !strings.Contains(errs, "1 of 2 responses differ") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	for _, args := range [][]string{{"proxy"}, {"proxy", "--to", "a", "b"}, {"replay"}} {
		if code, _, errs := cqld(t, nil, args...); code != exitUsage || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
}

// TestProxyThroughTLS records what a client with a certificate says to a server that wants one of the proxy, plays the
// recording against that server, and refuses clients and servers that cannot be trusted.
func TestProxyThroughTLS(t *testing.T) {
	outer, inner := t.TempDir(), t.TempDir() // certificates for clients of the proxy, and for those of the server
	pairFiles(t, newAuthority(t, "outer"), outer)
	pairFiles(t, newAuthority(t, "inner"), inner)
	in := filepath.Join
	server, _ := serving(t, "--tls-cert", in(inner, "server.crt"), "--tls-key", in(inner, "server.key"), "--tls-client-ca", in(inner, "ca.crt"))
	toServer := []string{"--tls-ca", in(inner, "ca.crt"), "--tls-cert", in(inner, "client.crt"), "--tls-key", in(inner, "client.key")}
	forClients := []string{
		"--at-tls-cert", in(outer, "server.crt"), "--at-tls-key", in(outer, "server.key"), "--at-tls-client-ca", in(outer, "ca.crt"),
	}
	client := []string{"--tls-ca", in(outer, "ca.crt"), "--tls-cert", in(outer, "client.crt"), "--tls-key", in(outer, "client.key")}
	const statement = "SELECT cluster_name FROM system.local; SELECT count(*) FROM system_auth.roles"

	file := in(t.TempDir(), "recording.txt")
	addr, log, stop := startProxy(t, slices.Concat([]string{"--to", server, "--out", file}, toServer, forClients)...)
	for _, test := range []struct {
		args []string
		want string // a part of the output or of the error
	}{
		{client, "Test Cluster"},
		{client[:2], "certificate required"},
		{nil, "EOF"},
	} {
		code, out, errs := cqld(t, nil, append([]string{"exec", addr, "-e", statement}, test.args...)...)
		if !strings.Contains(out+errs, test.want) || (code == 0) != (test.want == "Test Cluster") {
			t.Errorf("exec %q: exit %d, %s%s", test.args, code, out, errs)
		}
	}
	if code := stop(); code != 0 || strings.Count(log.String(), "TLS handshake of the client 127.0.0.1:") != 2 {
		t.Errorf("proxy: exit %d, %s", code, log)
	}
	for _, args := range [][]string{toServer, nil} {
		code, out, errs := cqld(t, nil, append([]string{"replay", file, "--against", server, "--timeout", "10s"}, args...)...)
		if ok := len(args) > 0; (code == 0) != ok || strings.Contains(out, ", 0 different; not compared: 2 of system") != ok {
			t.Errorf("replay %q: exit %d, %s%s", args, code, out, errs)
		}
	}

	addr, log, _ = startProxy(t, "--to", server, "--out", in(t.TempDir(), "nothing.txt"), "--tls-ca", in(outer, "ca.crt"))
	if code, _, _ := cqld(t, nil, "exec", addr, "-e", statement); code != exitFailed {
		t.Error("the proxy trusts a server with a certificate of another authority")
	}
	log.await(t, "connect to "+server+": .*unknown authority", nil)

	for want, args := range map[string][]string{
		"--at-tls-cert and --at-tls-key need each other": {"--at-tls-client-ca", in(outer, "ca.crt")},
		"--tls-cert and --tls-key need each other":       {"--tls-cert", in(inner, "client.crt")},
		"no such file": {"--at-tls-cert", in(outer, "server.crt"), "--at-tls-key", in(outer, "none")},
	} {
		code, _, errs := cqld(t, nil, append([]string{"proxy", "--to", server, "--at", "127.0.0.1:0"}, args...)...)
		if code == 0 || !strings.Contains(errs, want) {
			t.Errorf("proxy %q: exit %d, %s", args, code, errs)
		}
	}
}
