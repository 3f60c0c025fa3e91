package command

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

const (
	transferWriters  = 64
	writerAccounts   = 4
	accountBalance   = 1000
	transfersAtFirst = 3 // of each writer, before the snapshot
)

// transferrer moves money between accounts of its own, in batches that also write the number of the transfer to each of
// them. Writers with an even number write conditionally.
type transferrer struct {
	id        int
	balances  [writerAccounts]int
	sent, got atomic.Int64 // the numbers of the last transfer that was sent, and acknowledged
}

func (w *transferrer) transfer(ctx context.Context, c *client.Conn) error {
	n := w.sent.Load() + 1
	from, to, amount := int(n)%writerAccounts, int(n*7+1)%writerAccounts, int(n)%17
	w.balances[from] -= amount
	w.balances[to] += amount
	var b strings.Builder
	b.WriteString("BEGIN BATCH ")
	for i, balance := range w.balances {
		condition := ""
		if w.id%2 == 0 && i == 0 {
			condition = fmt.Sprintf(" IF n = %d", n-1)
		}
		fmt.Fprintf(&b, "UPDATE bank.accounts SET balance = %d, n = %d WHERE writer = %d AND account = %d%s; ", balance, n, w.id, i, condition)
	}
	b.WriteString("APPLY BATCH")
	w.sent.Store(n)
	if _, err := c.Query(ctx, b.String(), nil, nil); err != nil {
		return err
	}
	w.got.Store(n)
	return nil
}

