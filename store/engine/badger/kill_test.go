package badger

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// folderOfChild names the folder that this program, started by TestKilled, writes to until it is killed.
const folderOfChild = "CQLD_TEST_KILLED_FOLDER"

// TestKilled kills a process that writes pairs of keys. What it was told is written is there afterwards, and no pair is
// torn.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(folderOfChild); dir != "" {
		writePairs(t, dir)
	}
	dir := t.TempDir()
	acknowledged := killWriter(t, dir)
	if acknowledged < 10 {
		t.Fatalf("only %d writes before the kill", acknowledged)
	}
	e := open(t, dir)
	defer e.Close()
	seen := map[string]int{}
	r := e.Snapshot()
	defer r.Release()
	err := r.Scan(nil, nil, engine.ScanOptions{}, func(k, _ []byte) (bool, error) {
		seen[string(k[1:])]++
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range acknowledged {
		if n := seen[strconv.Itoa(i)]; n != 2 {
			t.Fatalf("of write %d, one of %d acknowledged, there are %d keys", i, acknowledged, n)
		}
	}
	for k, n := range seen {
		if n != 2 {
			t.Errorf("write %s is torn", k)
		}
	}
}

// killWriter starts the writer, kills it in the middle of its work and returns how many writes it knew
// to be done.
func killWriter(t *testing.T, folder string) (acknowledged int) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), folderOfChild+"="+folder)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for started := time.Now(); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the writer says %q", lines.Text())
		}
		acknowledged = n + 1
		if acknowledged > 2000 || time.Since(started) > 2*time.Second && acknowledged >= 10 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
	return acknowledged
}

// writePairs writes without end and prints the number of each pair when it is written.
func writePairs(t *testing.T, dir string) {
	e := open(t, dir)
	filler := []byte(strings.Repeat("f", 1000))
	for i := 0; ; i++ {
		k := strconv.Itoa(i)
		ops := []engine.Op{{Key: []byte("a" + k), Value: filler}, {Key: []byte("b" + k), Value: filler}}
		if _, err := e.Write(ops); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}
