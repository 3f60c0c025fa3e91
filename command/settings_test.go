package command

import (
	"strings"
	"testing"
)

// readSettings reads the flags of serve as the command does.
func readSettings(c *console, args []string) (*settings, error) {
	s := &settings{engine: c.engine}
	f := s.flags()
	if err := f.Parse(args); err != nil {
		return nil, flagError(f, err)
	}
	if err := setFromEnvironment(f, c.getenv); err != nil {
		return nil, err
	}
	return s, s.complete(c, f)
}

// TestListen takes an address, a host and a port.
func TestListen(t *testing.T) {
	for given, want := range map[string]string{
		"9043": "127.0.0.1:9043", "0": "127.0.0.1:0", ":9043": ":9043", "localhost": "localhost:9042", "::1": "[::1]:9042",
		"[::1]:9043": "[::1]:9043", "0.0.0.0:9043": "0.0.0.0:9043",
	} {
		s, err := readSettings(&console{getenv: func(string) string { return "" }}, []string{"--listen", given})
		if err != nil || s.listen != want {
			t.Errorf("--listen %s is %q, error %v", given, s.listen, err)
		}
	}
}

// TestSources has the command line win over the environment, and --set as a whole of both.
func TestSources(t *testing.T) {
	env := map[string]string{
		"CQLD_RACK": "r1", "CQLD_DATACENTER": "d1", "CQLD_SET": "tables_warn_threshold=5;columns_per_table_warn_threshold=6",
	}
	s, err := readSettings(&console{getenv: func(name string) string { return env[name] }},
		[]string{"--rack", "r2", "--set", "tables_warn_threshold=7"})
	if err != nil {
		t.Fatal(err)
	}
	if s.rack != "r2" || s.datacenter != "d1" || s.guardrails.Tables.Warn != 7 || s.guardrails.ColumnsPerTable.Warn != 6 {
		t.Errorf("read %+v and %+v", s, s.guardrails)
	}
}

// TestRingNumber takes a number of nodes as cqltest.Ring does.
func TestRingNumber(t *testing.T) {
	s, err := readSettings(&console{getenv: func(string) string { return "" }}, strings.Fields("--memory --ring 3"))
	if err != nil || len(s.ring) != 3 || s.ring[2].Datacenter != "datacenter1" {
		t.Errorf("the ring is %+v, error %v", s.ring, err)
	}
}
