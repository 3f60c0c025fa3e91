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
	"github.com/cqld/cqld/store/engine/enginetest"
)

// folderOfChild names the folder that this program, started by TestKilled, writes to until it is killed.
const folderOfChild = "CQLD_TEST_KILLED_FOLDER"

// TestKilled kills a process that commits pairs of keys. What it was told is committed is there
// afterwards, and no pair is torn.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(folderOfChild); dir != "" {
		writePairs(t, dir)
	}
	for name, sync := range map[string]Sync{"periodic": Periodic, "batch": Batch} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			acknowledged := killWriter(t, dir+":"+strconv.Itoa(int(sync)))
			if acknowledged < 10 {
				t.Fatalf("only %d commits before the kill", acknowledged)
			}
			e := open(t, dir, sync, enginetest.Union)
			defer e.Close()
			seen := map[string]int{}
			err := e.Scan(nil, nil, engine.ScanOptions{}, func(k, v []byte) (bool, error) {
				seen[string(k[1:])]++
				return true, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range acknowledged {
				if n := seen[strconv.Itoa(i)]; n != 2 {
					t.Fatalf("of commit %d, one of %d acknowledged, there are %d keys", i, acknowledged, n)
				}
			}
			for k, n := range seen {
				if n != 2 {
					t.Errorf("commit %s is torn", k)
				}
			}
		})
	}
}

// killWriter starts the writer, kills it in the middle of its work and returns how many commits it knew
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

// writePairs commits without end and prints the number of each commit when it is done.
func writePairs(t *testing.T, folder string) {
	dir, sync, _ := strings.Cut(folder, ":")
	n, _ := strconv.Atoi(sync)
	e := open(t, dir, Sync(n), enginetest.Union)
	filler := []byte(strings.Repeat("f", 1000))
	for i := 0; ; i++ {
		k := strconv.Itoa(i)
		e.Commit([]engine.Op{{Key: []byte("a" + k), Value: filler}, {Key: []byte("b" + k), Value: filler}}, func(err error) {
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			fmt.Println(i)
		})
	}
}
