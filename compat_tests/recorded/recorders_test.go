package recorded

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cqltest"
)

// afterTab matches a line from its first tab.
var afterTab = regexp.MustCompile(`(?m)\t.*$`)

// withoutLevels finds the answers in a file of levels.
var withoutLevels = regexp.MustCompile(`(?m)^[A-Z_]+( [A-Z_]+)?: .*\n`)

// valuesTop is the number of lines above the values in a file of them.
const valuesTop = 4

// TestRecorders spoils the answers in files and records them again, from cqld: the result must not depend on the old
// answers, so wrong ones are found.
func TestRecorders(t *testing.T) {
	to := cqltest.RunT(t, cqltest.WithStrictReplicas()).Addr()
	withoutAnswers := func(file string) string { return afterTab.ReplaceAllString(file, "") }
	for path, spoil := range map[string]func(string) string{
		"cql/functions/testdata/arithmetic.txt": withoutAnswers,
		"cql/functions/testdata/casts.txt":      withoutAnswers,
		"cql/functions/testdata/examples.txt":   withoutAnswers,
		"planner/expr/testdata/expressions.txt": withoutAnswers,
		"planner/define/testdata/roles.txt":     withoutAnswers,
		"cql/types/testdata/values/uuid.txt": func(file string) string {
			lines := strings.Split(strings.TrimSuffix(file, "\n"), "\n")
			slices.Reverse(lines[valuesTop:])
			for i, line := range lines[valuesTop:] {
				lines[valuesTop+i] = "<\t" + strings.Split(line, "\t")[1] + "\tff\t-\t-\t-"
			}
			return strings.Join(lines, "\n") + "\n"
		},
		"cql/types/testdata/utf8.txt": func(file string) string {
			return strings.Replace(file, "\n-\n", "\n", 1)
		},
		"planner/exec/testdata/levels.txt": func(file string) string {
			head, lines, _ := strings.Cut(file, "\n= ") // a write at ALL without replicas is difference 113
			lines, _, _ = strings.Cut("= "+lines, "= {'class': 'SimpleStrategy', 'replication_factor': 0}")
			return head + "\n" + withoutLevels.ReplaceAllString(lines, "")
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
			if path == "planner/exec/testdata/levels.txt" {
				want, _, _ = strings.Cut(want, "= {'class': 'SimpleStrategy', 'replication_factor': 0}")
			}
			if spoilt == want {
				t.Fatal("nothing is spoilt")
			}
			got := files[path](connect(t, to), spoilt)
			compare(t, path, want, got)
		})
	}
}

// TestVerdicts checks that wrong verdicts are corrected, and that our own are kept.
func TestVerdicts(t *testing.T) {
	const file = "# head\n\nSELECT * FORM t\n\tok\n\tours: x\n\nSELECT *\\nFROM t\n\tline 1:0 y\n"
	const want = "# head\n\nSELECT * FORM t\n" +
		"\tline 1:9 mismatched input 'FORM' expecting K_FROM (SELECT * [FORM]...)\n\tours: x\n\nSELECT *\\nFROM t\n\tok\n"
	compare(t, "verdicts", want, verdicts(connect(t, cqltest.RunT(t).Addr()), file))
}
