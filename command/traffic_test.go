package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cqld/cqld/server/cqltest"
)

// TestProxyAndReplay records a session into a file that nobody else can read, plays it against another server, and
// fails where answers differ.
func TestProxyAndReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "recording.txt")
	ctx, cancel := context.WithCancel(t.Context())
	log, ended := new(servedLog), make(chan int, 1)
	c := &console{stdin: strings.NewReader(""), stdout: log, stderr: log, getenv: func(string) string { return "" }}
	go func() {
		ended <- run(ctx, c, []string{"proxy", "--to", cqltest.RunT(t).Addr(), "--at", "127.0.0.1:0", "--out", file})
	}()
	addr := log.await(t, `clients of (\S+) say`, ended)
	if code, _, errs := cqld(t, nil, "exec", addr, "-e", shopKeyspace+"SELECT * FROM system_schema.tables; SELECT nope"); code != exitFailed {
		t.Errorf("exit %d, %s", code, errs)
	}
	cancel()
	if code := <-ended; code != 0 {
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
	if code != exitFailed || !strings.Contains(out, "Cannot add existing keyspace") || !strings.Contains(errs, "1 of 2 answers differ") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	for _, args := range [][]string{{"proxy"}, {"proxy", "--to", "a", "b"}, {"replay"}} {
		if code, _, errs := cqld(t, nil, args...); code != exitUsage || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
}
