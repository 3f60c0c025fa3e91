package command

import (
	"strings"
	"testing"
)

// TestMemoryShares divides memory: what there is plenty of changes nothing, and the parts fit into what there is
// little of.
func TestMemoryShares(t *testing.T) {
	for _, plenty := range []int64{0, 1 << 40, 8 << 30} {
		if s := (memoryBound{bytes: plenty}).shares(); s != usualShares {
			t.Errorf("of %d bytes: %+v", plenty, s)
		}
	}
	for _, little := range []int64{minMemory, 512 << 20, 1 << 30, 4 << 30} {
		b := memoryBound{bytes: little, hard: true}
		s := b.shares()
		all := s.clients + 4*s.memtable + s.filter + s.tombstones + s.prepared + s.texts
		if all > little/3*2 {
			t.Errorf("%d of %d bytes are given away: %+v", all, little, s)
		}
		if limit := b.collectAt(little); limit > little/10*8 {
			t.Errorf("garbage is collected at %d of %d bytes", limit, little)
		}
	}
}

// TestMemoryFlags has flags win over shares.
func TestMemoryFlags(t *testing.T) {
	c := &console{getenv: func(string) string { return "" }}
	for _, test := range []struct {
		args                          []string
		clients, memtable, tombstones int64
	}{
		{[]string{"--memory-limit", "512MiB"}, (512 << 20) / 5, 16 << 20, 16 << 20},
		{[]string{"--memory-limit", "256MiB", "--client-memory", "100MiB"}, 100 << 20, 8 << 20, 8 << 20},
		{[]string{"--memory-limit", "256MiB", "--memtable", "64MiB"}, (256 << 20) / 5, 64 << 20, 8 << 20},
	} {
		s, err := readSettings(c, test.args)
		if err != nil {
			t.Fatal(err)
		}
		bound := boundMemory(s.memoryLimit)
		s.useMemory(bound)
		if s.limits.Memory != test.clients || s.memtable != test.memtable || s.tombstones != test.tombstones ||
			bound.from != "--memory-limit" {
			t.Errorf("%v: %d and %d of %+v", test.args, s.limits.Memory, s.memtable, bound)
		}
	}
	if b := boundMemory(0); b.bytes == 0 && machineMemory() > 0 || strings.HasPrefix(b.from, "--") {
		t.Errorf("without a flag: %+v", b)
	}
}

// TestLimitFlags sets limits of clients and refuses values that make no sense.
func TestLimitFlags(t *testing.T) {
	c := &console{getenv: func(string) string { return "" }}
	s, err := readSettings(c, []string{
		"--max-connections", "10", "--max-connections-per-ip", "5", "--max-requests", "7", "--max-requests-per-connection",
		"6", "--max-requests-per-second", "9", "--max-request", "1MiB", "--max-statement", "64KiB", "--max-nesting", "20",
	})
	if err != nil {
		t.Fatal(err)
	}
	l := s.limits
	if l.Connections != 10 || l.ConnectionsPerIP != 5 || l.Requests != 7 || l.Concurrent != 6 ||
		l.RequestsPerSecond != 9 || l.Frame != 1<<20 || l.Statement != 64<<10 || l.Nesting != 20 {
		t.Errorf("%+v", l)
	}
	for _, args := range [][]string{
		{"--memory-limit", "64MiB"},
		{"--max-connections", "-1"},
		{"--max-requests", "0"},
		{"--max-request", "300MiB"},
		{"--max-statement", "1"},
		{"--max-nesting", "2000"},
		{"--max-requests-per-connection", "40000"},
	} {
		if _, err := readSettings(c, args); err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
