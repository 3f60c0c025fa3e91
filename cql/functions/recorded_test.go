package functions

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// recordedExamples are calls and their results as Cassandra gave them, from testdata/examples.txt.
func recordedExamples(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile("testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]string{}
	for line := range strings.Lines(string(content)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if call, ok := strings.CutPrefix(fields[0], "SELECT "); ok {
			examples[strings.TrimSuffix(call, " FROM one")] = fields[len(fields)-1]
		}
	}
	return examples
}

// TestExamplesRecorded wants the examples of the declarations among those that were recorded, but for functions whose
// values nobody can foresee.
func TestExamplesRecorded(t *testing.T) {
	examples := recordedExamples(t)
	for _, f := range All() {
		for _, e := range f.Examples {
			if got, ok := examples[e.Call]; !f.Volatile && (!ok || got != e.Result) {
				t.Errorf("%s: declared %s, recorded %q", e.Call, e.Result, got)
			}
		}
	}
}

// TestEveryFunctionRecorded wants a recorded call of each function, under each of its names.
func TestEveryFunctionRecorded(t *testing.T) {
	names := []string{"token", "count"}
	for name := range families {
		names = append(names, name)
	}
	for _, f := range All() {
		if !f.Volatile {
			names = append(names, f.Name)
		}
	}
	var calls []string
	for call := range recordedExamples(t) {
		calls = append(calls, strings.ReplaceAll(call, `"`, ""))
	}
	for _, name := range names {
		called := func(call string) bool { return strings.Contains(strings.ToLower(call), strings.ToLower(name)+"(") }
		if !slices.ContainsFunc(calls, called) {
			t.Errorf("there is no recorded example of %s", name)
		}
	}
}
