package drivers

import (
	"flag"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
)

var addr = flag.String("addr", "", "run against the server at this address instead of one in this process")

// The rows that every driver writes and reads back.
const (
	rowCount   = 10_000
	partitions = 10
	pageSize   = 100
	writers    = 32
)

// address splits the address of the server under test.
func address(t *testing.T) (host string, port int) {
	t.Helper()
	a := *addr
	if a == "" {
		a = cqltest.RunT(t).Addr()
	}
	host, p, err := net.SplitHostPort(a)
	if err != nil {
		t.Fatal(err)
	}
	port, err = strconv.Atoi(p)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// keyspaceFor names a keyspace of one test's own.
func keyspaceFor(t *testing.T) string {
	return strings.NewReplacer("/", "_", "test", "drivers_").Replace(strings.ToLower(t.Name()))
}

func createKeyspace(name string) string {
	return "CREATE KEYSPACE " + name +
		" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
}

// row is the i-th row that is written.
func row(i int) (p, c int, v string) {
	return i % partitions, i / partitions, fmt.Sprintf("value %d", i)
}

// writeAll calls write once for each row number, from several goroutines.
func writeAll(t *testing.T, write func(i int) error) {
	t.Helper()
	next := make(chan int)
	failed := make(chan error, writers)
	for range writers {
		go func() {
			for i := range next {
				if err := write(i); err != nil {
					failed <- fmt.Errorf("row %d: %w", i, err)
					for range next {
						// The producer must not wait for a writer that is gone.
					}
					return
				}
			}
			failed <- nil
		}()
	}
	for i := range rowCount {
		next <- i
	}
	close(next)
	for range writers {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
}

// checkRows reads all rows through scan, which reports false at the end, and sees that each comes once.
func checkRows(t *testing.T, scan func(p, c *int, v *string) bool) {
	t.Helper()
	seen := make([]bool, rowCount)
	var p, c, n int
	var v string
	for scan(&p, &c, &v) {
		i := c*partitions + p
		if i < 0 || i >= rowCount || seen[i] {
			t.Fatalf("row %d, %d came twice or was never written", p, c)
		}
		if _, _, want := row(i); v != want {
			t.Fatalf("row %d, %d has %q, want %q", p, c, v, want)
		}
		seen[i] = true
		n++
	}
	if n != rowCount {
		t.Fatalf("read %d rows, want %d", n, rowCount)
	}
}

// eventually waits until a condition holds, which an event brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}
