package disk

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
)

// backlogFolder names the folder that this program, started by TestKilledInBacklog, writes to until it is killed, and
// backlogFrom the first number that it writes.
const (
	backlogFolder = "TEST_CQLD_BACKLOG_FOLDER"
	backlogFrom   = "TEST_CQLD_BACKLOG_FROM"
)

// backlogKeys is how many keys are overwritten in turn.
const backlogKeys = 5000

// backlogOptions have small memtables, so that many flushes are under way or wait.
func backlogOptions(dir string) Options {
	return Options{
		Dir: dir, Memtable: 1 << 20, segment: 1 << 20, below: badger.Options{MemTable: 1 << 20}, Log: zerolog.Nop(),
	}
}

// newest is a fold that keeps the greater number, as the last write of a cell wins.
func newest(dst, _, existing, delta []byte) ([]byte, error) {
	if bytes.Compare(existing[:8], delta[:8]) > 0 {
		delta = existing
	}
	return append(dst, delta...), nil
}

// TestKilledInBacklog kills a process ten times in a row while flushes wait, on the same folder. Each time everything
// that it had acknowledged is there, in its newest version.
func TestKilledInBacklog(t *testing.T) {
	if dir := os.Getenv(backlogFolder); dir != "" {
		writeBacklog(t, dir)
	}
	dir := folder(t)
	written := 0
	for kill := range 10 {
		written = killInBacklog(t, dir, written)
		e, err := Open(backlogOptions(dir), newest)
		if err != nil {
			t.Fatal(err)
		}
		for i := range min(written, backlogKeys) {
			want := written - 1 - (written-1-i)%backlogKeys // the last number that this key got
			var got uint64
			found, err := e.Get(fmt.Appendf(nil, "key %05d", i), func(v []byte) error {
				got = binary.BigEndian.Uint64(v)
				return nil
			})
			if !found || err != nil || got < uint64(want) {
				t.Fatalf("kill %d: key %d has %d, %v, %v; %d was acknowledged", kill, i, got, found, err, want)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killInBacklog starts the writer and kills it in the middle of a flush. It returns the first number that was not
// acknowledged.
func killInBacklog(t *testing.T, dir string, from int) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledInBacklog$")
	cmd.Env = append(os.Environ(), backlogFolder+"="+dir, fmt.Sprintf("%s=%d", backlogFrom, from))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for flushes := 0; flushes < 5 && lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			from = n
		} else if strings.Contains(lines.Text(), "waits") {
			flushes++
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // what it had acknowledged when it was killed
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			from = n
		}
	}
	_ = cmd.Wait()
	return from
}

// writeBacklog writes until it is killed. It prints how many numbers are acknowledged, and when a flush waits.
func writeBacklog(t *testing.T, dir string) {
	e, err := Open(backlogOptions(dir), newest)
	if err != nil {
		t.Fatal(err)
	}
	from, err := strconv.Atoi(os.Getenv(backlogFrom))
	if err != nil {
		t.Fatal(err)
	}
	for n := from; ; n++ {
		value := append(binary.BigEndian.AppendUint64(nil, uint64(n)), make([]byte, 1000)...)
		op := engine.Op{Kind: engine.Merge, Key: fmt.Appendf(nil, "key %05d", n%backlogKeys), Value: value}
		if err := commit(e, op); err != nil {
			t.Fatal(err)
		}
		if n%100 == 0 {
			fmt.Println(n + 1)
			if e.Metrics().MemtablesFrozen > 0 {
				fmt.Println("a flush waits")
			}
		}
	}
}