// accountsOf reads all accounts: the balances of each writer and the numbers of the transfers.
func accountsOf(t *testing.T, addr string) (balances, numbers [transferWriters][]int) {
	t.Helper()
	c, err := client.Dial(t.Context(), addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.Query(t.Context(), "SELECT writer, balance, n FROM bank.accounts", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	number := func(b []byte) int { return int(int32(binary.BigEndian.Uint32(b))) }
	for _, row := range r.Rows {
		w := number(row[0])
		balances[w] = append(balances[w], number(row[1]))
		numbers[w] = append(numbers[w], number(row[2]))
	}
	return balances, numbers
}

// TestSnapshotUnderWrites takes a snapshot while 64 clients move money, restores it, and finds every balance as it was
// at one moment between the beginning and the end.
func TestSnapshotUnderWrites(t *testing.T) {
	dir := t.TempDir()
	addr, stop := serveFolder(t, filepath.Join(dir, "data"), "--memtable", "64KiB", "--cas-timeout", "30s", "--write-timeout", "30s")
	mustExecute(t, addr, "CREATE KEYSPACE bank WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"+
		"CREATE TABLE bank.accounts (writer int, account int, balance int, n int, PRIMARY KEY (writer, account));"+
		"CREATE INDEX ON bank.accounts (balance);"+
		"CREATE MATERIALIZED VIEW bank.by_n AS SELECT writer, account, n FROM bank.accounts WHERE writer IS NOT NULL "+
		"AND account IS NOT NULL AND n IS NOT NULL PRIMARY KEY (n, writer, account);"+
		"CREATE TABLE bank.fill (p int PRIMARY KEY, v text)")
	fill := strings.Builder{}
	for i := range 300 {
		fmt.Fprintf(&fill, "INSERT INTO bank.fill (p, v) VALUES (%d, '%s');", i, strings.Repeat(fmt.Sprint(i), 500))
	}
	mustExecute(t, addr, fill.String())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writers [transferWriters]transferrer
	var ready, done sync.WaitGroup
	for i := range writers {
		w := &writers[i]
		w.id = i
		ready.Add(1)
		done.Go(func() {
			begin := sync.OnceFunc(ready.Done)
			defer begin()
			c, err := client.Dial(ctx, addr, client.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for account := range writerAccounts {
				w.balances[account] = accountBalance
				insert := fmt.Sprintf("INSERT INTO bank.accounts (writer, account, balance, n) VALUES (%d, %d, %d, 0)", i, account, accountBalance)
				if _, err := c.Query(ctx, insert, nil, nil); err != nil {
					t.Error(err)
					return
				}
			}
			for ctx.Err() == nil {
				if err := w.transfer(ctx, c); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
				if w.got.Load() == transfersAtFirst {
					begin()
				}
			}
		})
	}
	ready.Wait()
	var before, after [transferWriters]int64
	for i := range writers {
		before[i] = writers[i].got.Load()
	}
	file, restored := filepath.Join(dir, "snapshot"), filepath.Join(dir, "restored")
	if code, out, errs := cqld(t, nil, "snapshot", addr, file); code != 0 {
		t.Fatalf("snapshot: exit %d, %s%s", code, out, errs)
	}
	for i := range writers {
		after[i] = writers[i].sent.Load()
	}
	if code, out, errs := cqld(t, nil, "verify", addr); code != 0 || !strings.Contains(out, "indexes and views") {
		t.Errorf("verify: exit %d, %s%s", code, out, errs)
	}
	cancel()
	done.Wait()
	stop()
	if code, out, errs := cqld(t, nil, "restore", file, restored); code != 0 {
		t.Fatalf("restore: exit %d, %s%s", code, out, errs)
	}
	if code, out, errs := cqld(t, nil, "verify", restored); code != 0 {
		t.Errorf("verify: exit %d, %s%s", code, out, errs)
	}
	addr, stop = serveFolder(t, restored)
	defer stop()
	balances, numbers := accountsOf(t, addr)
	moved := 0
	for w := range transferWriters {
		sum := 0
		for i, n := range numbers[w] {
			sum += balances[w][i]
			if n != numbers[w][0] || int64(n) < before[w] || int64(n) > after[w] {
				t.Errorf("writer %d: account %d is of the transfer %d, the first one of %d, want %d to %d", w, i, n, numbers[w][0], before[w], after[w])
			}
		}
		if len(numbers[w]) != writerAccounts || sum != writerAccounts*accountBalance {
			t.Errorf("writer %d has %v, the sum is %d", w, balances[w], sum)
		}
		moved += numbers[w][0]
	}
	if moved < transferWriters*transfersAtFirst {
		t.Errorf("only %d transfers are in the snapshot", moved)
	}
	if out := mustExecute(t, addr, "SELECT count(*) FROM bank.fill"); !strings.Contains(out, "300") {
		t.Errorf("the other table has %s", out)
	}
}

// TestSnapshotIsWholeOrNothing breaks snapshots off and damages their files.
func TestSnapshotIsWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	addr, _ := serveFolder(t, filepath.Join(dir, "data"))
	mustExecute(t, addr, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"+
		"CREATE TABLE k.t (p int PRIMARY KEY, v int); INSERT INTO k.t (p, v) VALUES (1, 2)")
	file := filepath.Join(dir, "snapshot")
	if code, _, errs := cqld(t, nil, "snapshot", addr, file); code != 0 {
		t.Fatal(errs)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs := cqld(t, nil, "snapshot", addr, file); code != exitFailed || !strings.Contains(errs, "exists already") {
		t.Errorf("over a file: exit %d, %s", code, errs)
	}
	for name, damaged := range map[string][]byte{
		"no snapshot":                         []byte("another file"),
		"not written to its end":              content[:len(content)-1],
		"written to its end":                  content[:len(content)/2],
		"does not have the checksum":          flipped(content, len(content)/2),
		"the snapshot does not have the chec": flipped(content, len(content)-3),
	} {
		bad := filepath.Join(dir, "bad")
		if err := os.WriteFile(bad, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, errs := cqld(t, nil, "restore", bad, filepath.Join(dir, "restored"))
		if code != exitFailed || !strings.Contains(errs, name) {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "restored*"))
	if err != nil || len(left) > 0 {
		t.Errorf("there are %v, error %v", left, err)
	}
	if code, _, errs := cqld(t, nil, "restore", file, filepath.Join(dir, "data")); code != exitFailed || !strings.Contains(errs, "is not empty") {
		t.Errorf("into a folder in use: exit %d, %s", code, errs)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := &console{stdin: strings.NewReader(""), stdout: new(lockedBuffer), stderr: new(lockedBuffer), getenv: func(string) string { return "" }}
	if code := run(ended, c, []string{"snapshot", addr, filepath.Join(dir, "broken")}); code != exitFailed {
		t.Errorf("a snapshot that is broken off: exit %d", code)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "broken*")); len(left) > 0 {
		t.Errorf("there are %v", left)
	}
}

func flipped(b []byte, at int) []byte {
	b = append([]byte(nil), b...)
	b[at] ^= 4
	return b
}

// TestStreamsWantSuperusers asks for a snapshot and a verification as an ordinary role.
func TestStreamsWantSuperusers(t *testing.T) {
	dir := t.TempDir()
	addr, _ := serveFolder(t, filepath.Join(dir, "data"), "--auth", "password")
	super := map[string]string{"CQLD_USERNAME": "cassandra", "CQLD_PASSWORD": "cassandra"}
	if code, _, errs := cqld(t, super, "exec", addr, "-e", "CREATE ROLE r WITH PASSWORD = 'p' AND LOGIN = true"); code != 0 {
		t.Fatal(errs)
	}
	ordinary := map[string]string{"CQLD_USERNAME": "r", "CQLD_PASSWORD": "p"}
	for _, args := range [][]string{{"snapshot", addr, filepath.Join(dir, "file")}, {"verify", addr}} {
		if code, _, errs := cqld(t, ordinary, args...); code != exitFailed || !strings.Contains(errs, "Only superusers") {
			t.Errorf("%s as an ordinary role: exit %d, %s", args[0], code, errs)
		}
		if code, _, errs := cqld(t, nil, args...); code != exitFailed || !strings.Contains(errs, "asks for a user") {
			t.Errorf("%s without a login: exit %d, %s", args[0], code, errs)
		}
		if code, _, errs := cqld(t, super, args...); code != 0 {
			t.Errorf("%s as a superuser: exit %d, %s", args[0], code, errs)
		}
	}
}

// TestStreams asks for streams that there are not, and leaves one in the middle.
func TestStreams(t *testing.T) {
	addr, stop := serveFolder(t, filepath.Join(t.TempDir(), "data"))
	ask := func(c *client.Conn, name string) (*client.Result, error) {
		return c.Query(t.Context(), "SELECT key FROM system.local", nil, &client.QueryOptions{
			Payload: []protocol.PayloadEntry{{Key: server.StreamKey, Value: []byte(name)}},
		})
	}
	for range 10 { // more than are under way at a time
		c, err := client.Dial(t.Context(), addr, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ask(c, "nothing"); err == nil || !strings.Contains(err.Error(), "no stream") {
			t.Error(err)
		}
		if _, err := ask(c, server.SnapshotStream+"+"); err == nil {
			t.Error("a stream goes on that was not begun")
		}
		for range 2 { // the second one takes the place of the first
			r, err := ask(c, server.SnapshotStream)
			if err != nil && strings.Contains(err.Error(), "Too many") {
				break // the server has not seen yet that others have hung up
			}
			if err != nil || len(r.Rows) != 1 || r.PagingState == nil {
				t.Errorf("%+v, error %v", r, err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	stop()
}
