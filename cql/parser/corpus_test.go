package parser

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
)

func readCorpus(t testing.TB) []example {
	_, examples := readExamples(t, corpusFile)
	return examples
}

// parsed is the verdict of the corpus on what parses; any other is the error.
const parsed = "ok"

// refused reports whether neither Cassandra's nor our parser takes the statement of a corpus.
func (e example) refused() bool {
	return e.lines[0] != parsed && e.lines[len(e.lines)-1] != "ours: "+parsed
}

// plannerRefuses are the errors that Cassandra's parser finds and that are the planner's to find here: only types
// can tell what is one.
var plannerRefuses = regexp.MustCompile("^(Error setting type|Cannot parse type) ")

// place is where an error says it is.
var place = regexp.MustCompile(`^line \S+`)

// TestCorpus wants Cassandra's verdict on every statement, in its words but for those that the file pins as ours,
// and what parses to print as what parses to the same tree.
func TestCorpus(t *testing.T) {
	head, examples := readExamples(t, corpusFile)
	refused, same, placed, samePlace := 0, 0, 0, 0
	for i, e := range examples {
		want, got := e.lines[0], parsed
		statement, _, err := Parse(e.text)
		if err != nil {
			refusal, ok := cqlerr.As(err)
			if !ok || refusal.Code != cqlerr.SyntaxError {
				t.Errorf("%s\nis refused with %v", e.text, err)
				continue
			}
			got = strings.ReplaceAll(refusal.Message, "\n", `\n`)
		} else {
			checkRoundTrip(t, statement)
		}
		if (want == parsed) != (got == parsed) && !plannerRefuses.MatchString(want) {
			t.Errorf("%s\ngot  %s\nwant %s", e.text, got, want)
			continue
		}
		lines := []string{want}
		if got != want {
			lines = append(lines, "ours: "+got)
		}
		if want != parsed {
			refused++
			same += 2 - len(lines)
		}
		if at := place.FindString(want); at != "" {
			placed++
			if place.FindString(got) == at {
				samePlace++
			}
		}
		if !*update && !reflect.DeepEqual(lines, e.lines) {
			t.Errorf("%s\ngot  %q\nwant %q", e.text, lines, e.lines)
		}
		examples[i].lines = lines
	}
	t.Logf("%d statements, %d refused: %d in Cassandra's words, %d of %d at its place", len(examples), refused, same,
		samePlace, placed)
	if samePlace*100 < placed*98 {
		t.Errorf("%d of %d errors are at Cassandra's place", samePlace, placed)
	}
	if *update {
		writeExamples(t, corpusFile, head, examples)
	}
}
