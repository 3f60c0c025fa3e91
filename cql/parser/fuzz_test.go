package parser

import (
	"flag"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
)

// runaway is longer than any text of 64 KiB may take a processor while it is fuzzed. Without the fuzzer's own
// counting, which makes code several times slower, it would be 100 ms; BenchmarkLongText shows the slowest texts.
const runaway = 400 * time.Millisecond

// fuzzing reports whether the fuzzer runs: only then is it asked how long things take.
func fuzzing() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// FuzzParse looks for texts that crash the parser or take long, for trees that do not print as what they
// were parsed from, and for errors without a kind.
func FuzzParse(f *testing.F) {
	for _, c := range readStatements(f) {
		f.Add(c.text)
	}
	for _, c := range readCorpus(f) {
		f.Add(c.text)
	}
	for _, text := range longTexts() {
		f.Add(text)
	}
	f.Add("SELECT - NaNC, - P1Yx FROM s") // where a minus without a space would join what follows
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 64<<10 {
			t.Skip()
		}
		statement, _, err := Parse(text)
		if fuzzing() {
			if took := fastest(text); took > runaway {
				t.Errorf("took %s", took)
			}
		}
		Split(text)
		if err != nil {
			if _, ok := cqlerr.As(err); !ok {
				t.Errorf("an error without a kind: %v", err)
			}
			return
		}
		checkRoundTrip(t, statement)
	})
}

// fastest is the processor's time for a text at the best of a few attempts: a busy machine is not the parser's
// fault.
func fastest(text string) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(1<<63 - 1)
	for range 3 {
		began := cpuTime(threadUsage)
		Parse(text) //nolint:errcheck // only the time is of interest
		if best = min(best, cpuTime(threadUsage)-began); best < 20*time.Millisecond {
			break
		}
	}
	return best
}

// What nests deeply, or grows to one side, is refused before it can exhaust the stack; what is only long
// is parsed.
func TestLimits(t *testing.T) {
	deep := map[string]string{
		"lists":          "SELECT a FROM t WHERE k = " + strings.Repeat("[", 100_000),
		"parentheses":    "SELECT " + strings.Repeat("(", 100_000) + "a",
		"maps":           "INSERT INTO t (a) VALUES (" + strings.Repeat("{1:", 100_000),
		"hints":          "SELECT " + strings.Repeat("(int)", 100_000) + "1 FROM t",
		"sums":           "SELECT a" + strings.Repeat(" + a", 100_000) + " FROM t",
		"sums of tuples": "SELECT a" + strings.Repeat(" + (1, 2)", 100_000) + " FROM t",
		"minus":          "SELECT " + strings.Repeat("- ", 100_000) + "a FROM t",
		"fields":         "SELECT a" + strings.Repeat(".a", 100_000) + " FROM t",
		"elements":       "SELECT a" + strings.Repeat("[1]", 100_000) + " FROM t",
		"types":          "CREATE TABLE t (a " + strings.Repeat("list<", 100_000),
		"relations":      "SELECT a FROM t WHERE " + strings.Repeat("(", 100_000) + "a = 1",
	}
	for name, text := range deep {
		t.Run(name, func(t *testing.T) {
			_, _, err := Parse(text)
			if err == nil || err.Error() != "The statement is nested deeper than 1000 levels" {
				t.Errorf("got %v", err)
			}
		})
	}
	long := map[string]string{
		"values":      "INSERT INTO t (a) VALUES ([" + strings.Repeat("(1), ", 5_000) + "(1)])",
		"relations":   "SELECT a FROM t WHERE a = 1" + strings.Repeat(" AND (a) = (1 + 1)", 2_000),
		"batch":       "BEGIN BATCH " + strings.Repeat("INSERT INTO k.t (a) VALUES (1) ", 1_000) + "APPLY BATCH",
		"assignments": "UPDATE t SET " + strings.Repeat("a[1] = 1, ", 5_000) + "a[2] = 1 WHERE k = 1",
		"nested":      "SELECT a FROM t WHERE k = " + strings.Repeat("[", 900) + strings.Repeat("]", 900),
	}
	for name, text := range long {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Parse(text); err != nil {
				t.Error(err)
			}
		})
	}
}
