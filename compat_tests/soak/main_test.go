package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/protocol/client"
)

// TestRun is a short run of the command with a kill: make soak has ten minutes. Then the test changes a stored cell
// without telling the model, which has to be found.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	binary := filepath.Join(folder, "cqld")
	if err := process.Build(binary); err != nil {
		t.Fatal(err)
	}
	s := newSoak(options{
		seed: 21, duration: 2 * time.Second, rate: 8, workers: 8, rows: 6000, dropped: 1, kill: time.Second, folder: folder, binary: binary,
		arguments: []string{"--memtable", "128KiB", "--memory-limit", "512MiB"},
	})
	defer s.server.end()
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.report.verdict(false); err != nil {
		t.Fatal(err)
	}
	if r := s.report; r.kills != 1 || r.stops != 2 || r.unanswered == 0 || r.acknowledged == 0 || r.compared == 0 {
		t.Error("too little was done: ", r.progress())
	}

	if err := s.server.start(); err != nil {
		t.Fatal(err)
	}
	tamper(t, s)
	if err := s.compareAll(t.Context(), "after they were changed"); err != nil {
		t.Fatal(err)
	}
	if s.report.differences != len(tables) {
		t.Errorf("%d differences, want one for each of %d tables", s.report.differences, len(tables))
	}
}

// tamper changes a row of each table.
func tamper(t *testing.T, s *soak) {
	t.Helper()
	conn, err := client.Dial(t.Context(), s.server.process.Addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for i, o := range s.workers[0].tables {
		p, c := somewhere(t, s.workers, i)
		text := fmt.Sprintf("DELETE v FROM soak.%s WHERE p = %d AND c = %d", o.name, p.key, c)
		if o.name == "counters" {
			text = fmt.Sprintf("UPDATE soak.counters SET n = n + 1 WHERE p = %d AND c = %d", p.key, c)
		}
		if _, err := conn.Query(t.Context(), text, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// somewhere finds a row of a table that has all cells of the columns.
func somewhere(t *testing.T, workers []*worker, table int) (*partition, int) {
	t.Helper()
	now := windowOf(time.Now(), time.Now().Add(time.Hour))
	for _, w := range workers {
		o := w.tables[table]
		for _, p := range o.partitions {
			for c := range p.rows {
				r := &p.states[0][c]
				if r.cell(0, now) == present && (len(o.columns) <= columnV || r.cell(columnV, now) == present) {
					return p, c
				}
			}
		}
	}
	t.Fatalf("%s has no row that is complete", tables[table].name)
	return nil, 0
}
