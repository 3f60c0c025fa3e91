package command

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
)

// at is a listener at an address.
type at struct {
	net.Listener
	address string
}

// Addr is the address.
func (a at) Addr() net.Addr {
	one, err := net.ResolveTCPAddr("tcp", a.address)
	if err != nil {
		panic(err)
	}
	return one
}

// TestOpenToAll warns in one line of a server that other machines reach and that asks for nothing.
func TestOpenToAll(t *testing.T) {
	for _, test := range []struct {
		address, args string
		warns         bool
	}{
		{"0.0.0.0:9042", "", true},
		{"[::]:9042", "", true},
		{"192.0.2.7:9042", "", true},
		{"127.0.0.1:9042", "", false},
		{"[::1]:9042", "", false},
		{"0.0.0.0:9042", "--auth password", false},
		{"0.0.0.0:9042", "--tls-cert a --tls-key b", true},
		{"0.0.0.0:9042", "--tls-cert a --tls-key b --tls-client-ca c", false},
		{"0.0.0.0:9042", "--tls-cert a --tls-key b --tls-client-ca c --tls optional", true},
	} {
		s, err := readSettings(&console{getenv: func(string) string { return "" }}, append(strings.Fields(test.args), "--memory"))
		if err != nil {
			t.Fatal(err)
		}
		l := &listeners{alone: at{address: test.address}, ipv4: strings.HasPrefix(test.address, "0.")}
		if s.certificates.certificate != "" {
			l.tls = &server.TLS{Optional: s.optionalTLS}
		}
		var log bytes.Buffer
		s.warnOpen(l, zerolog.New(&log))
		want := 0
		if test.warns {
			want = 1
		}
		text := log.String()
		if strings.Count(text, "\n") != want ||
			test.warns && (!strings.Contains(text, `"level":"warn"`) || !strings.Contains(text, test.address) || !strings.Contains(text, "--auth password")) {
			t.Errorf("%s %s: the log has %q", test.address, test.args, text)
		}
	}
}

// TestOpenImage warns with the environment of the image.
func TestOpenImage(t *testing.T) {
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for word := range strings.FieldsSeq(string(text)) {
		if name, value, ok := strings.Cut(word, "="); ok && name == "CASSANDRA_RPC_ADDRESS" {
			env[name] = value
		}
	}
	s, err := readSettings(&console{getenv: func(name string) string { return env[name] }}, []string{"--memory"})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s.warnOpen(&listeners{alone: at{address: s.listen}, ipv4: true}, zerolog.New(&log))
	if !strings.Contains(log.String(), "everyone who can reach 0.0.0.0:9042 ") {
		t.Errorf("%v: the log has %q", env, log.String())
	}
}

// TestStartInLog has the facts of a start in a line of the log where that is no terminal.
func TestStartInLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(dir, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	log, ended, stop := startServe(t, nil, "--data", dir, "--log-format", "json")
	addr := log.await(t, listening, ended)
	line := log.await(t, `(\{[^\n]*"message":"clients are served"\})`, ended)
	_, port, _ := strings.Cut(addr, ":")
	for _, want := range []string{
		`"level":"info"`, `"listen":"` + addr + `"`, `"data":"` + dir + `"`, `"auth":"none"`, `"tls":"none"`,
		`"connect":"cqlsh 127.0.0.1 ` + port + `  or  cqld exec ` + addr, `"version":"`,
		`"console":"http://127.0.0.1:`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("there is no %s in %s", want, line)
		}
	}
	if strings.Contains(log.String(), `"level":"warn"`) {
		t.Errorf("a server for this machine only warns:\n%s", log)
	}
	if code := stop(); code != 0 {
		t.Errorf("exit %d:\n%s", code, log)
	}
}
