package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/cluster/tikv"
	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/command"
	"github.com/cqld/cqld/store/engine"
)

// runOn runs a command with the engine of a cluster.
func runOn(t *testing.T, c *tikvtest.Cluster, args ...string) (code int, output string) {
	t.Helper()
	var out bytes.Buffer
	p := command.Program{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		Engine: &command.Engine{
			Reach: func(*pflag.FlagSet) {}, Flags: func(*pflag.FlagSet) {},
			Open: func(_ context.Context, f engine.Fold, log zerolog.Logger) (engine.Engine, error) {
				return tikv.Open(c.Connect(t), tikv.Options{Prefix: "scripts", MaxKey: 1 << 18, Split: 1, Log: log}, f)
			},
		},
	}
	code = p.Run(t.Context())
	return code, out.String()
}

// TestRestore writes the snapshot of one cluster into another one. Its server has the rows, and takes no part of the
// servers of the first cluster for one of its own. It is refused where there are data.
func TestRestore(t *testing.T) {
	from, to := tikvtest.New(t, 1), tikvtest.New(t, 1)
	p, q := serve(t, from), serve(t, from)
	conn := dial(t, p)
	ask(t, conn, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	ask(t, conn, "CREATE TABLE k.t (a int, b int, s set<text>, c text, PRIMARY KEY (a, b))")
	ask(t, conn, "CREATE INDEX ON k.t (c)")
	ask(t, conn, "CREATE TABLE k.n (a int PRIMARY KEY, n counter)")
	for a := range 50 {
		ask(t, conn, fmt.Sprintf("INSERT INTO k.t (a, b, s, c) VALUES (%d, 1, {'x', 'y'}, 'c%d') USING TTL 5000", a, a%5))
		ask(t, conn, fmt.Sprintf("UPDATE k.n SET n = n + %d WHERE a = %d", a, a%3))
	}
	file := filepath.Join(t.TempDir(), "all.snapshot")
	if code, out := runOn(t, to, "snapshot", p.addr, file); code != 0 {
		t.Fatal(out)
	}
	q.end()
	for _, line := range []string{"the cluster has the data of ", "there are data already"} {
		if _, out := runOn(t, to, "restore", file); !strings.Contains(out, line) {
			t.Errorf("restore says %s, want %q", out, line)
		}
	}
	restored := dial(t, serve(t, to))
	for _, query := range []string{
		"SELECT a, b, s, c FROM k.t", "SELECT a FROM k.t WHERE c = 'c3'", "SELECT a, n FROM k.n",
	} {
		if want, got := ask(t, conn, query), ask(t, restored, query); !slices.Equal(got, want) {
			t.Errorf("%s: %v after the restore, want %v", query, got, want)
		}
	}
	if got := ask(t, restored, "SELECT peer FROM system.peers_v2"); len(got) != 0 {
		t.Errorf("the restored cluster has the members %v of the first one", got)
	}
	ask(t, restored, "INSERT INTO k.t (a, b) VALUES (1000, 1)")
	ask(t, restored, "CREATE TABLE k.more (a int PRIMARY KEY)")
}
