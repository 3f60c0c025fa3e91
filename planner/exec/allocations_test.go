//go:build !race

package exec_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
)

// TestAllocations keeps the paths of prepared point reads and inserts cheap: the store's part is counted
// with them.
func TestAllocations(t *testing.T) {
	s := withTable(t, "k text PRIMARY KEY, a text, b text, c text, d text")
	insert, err := s.prepare("INSERT INTO t (k, a, b, c, d) VALUES (?, ?, ?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	read, err := s.prepare("SELECT * FROM t WHERE k = ?")
	if err != nil {
		t.Fatal(err)
	}
	value := types.Value{Bytes: bytes.Repeat([]byte("x"), 100)}
	write := &exec.Request{Prepared: insert, Values: []types.Value{value, value, value, value, value}, Options: exec.Options{Consistency: cqlerr.One, Version: 4}}
	point := &exec.Request{Prepared: read, Values: []types.Value{value}, Options: exec.Options{Consistency: cqlerr.One, Version: 4, PageSize: 5000}}
	written := make(chan error, 1)
	writes := testing.AllocsPerRun(200, func() {
		s.executor.Execute(context.Background(), write, func(_ exec.Result, err error) { written <- err })
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	})
	rows := 0
	reads := testing.AllocsPerRun(200, func() {
		s.executor.Execute(context.Background(), point, func(r exec.Result, err error) {
			if err != nil {
				t.Fatal(err)
			}
			rows += r.(*exec.Rows).Count
		})
	})
	if rows == 0 {
		t.Error("nothing was read")
	}
	t.Logf("an insert allocates %v times with the store's part, a read %v times", writes, reads)
	if reads > 10 {
		t.Errorf("a point read allocates %v times", reads)
	}
	if writes > 40 {
		t.Errorf("an insert allocates %v times", writes)
	}
}
