package command

import (
	"os"
	"path/filepath"
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

// TestContainerMemory reads the limits of a control group and of those around it, of which the smallest counts.
func TestContainerMemory(t *testing.T) {
	const own, memory = "proc/self/cgroup", "sys/fs/cgroup/memory/"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing", nil, 0},
		{"no /proc", map[string]string{"sys/fs/cgroup/memory.max": "4096\n"}, 4096},
		{"a container", map[string]string{own: "0::/\n", "sys/fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		{"no limit", map[string]string{own: "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		{
			"a service", map[string]string{
				own: "0::/system.slice/cqld.service\n", "sys/fs/cgroup/system.slice/cqld.service/memory.max": "4096\n",
				"sys/fs/cgroup/system.slice/memory.max": "max\n",
			}, 4096,
		},
		{
			"a slice with less than its service", map[string]string{
				own: "0::/system.slice/cqld.service\n", "sys/fs/cgroup/system.slice/cqld.service/memory.max": "8192\n",
				"sys/fs/cgroup/system.slice/memory.max": "4096\n",
			}, 4096,
		},
		{
			"a neighbour", map[string]string{
				own: "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "8192\n", "sys/fs/cgroup/a/c/memory.max": "4096\n",
			}, 8192,
		},
		{
			"a group of the host, seen from inside a container",
			map[string]string{own: "0::/../outside\n", "sys/fs/cgroup/memory.max": "4096\n"},
			4096,
		},
		{
			"version 1", map[string]string{
				own: "5:cpu,cpuacct:/x\n4:memory:/a/b\n0::/\n", memory + "a/b/memory.limit_in_bytes": "8192\n",
				memory + "a/memory.limit_in_bytes": "4096\n", memory + "memory.limit_in_bytes": "9223372036854771712\n",
				memory + "x/memory.limit_in_bytes": "1\n",
			}, 4096,
		},
		{
			"version 1 without a limit",
			map[string]string{own: "4:memory:/\n", memory + "memory.limit_in_bytes": "9223372036854771712\n"},
			0,
		},
		{
			"a container of version 1, whose group has the name that the host sees",
			map[string]string{own: "4:cpu,memory:/docker/1\n", memory + "memory.limit_in_bytes": "4096\n"},
			4096,
		},
	} {
		root := t.TempDir()
		for name, text := range test.files {
			file := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := containerMemory(root); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
