package recorded

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/server/cqltest"
)

var afterTab = regexp.MustCompile(`(?m)\t.*$`)

// TestRecorders spoils files and has them recorded again, from cqld: what a file had as answers leaves no trace,
// so a wrong one is found.
func TestRecorders(t *testing.T) {
	to := cqltest.RunT(t).Addr()
	for path, spoil := range map[string]func(string) string{
		"cql/types/testdata/order.txt": func(file string) string {
			return afterTab.ReplaceAllStringFunc(file, func(values string) string {
				all := strings.Fields(values)
				slices.Reverse(all)
				return "\t" + strings.Join(all, " ")
			})
		},
		"cql/types/testdata/utf8.txt": func(file string) string {
			return strings.Replace(file, "\n-\n", "\n", 1)
		},
		"planner/exec/testdata/pages.txt": func(file string) string {
			var kept []string
			for line := range strings.Lines(file) {
				if line[0] == '#' || line[0] == '>' {
					kept = append(kept, line)
				}
			}
			return strings.Join(kept, "")
		},
	} {
		t.Run(path, func(t *testing.T) {
			want := read(t, path)
			spoilt := spoil(want)
			if spoilt == want {
				t.Fatal("nothing is spoilt")
			}
			got := files[path](connect(t, to), spoilt)
			if path == "cql/types/testdata/order.txt" { // equal values come in the order of the file
				got, want = sorted(got), sorted(want)
			}
			compare(t, path, want, got)
		})
	}
}

// sorted sorts the values that an equals sign joins.
func sorted(file string) string {
	fields := strings.Split(file, " ")
	for i, f := range fields {
		equal := strings.Split(f, "=")
		slices.Sort(equal)
		fields[i] = strings.Join(equal, "=")
	}
	return strings.Join(fields, " ")
}

// TestVerdicts has wrong verdicts corrected, and keeps what is ours.
func TestVerdicts(t *testing.T) {
	const file = "# head\n\nSELECT * FORM t\n\tok\n\tours: x\n\nSELECT *\\nFROM t\n\tline 1:0 y\n"
	const want = "# head\n\nSELECT * FORM t\n" +
		"\tline 1:9 mismatched input 'FORM' expecting K_FROM (SELECT * [FORM]...)\n\tours: x\n\nSELECT *\\nFROM t\n\tok\n"
	compare(t, "verdicts", want, verdicts(connect(t, cqltest.RunT(t).Addr()), file))
}
