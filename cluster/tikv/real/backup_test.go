package real

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// TestBackup exports and imports rows, takes a snapshot, and restores it under another prefix.
func TestBackup(t *testing.T) {
	address, binary := realCluster(t), build(t)
	prefix, dir := fmt.Sprint("cqld-test-backup-", time.Now().Unix()), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
			t.Fatalf("cqld-cluster %s: %v\n%s", args, err, out)
		}
	}
	timed := func(did string, rows int, args ...string) {
		t.Helper()
		began := time.Now()
		run(args...)
		found(did, "rows per second", fmt.Sprintf("%.0f", float64(rows)/time.Since(began).Seconds()))
	}
	const rows = 20000
	p := serve(t, binary, address, prefix)
	ask(t, p, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	ask(t, p, "CREATE TABLE k.t (a int, b int, c text, PRIMARY KEY (a, b))")
	export := filepath.Join(dir, "export")
	text := strings.Repeat("c", 200)
	var lines strings.Builder
	for i := range rows {
		fmt.Fprintf(&lines, "INSERT INTO k.t (a, b, c) VALUES (%d, %d, '%s');\n", i/10, i%10, text)
	}
	script := filepath.Join(dir, "rows.cql")
	if err := os.WriteFile(script, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run("exec", p.Addr, "-f", script)
	timed("export", rows, "export", p.Addr, "k", export)
	run("exec", p.Addr, "-e", "TRUNCATE k.t")
	timed("import", rows, "import", p.Addr, export)
	snapshot := filepath.Join(dir, "all.snapshot")
	timed("snapshot", rows, "snapshot", p.Addr, snapshot)
	timed("restore", rows, append([]string{"restore", snapshot}, reach(address, prefix+"-restored")...)...)
	q := serve(t, binary, address, prefix+"-restored")
	for _, each := range []*process.Process{p, q} {
		if n := ask(t, each, "SELECT count(*) FROM k.t"); n != fmt.Sprint(rows) {
			t.Errorf("there are %s rows, want %d", n, rows)
		}
		ask(t, each, "DROP KEYSPACE k")
	}
}
