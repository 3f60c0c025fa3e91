package script_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/compat_tests/tamper"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
)

// showing are scripts that together have everything an answer can be wrong in.
var showing = []string{
	"operations/select_order", "operations/select_aggregates", "operations/select_complaints", "operations/tables",
	"entities/type_int", "entities/static_columns",
}

// TestTamperedAnswersAreCaught runs real scripts against a server whose answers are falsified on the way. Exactly the
// blocks that show the falsified part must be different.
func TestTamperedAnswersAreCaught(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	for title, tampered := range map[string]struct {
		change tamper.Change
		shows  func(*script.Block) bool
	}{
		"nothing": {
			func(m protocol.Response) protocol.Response { return m },
			func(*script.Block) bool { return false },
		},
		"another code": {
			tamper.OtherCode(cqlerr.Invalid, cqlerr.SyntaxError),
			func(b *script.Block) bool { return hasLine(b, "error invalid: ") },
		},
		"another text": {
			tamper.OtherMessage,
			func(b *script.Block) bool { return hasLine(b, "error ") },
		},
		"another order of rows": {tamper.SwapRows, hasDifferentRows},
		"no warnings": {
			tamper.DropWarnings,
			func(b *script.Block) bool { return hasLine(b, "warning ") },
		},
		"another type": {
			tamper.OtherType,
			func(b *script.Block) bool { return b.Kind == script.Query },
		},
	} {
		t.Run(title, func(t *testing.T) {
			to := tamper.RunT(t, addr, tampered.change)
			caught := 0
			for _, m := range []script.Mode{
				{Version: protocol.V5, PageSize: 5000},
				{Version: protocol.V4, Prepared: true, PageSize: 5000},
			} {
				for _, name := range showing {
					s := readScript(t, name)
					var want []int
					for _, b := range s.Blocks {
						if tampered.shows(b) {
							want = append(want, b.Line)
						}
					}
					caught += len(want)
					got := lines(open(t, to, m).Compare(t.Context(), s.Blocks))
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%s in mode %s: caught in lines %v, want %v", name, m, got, want)
					}
				}
			}
			if caught == 0 && title != "nothing" {
				t.Error("no script shows it")
			}
		})
	}
}

// hasLine reports whether a block expects a line with a beginning.
func hasLine(b *script.Block, beginning string) bool {
	for _, l := range b.Expected {
		if strings.HasPrefix(l, beginning) {
			return true
		}
	}
	return false
}

// hasDifferentRows reports whether a block shows at least two rows that are not the same.
func hasDifferentRows(b *script.Block) bool {
	if b.Kind != script.Query || hasLine(b, "error ") {
		return false
	}
	for _, row := range b.Expected[1:] {
		if row != b.Expected[1] && !strings.HasPrefix(row, "warning ") {
			return true
		}
	}
	return false
}

// TestWrongExpectationsAreCaught changes one expected line after the other.
func TestWrongExpectationsAreCaught(t *testing.T) {
	r := open(t, cqltest.RunT(t).Addr(), testModes[0])
	wrong := 0
	for _, b := range readScript(t, "operations/select_order").Blocks {
		if d := r.Compare(t.Context(), []*script.Block{b}); len(d) > 0 {
			t.Fatalf("before: %s", d)
		}
		if b.Kind == script.Exec {
			continue // would not answer the same again
		}
		for i, line := range b.Expected {
			for _, other := range []string{line + "0", ""} {
				wrong++
				b.Expected[i] = other
				d := r.Compare(t.Context(), []*script.Block{b})
				if len(d) != 1 || d[0].Block != b || d[0].Got[i] != line {
					t.Errorf("line %d, %q instead of %q: %v", b.Line, other, line, d)
				}
			}
			b.Expected[i] = line
		}
		all := b.Expected
		for _, other := range [][]string{all[:len(all)-1], append(all[:len(all):len(all)], "ok"), nil} {
			b.Expected = other
			if d := r.Compare(t.Context(), []*script.Block{b}); len(d) != 1 {
				t.Errorf("line %d, %q instead of %q: %v", b.Line, other, all, d)
			}
		}
		b.Expected = all
	}
	if wrong < 20 {
		t.Errorf("only %d expectations", wrong)
	}
}

// TestDifference shows only the differing lines.
func TestDifference(t *testing.T) {
	d := script.Difference{
		Block: parse(t, "query\nSELECT k\nFROM t;\n----\nk int\n1\n2\n3").Blocks[0],
		Want:  []string{"k int", "1", "2", "3"},
		Got:   []string{"k int", "2", "2"},
	}
	if got, want := d.String(), "SELECT k\nFROM t;\nwant\n    2 1\n    4 3\ngot\n    2 2"; got != want {
		t.Errorf("shown\n%s\nwant\n%s", got, want)
	}
	d.Got = make([]string, 100)
	if got := strings.Count(d.String(), "\n"); got != 3+4+1+12+1-1 {
		t.Errorf("%d lines are shown", got)
	}
}

func lines(differences []script.Difference) (all []int) {
	for _, d := range differences {
		all = append(all, d.Block.Line)
	}
	return all
}

func readScript(t *testing.T, name string) *script.Script {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../scripts", filepath.FromSlash(name)+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(content))
}
