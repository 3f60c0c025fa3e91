package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/compat_tests/tamper"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
)

// found runs the differ with two servers and returns the scripts it shows.
func found(t *testing.T, cassandra, cqld, family string) []*script.Script {
	t.Helper()
	var out bytes.Buffer
	o := options{seed: 7, statements: 120, shows: 2, only: family, cassandra: cassandra, cqld: cqld, out: &out}
	n, err := run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(out.String(), "\n# seed")
	if n == 0 && text == "" {
		return nil
	}
	var scripts []*script.Script
	for _, part := range strings.Split(text, "\n# seed") {
		s, err := script.Parse("# seed" + part)
		if err != nil {
			t.Fatalf("%v:\n%s", err, part)
		}
		scripts = append(scripts, s)
	}
	return scripts
}

// TestNothing compares two servers that are equal, in every family.
func TestNothing(t *testing.T) {
	cassandra, cqld := cqltest.RunT(t, functions.Enable()).Addr(), cqltest.RunT(t, functions.Enable()).Addr()
	for _, f := range families {
		if f.guarded {
			continue
		}
		for _, s := range found(t, cassandra, cqld, f.name) {
			t.Errorf("%s:\n%s", f.name, s)
		}
	}
}

// TestTampered has one of two servers falsify its answers, and wants each kind of falsehood to be shown with few
// statements.
func TestTampered(t *testing.T) {
	for _, c := range []struct {
		name   string
		change tamper.Change
		family string
		want   string // in the first line
		most   int    // statements
	}{
		{"code", tamper.OtherCode(cqlerr.Invalid, cqlerr.ConfigError), "rows", "error code", 2},
		{"message", tamper.OtherMessage, "rows", "error message", 2},
		{"rows", tamper.SwapRows, "slices", "order of rows", 5},
		{"more", tamper.ToggleMore, "slices", "has more pages", 2},
		{"type", tamper.OtherType, "slices", "columns", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			cassandra := cqltest.RunT(t, functions.Enable()).Addr()
			cqld := tamper.RunT(t, cqltest.RunT(t, functions.Enable()).Addr(), c.change)
			smallest := 0
			for _, s := range found(t, cassandra, cqld, c.family) {
				n := 0
				for _, b := range s.Blocks {
					n += len(b.Statements)
				}
				if strings.Contains(s.Comment[0], c.want) && (smallest == 0 || n < smallest) {
					smallest = n
				}
			}
			if smallest == 0 || smallest > c.most {
				t.Errorf("%q is shown with %d statements, want 1 to %d", c.want, smallest, c.most)
			}
		})
	}
}
