package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiskReserve starts a server whose volume has not as much free as --disk-reserve says: it reads and does not
// write, and says so in one line. One with a smaller reserve writes again.
func TestDiskReserve(t *testing.T) {
	dir := t.TempDir()
	const create = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};" +
		"CREATE TABLE ks.t (k int PRIMARY KEY); INSERT INTO ks.t (k) VALUES (1)"
	const insert, read = "INSERT INTO ks.t (k) VALUES (2)", "SELECT k FROM ks.t"
	for _, step := range []struct {
		reserve, first string
		writes         bool
	}{{"1MiB", create, true}, {"100%", read, false}, {"0", insert, true}} {
		t.Run(step.reserve, func(t *testing.T) {
			addr, log := serving(t, "--memory=false", "--data", dir, "--disk-reserve", step.reserve)
			if code, _, errs := cqld(t, nil, "exec", addr, "-e", step.first); code != 0 {
				t.Fatal(errs)
			}
			if step.writes {
				return
			}
			eventually(t, "writes are refused", func() bool {
				code, _, _ := cqld(t, nil, "exec", addr, "-e", insert)
				return code != 0
			})
			_, _, errs := cqld(t, nil, "exec", addr, "-e", insert)
			if !strings.Contains(errs, "MiB are free in the folder "+dir) {
				t.Errorf("a write is answered %s", errs)
			}
			if code, out, errs := cqld(t, nil, "exec", addr, "-e", read); code != 0 || !strings.Contains(out, "1") {
				t.Errorf("a read: %s%s", out, errs)
			}
			lines := func() int { return strings.Count(log.String(), "writes are refused for now") }
			eventually(t, "the log says so", func() bool { return lines() > 0 })
			if n := lines(); n != 1 {
				t.Errorf("%d lines\n%s", n, log)
			}
		})
	}
	for _, bad := range []string{"much", "101%", "-1%", "-5"} {
		if code, _, errs := cqld(t, nil, "serve", "--memory", "--disk-reserve", bad); code != exitUsage {
			t.Errorf("%s: exit %d, %s", bad, code, errs)
		}
	}
}

// TestFolderCannotBeWritten starts servers on folders that cannot be written: each says why in one line.
func TestFolderCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		t.Skip("everything can be written by root")
	}
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{locked, filepath.Join(locked, "data")} {
		var out bytes.Buffer
		c := &console{stdin: strings.NewReader(""), stdout: &out, stderr: &out, getenv: func(string) string { return "" }}
		code := run(context.Background(), c, []string{"serve", "--listen", "127.0.0.1:0", "--data", data})
		if code != exitFailed || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), data) {
			t.Errorf("%s: exit %d, %s", data, code, out.String())
		}
	}
}
