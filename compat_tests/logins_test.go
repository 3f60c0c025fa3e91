package compat_tests

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
)

// loginScripts is the folder of scripts that log in: they want a server that asks for passwords.
var loginScripts = filepath.Join("scripts", "logins")

var loginAddr = flag.String("login-addr", "", "run the scripts that log in against the server at this address")

// loginModes are the ways in which scripts that log in are run.
var loginModes = []script.Mode{
	{Version: 5, PageSize: usualPage},
	{Version: 4, PageSize: usualPage},
}

// TestLogins runs the scripts with logins, each on a fresh server in memory, or against -login-addr.
func TestLogins(t *testing.T) {
	skipWithoutLogins(t)
	paths, err := filepath.Glob(filepath.Join(loginScripts, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(name(path), func(t *testing.T) {
			if *record {
				recordLogins(t, path)
				return
			}
			for _, m := range loginModes {
				t.Run(m.String(), func(t *testing.T) {
					to := *loginAddr
					if to == "" {
						to = cqltest.RunT(t, functions.Enable(), cqltest.WithAuth()).Addr()
					}
					differences, err := readScript(t, path).Compare(t.Context(), to, keyspace(path), m)
					report(t, path, differences)
					if err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// skipWithoutLogins skips tests that log in where another server is asked that does not want that.
func skipWithoutLogins(t *testing.T) {
	t.Helper()
	if *addr != "" && *loginAddr == "" {
		t.Skip("needs -login-addr")
	}
}

// recordLogins records the answers of the Cassandra at -login-addr, if they are equal in both modes.
func recordLogins(t *testing.T, path string) {
	t.Helper()
	release, err := script.CassandraRelease(t.Context(), *loginAddr)
	if err != nil {
		t.Fatalf("-record wants -login-addr of a real Cassandra: %v", err)
	}
	s := readScript(t, path)
	s.Stamp = "Cassandra " + release
	differences, err := s.Record(t.Context(), *loginAddr, keyspace(path), loginModes[0], loginModes[1])
	if err != nil {
		t.Fatal(err)
	}
	report(t, path, differences)
	if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
