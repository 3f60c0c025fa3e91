package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// builtIn is the folder with the server that all tests start; empty: it is not built.
var builtIn string

var build = sync.OnceValue(func() (err error) {
	if builtIn, err = os.MkdirTemp("", "cqld-crash"); err != nil {
		return err
	}
	return process.Build(filepath.Join(builtIn, "cqld"))
})

// TestMain removes the server at the end.
func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(builtIn)
	os.Exit(code)
}

// onlyWhenFull skips a test that takes long, but in CI.
func onlyWhenFull(t *testing.T) {
	t.Helper()
	if os.Getenv("TEST_CQLD_FULL") == "" {
		t.Skip("TEST_CQLD_FULL is not set")
	}
}

// builtBinary is the server.
func builtBinary(t *testing.T) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(builtIn, "cqld")
}

// TestKill is a short run of the command: make crash has a hundred rounds of each mode.
func TestKill(t *testing.T) {
	folder, binary := t.TempDir(), builtBinary(t)
	for _, mode := range []string{"periodic", "batch"} {
		trial := &trial{binary: binary, mode: mode, data: filepath.Join(folder, mode), random: rand.New(rand.NewPCG(1, 2))}
		if err := trial.run(2); err != nil {
			t.Fatal(err)
		}
		if trial.wrong > 0 || trial.lost > 0 || trial.ledger.acknowledged == 0 {
			t.Error(trial.report())
		}
	}
}

// TestCut is a shorter run with power cuts.
func TestCut(t *testing.T) {
	folder := t.TempDir()
	d, err := newDisk(filepath.Join(folder, "disk"))
	if err != nil {
		t.Skipf("cutting the power mounts a file system: %v", err)
	}
	defer func() {
		if err := d.remove(); err != nil {
			t.Error(err)
		}
	}()
	binary := builtBinary(t)
	trial := &trial{
		binary: binary, mode: "batch", disk: d, data: filepath.Join(d.mount, "data"), random: rand.New(rand.NewPCG(3, 4)),
	}
	if err := trial.run(1); err != nil {
		t.Fatal(err)
	}
	if trial.wrong > 0 || trial.lost > 0 || trial.ledger.acknowledged == 0 {
		t.Error(trial.report())
	}
}

// TestSettle shows that the ledger finds lost, torn and never sent writes.
func TestSettle(t *testing.T) {
	const old, last, sent = "1", "2", "3"
	for _, c := range []struct {
		name, stored string
		sending      bool
		lost         int // with a window
		wrong        bool
	}{
		{"the last", last, false, 0, false},
		{"what was sent", sent, true, 0, false},
		{"what was not sent", sent, false, 0, true},
		{"an older one", old, false, 1, true},
		{"nothing", "", true, 2, true},
		{"another", "torn: [1 2]", true, 0, true},
	} {
		for _, window := range []time.Duration{0, time.Hour} {
			l := ledger{}
			p := l.place("row", "7")
			p.history[0].since = time.Now().Add(-2 * time.Hour)
			for _, state := range []string{old, last} {
				l.send(p, state)
				l.acknowledge(p)
			}
			if c.sending {
				l.send(p, sent)
			}
			lost, wrong := l.settle(map[string]string{"row 7": c.stored}, time.Now().Add(-window))
			mayBeLost := window > 0 && c.lost > 0
			if want := c.wrong && !mayBeLost; len(wrong) > 0 != want || mayBeLost && lost != c.lost {
				t.Errorf("%s, window %s: %d lost, wrong %q", c.name, window, lost, wrong)
			}
			if got := l.place("row", "7").state(); got != c.stored {
				t.Errorf("%s: goes on with %q", c.name, got)
			}
		}
	}
	l := ledger{}
	if _, wrong := l.settle(map[string]string{"row 8": "1"}, time.Now()); !slices.ContainsFunc(wrong, func(s string) bool {
		return strings.Contains(s, "never sent")
	}) {
		t.Errorf("what was never sent is %q", wrong)
	}
}
