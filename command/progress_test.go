package command

import (
	"bytes"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/store"
)

// TestProgress prints nothing of what is done soon, and then a line now and then, with the time that is left.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, false)
	p.show("restore", 0.1, "1.0 MB")
	if out.Len() > 0 || p.interval != printInterval {
		t.Errorf("every %v it prints %q", p.interval, out.String())
	}
	p.last, p.began = p.last.Add(-printInterval), p.began.Add(-10*time.Second)
	p.show("restore", 0.3, "3.0 MB")
	p.show("restore", 0.4, "4.0 MB")
	if out.String() != "restore: 30%, 3.0 MB, about 35s left\n" {
		t.Errorf("it prints %q", out.String())
	}
	p.last = p.last.Add(-printInterval)
	p.show("verify", -1, "5 rows") // of another part, of which nobody knows how much there is
	p.end()
	if _, last, _ := strings.Cut(out.String(), "\n"); last != "verify: 5 rows\n" {
		t.Errorf("then it prints %q", last)
	}
	out.Reset()
	p = newProgress(&out, true)
	p.interval = 0
	p.show("restore", 0.5, "1.0 MB")
	if p.end(); out.Len() > 0 {
		t.Errorf("when it is to be quiet it prints %q", out.String())
	}
}

// TestPingWait tries again, and says nothing meanwhile, until a server answers or the time is over.
func TestPingWait(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	refused := make(chan struct{})
	go func() { // the first clients are hung up on, as if the server was not ready yet
		defer close(refused)
		for range 3 {
			if c, err := l.Accept(); err == nil {
				_ = c.Close()
			}
		}
		_ = l.Close()
	}()
	type result struct {
		code      int
		out, errs string
	}
	pinged := make(chan result, 1)
	go func() {
		code, out, errs := cqld(t, nil, "ping", addr, "--wait", "1m")
		pinged <- result{code, out, errs}
	}()
	<-refused
	log, ended, _ := startServe(t, nil, "--memory", "--listen", addr)
	log.await(t, listening, ended)
	if r := <-pinged; r.code != 0 || r.out != addr+" answers, protocol v5\n" || r.errs != "" {
		t.Errorf("exit %d, %s%s", r.code, r.out, r.errs)
	}
	code, out, errs := cqld(t, nil, "ping", "127.0.0.1:1", "--wait", "50ms")
	if code != exitFailed || out != "" || errs != "cqld: connect to 127.0.0.1:1: connection refused; gave up after 50ms\n" {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

// TestOneRow has the sentences of commands about a single row.
func TestOneRow(t *testing.T) {
	srv := cqltest.RunT(t)
	srv.Exec(t, shopKeyspace+"CREATE TABLE shop.t (k int PRIMARY KEY, v int); CREATE INDEX ON shop.t (v);"+
		"INSERT INTO shop.t (k, v) VALUES (1, 2);")
	dir := filepath.Join(t.TempDir(), "export")
	if out := must(t, "export", srv.Addr(), "shop", dir); !strings.HasPrefix(out, "1 row exported to ") {
		t.Error(out)
	}
	if out := must(t, "import", cqltest.RunT(t).Addr(), dir); !strings.HasPrefix(out, "1 row imported from ") {
		t.Error(out)
	}
	var out strings.Builder
	v := store.Verified{Tables: 1, Rows: 1, Tombstones: 1, Indexes: 1, Entries: 1, Unbuilt: 1, Faults: maxShownFaults + 1}
	if err := reportVerified(&out, &v); err == nil {
		t.Error("faults are no error")
	}
	const want = "damaged: 1 table, 1 row, 1 tombstone; 1 index or view, 1 entry, 0 stale\n" +
		"1 index or view is not built yet: missing entries there are not faults\n1 more fault is not shown\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
