package command

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/internal/certificates"
	"github.com/cqld/cqld/protocol/client"
)

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// serving starts a server in memory, which ends with the test, and returns its address and its log.
func serving(t *testing.T, args ...string) (string, *lockedBuffer) {
	t.Helper()
	log := &lockedBuffer{}
	c := &console{stdin: strings.NewReader(""), stdout: log, stderr: log, getenv: func(string) string { return "" }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	args = append([]string{"serve", "--memory", "--listen", "127.0.0.1:0", "--log-format", "json"}, args...)
	go func() { ended <- run(ctx, c, args) }()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("the server ended with %d\n%s", code, log)
		}
	})
	listening := regexp.MustCompile(`Starting listening for CQL clients on /([0-9.:]+) `)
	var addr string
	eventually(t, "the server listens", func() bool {
		if m := listening.FindStringSubmatch(log.String()); m != nil {
			addr = m[1]
		}
		return addr != ""
	})
	return addr, log
}

// pairFiles writes the certificate of a server and of a client, and the authority's, into a folder.
func pairFiles(t *testing.T, a *certificates.Authority, dir string) {
	t.Helper()
	server, err := a.Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	client, err := a.Client("client", "spiffe://test/app")
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string]certificates.Pair{"server": server, "client": client} {
		if err := pair.Write(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.crt"), a.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func newAuthority(t *testing.T, name string) *certificates.Authority {
	t.Helper()
	a, err := certificates.NewAuthority(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestClientsSpeakTLS runs ping and exec against a server that wants certificates of its clients.
func TestClientsSpeakTLS(t *testing.T) {
	dir := t.TempDir()
	pairFiles(t, newAuthority(t, "test"), dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	addr, log := serving(t, "--tls-cert", in("server.crt"), "--tls-key", in("server.key"), "--tls-client-ca", in("ca.crt"))
	if !strings.Contains(log.String(), "(encrypted)...") {
		t.Errorf("logged\n%s", log)
	}
	own := []string{"--tls-ca", in("ca.crt"), "--tls-cert", in("client.crt"), "--tls-key", in("client.key")}
	for _, test := range []struct {
		args []string
		want string // a part of the error; "": it succeeds
	}{
		{own, ""},
		{append([]string{"--tls", "--tls-name", "127.0.0.1"}, own...), ""},
		{append([]string{"--tls-name", "elsewhere"}, own...), "valid for"},
		{[]string{"--tls"}, "signed by unknown authority"},
		{[]string{"--tls-ca", in("ca.crt")}, "certificate required"},
		{nil, "EOF"},
		{[]string{"--tls-cert", in("client.crt")}, "need each other"},
		{[]string{"--tls-ca", in("none")}, "no such file"},
		{[]string{"--tls-ca", in("client.key")}, "has no certificate in PEM"},
		{[]string{"--tls=perhaps"}, "want true or false"},
	} {
		for _, command := range [][]string{{"ping", addr}, {"exec", addr, "-e", "SELECT key FROM system.local"}} {
			code, _, errs := cqld(t, nil, append(command, test.args...)...)
			if (code == 0) != (test.want == "") || !strings.Contains(errs, test.want) {
				t.Errorf("%v %v: exit %d, %s", command, test.args, code, errs)
			}
		}
	}
	env := map[string]string{
		"CQLD_LISTEN": addr, "CQLD_TLS": "required", "CQLD_TLS_CERT": in("client.crt"), "CQLD_TLS_KEY": in("client.key"),
		"CQLD_TLS_CA": in("ca.crt"),
	}
	if code, _, errs := cqld(t, env, "ping"); code != 0 {
		t.Errorf("ping with the environment: %s", errs)
	}
}

// TestCertificatesChange replaces the certificates of a server that runs: connections stay, new ones get the new
// certificate, and one that cannot be used changes nothing.
func TestCertificatesChange(t *testing.T) {
	dir := t.TempDir()
	first := newAuthority(t, "first")
	pairFiles(t, first, dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	addr, log := serving(t, "--tls-cert", in("server.crt"), "--tls-key", in("server.key"))
	dial := func(a *certificates.Authority) (*client.Conn, error) {
		return client.Dial(t.Context(), addr, client.Options{TLS: &tls.Config{RootCAs: a.Pool(), MinVersion: tls.VersionTLS12}})
	}
	open, err := dial(first)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()

	key, err := os.ReadFile(in("server.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("server.key"), []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	const unusable = "cannot use the changed certificates: the previous ones stay in use"
	use := func(a *certificates.Authority) bool {
		c, err := dial(a)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}
	eventually(t, "the server has seen the bad key", func() bool {
		if !use(first) {
			t.Fatal("a bad key ends new connections")
		}
		return strings.Contains(log.String(), unusable)
	})
	if err := os.WriteFile(in("server.key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	second := newAuthority(t, "second")
	pairFiles(t, second, dir)
	eventually(t, "the server shows the second certificate", func() bool { return use(second) })
	if _, err := open.Supported(t.Context()); err != nil {
		t.Errorf("a connection from before: %v", err)
	}
	if n := strings.Count(log.String(), unusable); n > 3 { // writing two files takes two looks at worst
		t.Errorf("logged %d times\n%s", n, log)
	}
	if !strings.Contains(log.String(), in("server.crt")) {
		t.Errorf("no file is named\n%s", log)
	}
}

// TestServeRefusesCertificates starts servers with files that cannot be used and flags that do not go together.
func TestServeRefusesCertificates(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	pairFiles(t, newAuthority(t, "test"), dir)
	pairFiles(t, newAuthority(t, "other"), other)
	in := func(name string) string { return filepath.Join(dir, name) }
	pair := []string{"--tls-cert", in("server.crt"), "--tls-key", in("server.key")}
	with := func(args ...string) []string { return append(append([]string{}, pair...), args...) }
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{pair[:2], exitUsage, "--tls-cert and --tls-key need each other"},
		{[]string{"--tls-client-ca", in("ca.crt")}, exitUsage, "it needs --tls-cert and --tls-key"},
		{[]string{"--auth", "mtls"}, exitUsage, "it needs --tls-cert, --tls-key and --tls-client-ca"},
		{with("--auth", "mtls-or-password"), exitUsage, "it needs --tls-cert, --tls-key and --tls-client-ca"},
		{with("--auth", "mtls", "--tls-client-ca", in("ca.crt"), "--tls", "optional"), exitUsage, "it needs --tls required"},
		{with("--tls", "sometimes"), exitUsage, "want required or optional"},
		{[]string{"--auth", "kerberos"}, exitUsage, "want none, password, mtls or mtls-or-password"},
		{[]string{"--tls-cert", in("none"), "--tls-key", in("server.key")}, exitFailed, "no such file"},
		{with("--tls-key", filepath.Join(other, "server.key")), exitFailed, "private key does not match public key"},
		{with("--tls-client-ca", in("server.key")), exitFailed, "has no certificate in PEM"},
	} {
		args := append([]string{"serve", "--memory", "--listen", "127.0.0.1:0"}, test.args...)
		code, _, stderr := cqld(t, nil, args...)
		if code != test.code || !strings.Contains(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, %q", test.args, code, stderr)
		}
	}
}

// TestInitWithTLS has --init run its scripts where every client needs TLS, a certificate and a password.
func TestInitWithTLS(t *testing.T) {
	dir, scripts := t.TempDir(), t.TempDir()
	pairFiles(t, newAuthority(t, "test"), dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(filepath.Join(scripts, "a.cql"), []byte(shopKeyspace), 0o600); err != nil {
		t.Fatal(err)
	}
	pair := []string{"--tls-cert", in("server.crt"), "--tls-key", in("server.key"), "--tls-client-ca", in("ca.crt"), "--init", scripts}
	addr, _ := serving(t, append([]string{"--auth", "password"}, pair...)...)
	code, out, errs := cqld(t, nil, "exec", addr, "-e", "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = 'shop'",
		"--tls-ca", in("ca.crt"), "--tls-cert", in("client.crt"), "--tls-key", in("client.key"),
		"--username", "cassandra", "--password", "cassandra")
	if code != 0 || !strings.Contains(out, "shop") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	code, _, errs = cqld(t, nil, append([]string{"serve", "--memory", "--auth", "mtls"}, pair...)...)
	if code == 0 || !strings.Contains(errs, "cannot be used with --auth mtls") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestCopiesThroughTLS has the commands that copy or check a server's data connect through TLS.
func TestCopiesThroughTLS(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	pairFiles(t, newAuthority(t, "test"), dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	addr, _ := serving(t, "--tls-cert", in("server.crt"), "--tls-key", in("server.key"), "--tls-client-ca", in("ca.crt"))
	own := []string{"--tls-ca", in("ca.crt"), "--tls-cert", in("client.crt"), "--tls-key", in("client.key")}
	if code, _, errs := cqld(t, nil, append([]string{"exec", addr, "-e", shopKeyspace + "; CREATE TABLE shop.t (k int PRIMARY KEY)"}, own...)...); code != 0 {
		t.Fatal(errs)
	}
	folder := filepath.Join(out, "export")
	for _, args := range [][]string{
		{"snapshot", addr, filepath.Join(out, "snapshot")},
		{"verify", addr},
		{"export", addr, "shop", folder},
		{"import", addr, folder},
	} {
		if args[0] == "import" {
			if code, _, errs := cqld(t, nil, append([]string{"exec", addr, "-e", "DROP KEYSPACE shop"}, own...)...); code != 0 {
				t.Fatal(errs)
			}
		}
		if code, _, errs := cqld(t, nil, append(args, own...)...); code != 0 {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
		if code, _, _ := cqld(t, nil, append(args, "--timeout", "2s")...); code == 0 {
			t.Errorf("%v without TLS succeeds", args)
		}
	}
}
