package parser

import (
	"flag"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
)

var update = flag.Bool("update", false, "rewrite the files in testdata with what the parser says")

const (
	statementsFile = "testdata/statements.txt"
	corpusFile     = "testdata/corpus.txt"
)

// example is one entry of a file in testdata: a statement, and the lines that belong to it.
type example struct {
	text  string
	lines []string
}

// readExamples reads a file and the comment it begins with.
func readExamples(t testing.TB, file string) (head string, examples []example) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(content), "\n\n")
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case line == "":
		case line[0] == '\t':
			last := &examples[len(examples)-1]
			last.lines = append(last.lines, line[1:])
		default:
			examples = append(examples, example{text: strings.ReplaceAll(line, `\n`, "\n")})
		}
	}
	return head, examples
}

func writeExamples(t *testing.T, file, head string, examples []example) {
	t.Helper()
	var s strings.Builder
	s.WriteString(head + "\n")
	for _, e := range examples {
		s.WriteString("\n" + strings.ReplaceAll(e.text, "\n", `\n`) + "\n")
		for _, line := range e.lines {
			s.WriteString("\t" + line + "\n")
		}
	}
	if err := os.WriteFile(file, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readStatements(t testing.TB) []example {
	_, examples := readExamples(t, statementsFile)
	return examples
}

// Every statement becomes the tree in the file, and the tree prints as a text that becomes the same tree.
func TestStatements(t *testing.T) {
	head, examples := readExamples(t, statementsFile)
	for i, e := range examples {
		statement, markers, err := Parse(e.text)
		if err != nil {
			t.Errorf("%s\n%v", e.text, err)
			continue
		}
		got := []string{fmt.Sprintf("%d %s", markers, statement)}
		if !*update && !reflect.DeepEqual(got, e.lines) {
			t.Errorf("%s\ngot  %q\nwant %q", e.text, got, e.lines)
		}
		examples[i].lines = got
		checkRoundTrip(t, statement)
	}
	if *update {
		writeExamples(t, statementsFile, head, examples)
	}
}

// checkRoundTrip parses what a statement prints. Positions and the numbers of markers that are printed in
// another order are the only differences there may be.
func checkRoundTrip(t *testing.T, statement cql.Statement) {
	t.Helper()
	again, _, err := Parse(statement.String())
	if err != nil {
		t.Errorf("%s\ndoes not parse: %v", statement, err)
		return
	}
	if a, b := withoutSpans(statement), withoutSpans(again); !reflect.DeepEqual(a, b) {
		t.Errorf("%s\nbecomes another tree:\n%s", statement, again)
	}
}

// withoutSpans clears the positions of a tree, and the numbers of its markers.
func withoutSpans(s cql.Statement) cql.Statement {
	clearSpans(reflect.ValueOf(s))
	return s
}

func clearSpans(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			clearSpans(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearSpans(v.Index(i))
		}
	case reflect.Struct:
		switch node := v.Addr().Interface().(type) {
		case *cql.Span:
			*node = cql.Span{}
			return
		case *cql.Marker:
			node.Index = 0
		}
		for i := range v.NumField() {
			clearSpans(v.Field(i))
		}
	}
}

// Every kind of statement is parsed by one of the examples.
func TestAllStatementsParse(t *testing.T) {
	parsed := map[string]bool{}
	for _, e := range readStatements(t) {
		if s, _, err := Parse(e.text); err == nil {
			parsed[strings.TrimPrefix(fmt.Sprintf("%T", s), "*cql.")] = true
		}
	}
	kinds := statementKinds(t)
	if len(kinds) < 40 {
		t.Fatalf("found only the statements %v", kinds)
	}
	for _, kind := range kinds {
		if !parsed[kind] {
			t.Errorf("no example is a %s", kind)
		}
	}
}

// statementKinds are the types of package cql that have a method called statement.
func statementKinds(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, name := range files {
		file, err := goparser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv != nil && f.Name.Name == "statement" {
				kinds = append(kinds, f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
			}
		}
	}
	return kinds
}

// The first, fast attempt never fails on a statement that parses.
func TestNoSecondAttempt(t *testing.T) {
	examples := readStatements(t)
	for _, e := range readCorpus(t) {
		if !e.refused() {
			examples = append(examples, e)
		}
	}
	for _, e := range examples {
		m := machines.Get().(*machine)
		m.load(e.text)
		if _, err := m.attempt(antlr.PredictionModeSLL); err != nil {
			t.Errorf("%s\nneeds the second attempt", e.text)
		}
		m.release()
	}
}

func TestParseConcurrently(t *testing.T) {
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, e := range readStatements(t) {
				if _, _, err := Parse(e.text); err != nil {
					t.Error(err)
				}
			}
			for _, e := range readCorpus(t) {
				if _, _, err := Parse(e.text); err == nil && e.refused() {
					t.Errorf("%s is not refused", e.text)
				}
			}
		})
	}
	group.Wait()
}

func TestPositions(t *testing.T) {
	text := "SELECT é, w FROM ks.t WHERE k = ? AND c > 'é' LIMIT :n"
	text = strings.Replace(text, "é, ", `"é", `, 1)
	statement, markers, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s := statement.(*cql.Select)
	at := func(n interface{ Position() cql.Span }) string {
		return text[n.Position().Start:n.Position().End]
	}
	for want, got := range map[string]string{
		text: at(s), `"é"`: at(s.Selectors[0]), "w": at(s.Selectors[1]), "k = ?": at(s.Where[0]),
		"c > 'é'": at(s.Where[1]), "'é'": at(s.Where[1].Value), ":n": at(s.Limit),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if n := s.Limit.(*cql.Marker).Index; markers != 2 || n != 1 {
		t.Errorf("%d markers, the last has number %d", markers, n)
	}
}
