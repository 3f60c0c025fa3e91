package compat_tests

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/cqltest"
	_ "github.com/cqld/cqld/cqltest/functions"
	"github.com/cqld/cqld/protocol/client"
)

// guardrailScripts is the folder of scripts that want a server with settings, which each names at its top.
const guardrailScripts = "guardrails"

var settings = flag.String("settings", "", "run the scripts of guardrails with these settings, which the server at -addr has")

// superuser is who makes the keyspaces of scripts on a Cassandra, and ordinary who runs the statements: guardrails do
// not apply to superusers.
var (
	superuser = script.Login{Username: "cassandra", Password: "cassandra"}
	ordinary  = script.Login{Username: "ordinary", Password: "ordinary"}
)

// TestGuardrails runs the scripts of guardrails in every mode: against a Cassandra at -addr that was started with
// -settings, or each against a cqld in memory with its settings.
func TestGuardrails(t *testing.T) {
	release := ""
	if *addr != "" {
		if *settings == "" {
			t.Skip("-settings names the settings of the server at -addr")
		}
		var err error
		if release, err = script.CassandraRelease(t.Context(), *addr); err != nil {
			t.Fatal(err)
		}
		createOrdinary(t)
	}
	ran := 0
	for _, path := range guardrailPaths(t) {
		if *addr != "" && !namesSettings(t, path, *settings) {
			continue
		}
		ran++
		t.Run(name(path), func(t *testing.T) {
			s := readScript(t, path)
			if s.Settings == "" {
				t.Fatal("names no settings")
			}
			if release != "" {
				s.Logins = &script.Logins{Admin: superuser, User: ordinary}
			}
			if *record {
				s.Stamp = "Cassandra " + release
				recordScript(t, *addr, path, s)
				return
			}
			for _, m := range modes() {
				t.Run(m.String(), func(t *testing.T) {
					to := *addr
					if to == "" {
						s.ExpectOurs()
						to = cqltest.RunT(t, cqltest.WithSettings(oursOf(s)), cqltest.WithStrictReplicas()).Addr()
					}
					differences, err := s.Compare(t.Context(), to, keyspace(path), m)
					report(t, path, differences)
					if err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
	if ran == 0 {
		t.Errorf("no script has the settings %q", *settings)
	}
}

// TestGuardrailsOnDisk runs the scripts of guardrails against cqld as a process, which gets their settings from --set.
func TestGuardrailsOnDisk(t *testing.T) {
	if *addr != "" {
		t.Skip("needs a server of its own")
	}
	disk := newDiskServer(t)
	m := modes()[0]
	for _, path := range guardrailPaths(t) {
		t.Run(name(path), func(t *testing.T) {
			s := readScript(t, path)
			s.ExpectOurs()
			args := []string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--strict-replicas"}
			for name, value := range oursOf(s) {
				args = append(args, "--set", name+"="+value)
			}
			p, err := process.Start(disk.binary, args...)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := p.Kill(); err != nil {
					t.Error(err)
				}
			}()
			differences, err := s.Compare(t.Context(), p.Addr, keyspace(path), m)
			report(t, path, differences)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// namesSettings reports whether a script names some settings at its top.
func namesSettings(t *testing.T, path, settings string) bool {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(strings.Split(string(content), "\n"), "# settings: "+settings)
}

// oursOf are the settings of a script as cqld gets them: without logins, everybody is subject to guardrails.
// User-defined functions are enabled, as in the configuration of compat_tests/oracle.
func oursOf(s *script.Script) map[string]string {
	values := map[string]string{"guardrails_apply_to_all": "true", "user_defined_functions_enabled": "true"}
	for _, setting := range strings.Split(s.Settings, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(setting), "=")
		values[name] = value
	}
	return values
}

// guardrailPaths are the scripts of guardrails.
func guardrailPaths(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("scripts", guardrailScripts, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	return paths
}

// createOrdinary makes the role that runs the statements on the Cassandra at -addr.
func createOrdinary(t *testing.T) {
	t.Helper()
	conn, err := client.Dial(t.Context(), *addr, client.Options{Username: superuser.Username, Password: superuser.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, cql := range []string{
		"CREATE ROLE IF NOT EXISTS ordinary WITH PASSWORD = 'ordinary' AND LOGIN = true",
		"GRANT ALL ON ALL KEYSPACES TO ordinary",
		"GRANT ALL ON ALL FUNCTIONS TO ordinary",
		"GRANT SELECT ON KEYSPACE system_views TO ordinary",
		"GRANT MODIFY ON KEYSPACE system_views TO ordinary",
	} {
		if _, err := conn.Query(t.Context(), cql, nil, nil); err != nil {
			t.Fatalf("%s: %v: guardrails want a Cassandra that asks for passwords", cql, err)
		}
	}
}
