package command

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// serveFolder runs a server on a folder until stop is called.
func serveFolder(t *testing.T, dir string, args ...string) (addr string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	log := new(lockedBuffer)
	c := &console{stdin: strings.NewReader(""), stdout: log, stderr: log, getenv: func(string) string { return "" }}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, c, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", dir, "--log-format", "json"}, args...))
	}()
	line := regexp.MustCompile(`listening for CQL clients on /([0-9.:]+)`)
	for addr == "" {
		select {
		case code := <-ended:
			t.Fatalf("the server ends with %d: %s", code, log)
		case <-time.After(time.Millisecond):
		}
		if m := line.FindStringSubmatch(log.String()); m != nil {
			addr = m[1]
		}
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("the server ends with %d: %s", code, log)
		}
	})
	t.Cleanup(stop)
	return addr, stop
}

// mustExecute runs statements on a server.
func mustExecute(t *testing.T, addr, text string) string {
	t.Helper()
	code, out, errs := cqld(t, nil, "exec", addr, "-e", text)
	if code != 0 {
		t.Fatalf("%s: %s", text, errs)
	}
	return out
}

// TestVerifyFolder verifies a folder as a server leaves it, and with a byte of a table changed.
func TestVerifyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	addr, stop := serveFolder(t, dir)
	mustExecute(t, addr, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"+
		"CREATE TABLE k.t (p int PRIMARY KEY, v int); CREATE INDEX ON k.t (v);"+
		"INSERT INTO k.t (p, v) VALUES (1, 2); INSERT INTO k.t (p, v) VALUES (2, 2);")
	if code, _, errs := cqld(t, nil, "verify", dir); code != exitFailed || !strings.Contains(errs, "in use by another process") {
		t.Errorf("beside a server: exit %d, %s", code, errs)
	}
	stop()
	if code, out, errs := cqld(t, nil, "verify", dir); code != 0 || !strings.Contains(out, "2 entries, 0 stale") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal("there are no tables", err)
	}
	content, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/3] ^= 0x10
	if err := os.WriteFile(tables[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := cqld(t, nil, "verify", dir)
	if code != exitFailed || !strings.Contains(out, tables[0]+": ") || !strings.Contains(errs, "damaged files: 1;") {
		t.Errorf("a changed byte: exit %d, %s%s", code, out, errs)
	}
	for _, other := range []string{t.TempDir(), filepath.Join(dir, "nothing")} {
		if code, _, _ := cqld(t, nil, "verify", other); code != exitFailed {
			t.Errorf("%s: exit %d", other, code)
		}
		if left, _ := os.ReadDir(other); len(left) > 0 {
			t.Errorf("%s has %v", other, left)
		}
	}
}
